package celvalue

import (
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// An Object is a JSON object as a map of CEL. Names that are no CEL identifiers are found by the spelling that Kubernetes
// gives them (`a__dash__b`), if the schema has them. It iterates in the order of the names, whatever that of the text is.
type Object struct {
	text    []byte
	node    *crdschema.Node
	hide    hiding
	looked  bool
	err     *types.Err
	names   []byte // of all entries, one behind the other
	entries []entry
}

var (
	_ traits.Mapper   = (*Object)(nil)
	_ traits.Foldable = (*Object)(nil)
)

// An entry is a member: its value stays text until it is asked for.
type entry struct {
	name  jsondoc.Span // in names
	at    jsondoc.Span // in the text
	value ref.Val
}

// hiding says what is hidden inside an object.
type hiding int

const (
	hideNothing hiding = iota
	hideOwn            // of annotations, those of webhookd
	hideInMetadata
	hideInRoot
)

// These start the names of annotations that are webhookd's own: what it keeps of other versions is not for expressions.
const ownPrefix, ownStatusPrefix = "conversion.webhookd.io/", "status.conversion.webhookd.io/"

// Root returns a whole object of a version, whose schema is node, without the annotations in which webhookd keeps what
// other versions say. Text must be one valid JSON object.
func Root(text []byte, node *crdschema.Node) *Object {
	return &Object{text: text, node: node, hide: hideInRoot}
}

// Metadata is Root for the metadata of an object alone, and its place.
func Metadata(text []byte, node *crdschema.Node) ref.Val { return newValue(text, node, hideInMetadata) }

// look lists the members; of a name that is there twice, the last one.
func (o *Object) look() *types.Err {
	if o.looked {
		return o.err
	}
	o.looked = true
	err := o.list()
	if jsondoc.IsRepeated(err) {
		o.text, o.names, o.entries = jsondoc.LastOfEach(o.text), nil, nil
		err = o.list()
	}
	if err != nil {
		o.err = types.NewErr("not the JSON of an object").(*types.Err)
	}
	return o.err
}

func (o *Object) list() error {
	s, err := jsondoc.NewScanner(o.text, jsondoc.MaxDepth)
	if err != nil {
		return err
	}
	return s.Members(func(name []byte) error {
		at, err := s.Skip()
		if err == nil && !o.hides(name, s.Text(at)) {
			start := len(o.names)
			o.names = append(o.names, name...)
			if o.entries == nil {
				o.entries = make([]entry, 0, 8)
			}
			o.entries = append(o.entries, entry{name: span(start, len(o.names)), at: at})
		}
		return err
	})
}

func span(start, end int) jsondoc.Span {
	return jsondoc.Span{Start: uint32(start), End: uint32(end)} //nolint:gosec // within a text of less than 2 GiB
}

// hides reports whether a member is none to expressions. Annotations that are all hidden are no annotations.
func (o *Object) hides(name, text []byte) bool {
	switch o.hide {
	case hideOwn:
		return strings.HasPrefix(string(name), ownPrefix) || strings.HasPrefix(string(name), ownStatusPrefix)
	case hideNothing, hideInRoot:
	case hideInMetadata:
		if string(name) != "annotations" || text[0] != '{' {
			return false
		}
		all := &Object{text: text}
		visible := &Object{text: text, hide: hideOwn}
		return all.look() == nil && visible.look() == nil && len(all.entries) > 0 && len(visible.entries) == 0
	}
	return false
}

func (e *entry) nameIn(o *Object) []byte { return o.names[e.name.Start:e.name.End] }

// find returns the value of a name as it is spelt, or nil.
func (o *Object) find(name string) ref.Val {
	for i := range o.entries {
		e := &o.entries[i]
		if string(e.nameIn(o)) == name {
			return o.valueOf(e)
		}
	}
	return nil
}

func (o *Object) valueOf(e *entry) ref.Val {
	if e.value == nil {
		name := string(e.nameIn(o))
		hide := hideNothing
		if o.hide == hideInRoot && name == "metadata" || o.hide == hideInMetadata && name == "annotations" {
			hide = o.hide - 1
		}
		e.value = newValue(o.text[e.at.Start:e.at.End], o.nodeOf(name), hide)
	}
	return e.value
}

func (o *Object) nodeOf(name string) *crdschema.Node {
	if o.node.Kind() == crdschema.Map {
		return o.node.Values()
	}
	return o.node.Property(name)
}

// Find implements traits.Mapper.
func (o *Object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), false
	}
	if err := o.look(); err != nil {
		return err, false
	}
	v := o.find(string(name))
	if v == nil && strings.Contains(string(name), "__") {
		if plain, ok := FieldName(o.node, string(name)); ok {
			v = o.find(plain)
		}
	}
	return v, v != nil
}

// FieldName returns the property of an object that a name in an expression means: itself, or what it stands for in the
// spelling of Kubernetes.
func FieldName(node *crdschema.Node, name string) (string, bool) {
	if node.Property(name) != nil {
		return name, true
	}
	plain, ok := cel.Unescape(name)
	return plain, ok && node.Property(plain) != nil
}

// Get implements traits.Indexer.
func (o *Object) Get(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if !found {
		return types.ValOrErr(v, "no such key")
	}
	return v
}

// Contains implements traits.Container.
func (o *Object) Contains(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

// Size implements traits.Sizer.
func (o *Object) Size() ref.Val {
	if err := o.look(); err != nil {
		return err
	}
	return types.Int(len(o.entries))
}

// Iterator implements traits.Iterable.
func (o *Object) Iterator() traits.Iterator {
	_ = o.look() // an object that cannot be read is empty here; Size and Find say so
	keys := make([]ref.Val, len(o.entries))
	for i, at := range o.sorted() {
		keys[i] = types.String(o.entries[at].nameIn(o))
	}
	return types.NewRefValList(types.DefaultTypeAdapter, keys).Iterator()
}

// Fold implements traits.Foldable.
func (o *Object) Fold(f traits.Folder) {
	_ = o.look()
	for _, at := range o.sorted() {
		e := &o.entries[at]
		if !f.FoldEntry(types.String(e.nameIn(o)), o.valueOf(e)) {
			return
		}
	}
}

// sorted returns the entries' indices in the order of their names.
func (o *Object) sorted() []int {
	order := make([]int, len(o.entries))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return strings.Compare(string(o.entries[a].nameIn(o)), string(o.entries[b].nameIn(o)))
	})
	return order
}

// Equal implements ref.Val.
func (o *Object) Equal(other ref.Val) ref.Val {
	m, ok := other.(traits.Mapper)
	if !ok {
		return types.False
	}
	if err := o.look(); err != nil {
		return err
	}
	return o.eager().Equal(m)
}

// eager returns a map with all members. Cel-go's own does what is rarely asked for.
func (o *Object) eager() traits.Mapper {
	all := make(map[ref.Val]ref.Val, len(o.entries))
	if o.look() == nil {
		for i := range o.entries {
			all[types.String(o.entries[i].nameIn(o))] = o.valueOf(&o.entries[i])
		}
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, all)
}

// ConvertToNative implements ref.Val.
func (o *Object) ConvertToNative(t reflect.Type) (any, error) {
	if err := o.look(); err != nil {
		return nil, err
	}
	return o.eager().ConvertToNative(t)
}

// ConvertToType implements ref.Val.
func (o *Object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return o
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("type conversion error from map to %s", t.TypeName())
}

// Type implements ref.Val.
func (o *Object) Type() ref.Type { return types.MapType }

// Value implements ref.Val: it returns a Go map of all members.
func (o *Object) Value() any { return o.eager().Value() }
