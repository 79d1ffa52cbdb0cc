package celvalue

import (
	"bytes"
	"reflect"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apiserver/pkg/cel"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An object is a JSON object as a map of CEL. A name that is not a CEL identifier can also be spelt
// as Kubernetes escapes it (`a__dash__b`) if the schema has it. Objects iterate in the order of the
// names, whatever the order of the text.
type object struct {
	text    []byte
	from    *jsondoc.Node // instead of the text
	node    *crdschema.Node
	looked  bool
	err     *types.Err
	names   []byte // of all entries, one after the other
	entries []entry
}

var (
	_ traits.Mapper   = (*object)(nil)
	_ traits.Foldable = (*object)(nil)
)

// An entry is a member, whose value stays text until it is read.
type entry struct {
	name  jsondoc.Span // in names
	text  []byte
	value ref.Val
}

// look lists the members. When two share a name, the last one wins.
func (o *object) look() *types.Err {
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

// raw returns the text of the object.
func (o *object) raw() []byte {
	if o.from != nil {
		return o.from.Text()
	}
	return o.text
}

func (o *object) list() error {
	if o.from != nil {
		return o.from.Filter(func(name []byte, m jsondoc.Member) bool {
			o.add(name, m.Value().Text())
			return true
		})
	}
	s, err := jsondoc.NewScanner(o.text, jsondoc.MaxDepth)
	if err != nil {
		return err
	}
	return s.Members(func(name []byte) error {
		at, err := s.Skip()
		if err == nil {
			o.add(name, s.Text(at))
		}
		return err
	})
}

func (o *object) add(name, text []byte) {
	const usual = 8
	if o.entries == nil {
		o.entries, o.names = make([]entry, 0, usual), make([]byte, 0, 8*usual)
	}
	start := len(o.names)
	o.names = append(o.names, name...)
	o.entries = append(o.entries, entry{name: span(start, len(o.names)), text: text})
}

func span(start, end int) jsondoc.Span {
	return jsondoc.Span{Start: uint32(start), End: uint32(end)} //nolint:gosec // within a text of less than 2 GiB
}

func (e *entry) nameIn(o *object) []byte { return o.names[e.name.Start:e.name.End] }

// find returns the value of the member with exactly that name, or nil.
func (o *object) find(name string) ref.Val {
	for i := range o.entries {
		e := &o.entries[i]
		if string(e.nameIn(o)) == name {
			return o.valueOf(e)
		}
	}
	return nil
}

func (o *object) valueOf(e *entry) ref.Val {
	if e.value == nil {
		node := o.node.Values()
		if o.node.Kind() != crdschema.Map {
			node = o.node.Property(string(e.nameIn(o)))
		}
		e.value = New(e.text, node)
	}
	return e.value
}

// Find implements traits.Mapper.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
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

// FieldName returns the property that a name in an expression means: itself, or the name that
// Kubernetes escapes so.
func FieldName(node *crdschema.Node, name string) (string, bool) {
	if node.Property(name) != nil {
		return name, true
	}
	plain, ok := cel.Unescape(name)
	return plain, ok && node.Property(plain) != nil
}

// Get implements traits.Indexer.
func (o *object) Get(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if !found {
		return types.ValOrErr(v, "no such key")
	}
	return v
}

// Contains implements traits.Container.
func (o *object) Contains(key ref.Val) ref.Val {
	v, found := o.Find(key)
	if v != nil && types.IsUnknownOrError(v) {
		return v
	}
	return types.Bool(found)
}

// Size implements traits.Sizer.
func (o *object) Size() ref.Val {
	if err := o.look(); err != nil {
		return err
	}
	return types.Int(len(o.entries))
}

// Iterator implements traits.Iterable.
func (o *object) Iterator() traits.Iterator {
	_ = o.look() // an object that cannot be read is empty here; Size and Find return the error
	keys := make([]ref.Val, len(o.entries))
	for i, e := range o.sorted() {
		keys[i] = types.String(e.nameIn(o))
	}
	return types.NewRefValList(types.DefaultTypeAdapter, keys).Iterator()
}

// Fold implements traits.Foldable.
func (o *object) Fold(f traits.Folder) {
	_ = o.look()
	for _, e := range o.sorted() {
		if !f.FoldEntry(types.String(e.nameIn(o)), o.valueOf(e)) {
			return
		}
	}
}

// sorted returns the entries in the order of their names.
func (o *object) sorted() []*entry {
	order := make([]*entry, len(o.entries))
	for i := range order {
		order[i] = &o.entries[i]
	}
	slices.SortFunc(order, func(a, b *entry) int { return bytes.Compare(a.nameIn(o), b.nameIn(o)) })
	return order
}

// Equal implements ref.Val.
func (o *object) Equal(other ref.Val) ref.Val {
	m, ok := other.(traits.Mapper)
	if !ok {
		return types.False
	}
	if err := o.look(); err != nil {
		return err
	}
	return o.eager().Equal(m)
}

// eager returns all members as a map of cel-go's own, for methods that are rarely called.
func (o *object) eager() traits.Mapper {
	all := make(map[ref.Val]ref.Val, len(o.entries))
	if o.look() == nil {
		for i := range o.entries {
			all[types.String(o.entries[i].nameIn(o))] = o.valueOf(&o.entries[i])
		}
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, all)
}

// ConvertToNative implements ref.Val.
func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	if err := o.look(); err != nil {
		return nil, err
	}
	return o.eager().ConvertToNative(t)
}

// ConvertToType implements ref.Val.
func (o *object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return o
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("type conversion error from map to %s", t.TypeName())
}

// Type implements ref.Val.
func (o *object) Type() ref.Type { return types.MapType }

// Value implements ref.Val: it returns a Go map of all members.
func (o *object) Value() any { return o.eager().Value() }
