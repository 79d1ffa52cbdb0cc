package conversion

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// same means a value that source and target share at one path, with one Go type. Most of an
// object is that, and need not be encoded (BenchmarkConvert of examples/custom-server/database).
type same struct{}

// structs remembers how encoding/json writes the structs that have been seen.
type structs struct{ known sync.Map } // of *structType, by reflect.Type

// A structType is a struct as encoding/json writes it.
type structType struct {
	plain  bool    // fields has all that it writes
	hidden [][]int // indexes of fields that it does not write
	fields map[string]jsonField
}

func (s *structs) of(t reflect.Type) *structType {
	if known, is := s.known.Load(t); is {
		return known.(*structType) //nolint:forcetypeassert // it has nothing else
	}
	made := &structType{plain: isPlain(t)}
	if made.plain {
		made.fields, made.hidden = fieldsOf(t), hiddenIn(t)
	}
	s.known.Store(t, made)
	return made
}

// treesOf returns the JSON of two objects of Go types, with numbers as literals. Of metadata it has
// only labels and annotations, all that a conversion may change. It also reports whether dst is
// known to be what its JSON decodes to.
func (s *structs) treesOf(src, dst metav1.Object) (was, now map[string]any, decodes bool, err error) {
	a, b := reflect.ValueOf(src).Elem(), reflect.ValueOf(dst).Elem()
	if !s.of(a.Type()).plain || !s.of(b.Type()).plain {
		if was, err = treeOf(src); err == nil {
			now, err = treeOf(dst)
		}
		return was, now, false, err
	}
	was, now = map[string]any{}, map[string]any{}
	c := &comparison{structs: s, decodes: true}
	if err := c.pairs(a, b, was, now); err != nil {
		return nil, nil, false, fmt.Errorf("converter set a value that JSON cannot represent, fix the converter: %T", dst)
	}
	for _, tree := range []map[string]any{was, now} {
		delete(tree, "apiVersion")
		delete(tree, "kind")
	}
	was["metadata"], now["metadata"] = tags(src), tags(dst)
	return was, now, c.decodes, nil
}

// A comparison is that of two objects.
type comparison struct {
	*structs

	decodes bool // so far, the second object is what its JSON decodes to
}

// tags returns labels and annotations.
func tags(obj metav1.Object) map[string]any {
	metadata := map[string]any{}
	for name, members := range map[string]map[string]string{"labels": obj.GetLabels(), "annotations": obj.GetAnnotations()} {
		if len(members) == 0 {
			continue
		}
		all := make(map[string]any, len(members))
		for key, value := range members {
			all[key] = value
		}
		metadata[name] = all
	}
	return metadata
}

// pairs adds the members of two structs to trees.
func (c *comparison) pairs(a, b reflect.Value, was, now map[string]any) error {
	from, to := c.of(a.Type()), c.of(b.Type())
	c.decodes = c.decodes && !slices.ContainsFunc(to.hidden, func(index []int) bool { return !b.FieldByIndex(index).IsZero() })
	for name, f := range from.fields {
		g, both := to.fields[name]
		if name == "metadata" && f.isMeta {
			continue
		}
		v := a.FieldByIndex(f.index)
		if !both {
			if err := f.put(v, name, was); err != nil {
				return err
			}
			continue
		}
		if err := c.pair(v, b.FieldByIndex(g.index), f, g, name, was, now); err != nil {
			return err
		}
	}
	for name, g := range to.fields {
		if _, both := from.fields[name]; both || name == "metadata" && g.isMeta {
			continue
		}
		if err := c.put(g, b.FieldByIndex(g.index), name, now); err != nil {
			return err
		}
	}
	return nil
}

// pair adds two members of one name.
func (c *comparison) pair(v, w reflect.Value, f, g jsonField, name string, was, now map[string]any) error {
	if f.omits(v) || g.omits(w) {
		return c.both(v, w, f, g, name, was, now)
	}
	if v.Type() == w.Type() && reflect.DeepEqual(v.Interface(), w.Interface()) {
		was[name], now[name] = same{}, same{}
		return nil
	}
	x, y := pointee(v), pointee(w)
	if x.IsValid() && y.IsValid() && c.of(x.Type()).plain && c.of(y.Type()).plain {
		c.decodes = c.decodes && (v.Kind() == reflect.Pointer) == (w.Kind() == reflect.Pointer)
		below, into := map[string]any{}, map[string]any{}
		was[name], now[name] = below, into
		return c.pairs(x, y, below, into)
	}
	return c.both(v, w, f, g, name, was, now)
}

// both adds two members that are not compared any further.
func (c *comparison) both(v, w reflect.Value, f, g jsonField, name string, was, now map[string]any) error {
	if v.Kind() == reflect.Struct && isNilable(w) || w.Kind() == reflect.Struct && isNilable(v) {
		c.decodes = false // both may encode to {}, which an absent field is for one of them only
	}
	if err := f.put(v, name, was); err != nil {
		return err
	}
	return c.put(g, w, name, now)
}

func isNilable(v reflect.Value) bool {
	switch v.Kind() { //nolint:exhaustive // others have no nil, or no JSON
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return true
	}
	return false
}

// put adds the JSON of a value of the second object, and notes whether that decodes to the value.
func (c *comparison) put(f jsonField, v reflect.Value, name string, tree map[string]any) error {
	if f.omits(v) {
		c.decodes = c.decodes && v.IsZero()
		return nil
	}
	text, err := encode(v.Interface())
	if err != nil {
		return err
	}
	again := reflect.New(v.Type())
	c.decodes = c.decodes && decode(text, again.Interface()) == nil && reflect.DeepEqual(again.Elem().Interface(), v.Interface())
	tree[name], err = literal(text)
	return err
}

// pointee returns the value that pointers lead to, or no value.
func pointee(v reflect.Value) reflect.Value {
	for v.IsValid() && v.Kind() == reflect.Pointer && !opaque(v.Type()) {
		v = v.Elem()
	}
	return v
}

// A jsonField is a field of a struct as encoding/json writes it.
type jsonField struct {
	index     []int
	omitempty bool
	isMeta    bool
}

// put adds the JSON of a value to a tree.
func (f jsonField) put(v reflect.Value, name string, tree map[string]any) error {
	if f.omits(v) {
		return nil
	}
	text, err := encode(v.Interface())
	if err == nil {
		tree[name], err = literal(text)
	}
	return err
}

// literal decodes JSON with numbers as literals.
func literal(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	err := d.Decode(&value)
	return value, err
}

// omits reports whether encoding/json leaves the value out.
func (f jsonField) omits(v reflect.Value) bool {
	if !f.omitempty {
		return false
	}
	switch v.Kind() { //nolint:exhaustive // as encoding/json
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

// isPlain reports whether encoding/json writes a type as the members that fieldsOf returns: a
// struct without its own JSON, and without options and embedding that are rare.
func isPlain(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || opaque(t) || t.Implements(reflect.TypeFor[json.Marshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return false
	}
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		for option := range strings.SplitSeq(options, ",") {
			if option != "" && option != "omitempty" && option != "inline" {
				return false
			}
		}
		if f.Anonymous && name == "" && !isPlain(f.Type) {
			return false
		}
	}
	return true
}

// hiddenIn returns the indexes of the fields of a plain struct that encoding/json does not write.
func hiddenIn(t reflect.Type) [][]int {
	var hidden [][]int
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			hidden = append(hidden, f.Index)
		case f.Anonymous && name == "":
			for _, index := range hiddenIn(f.Type) {
				hidden = append(hidden, slices.Concat(f.Index, index))
			}
		}
	}
	return hidden
}

// fieldsOf returns the fields of a plain struct by their names in JSON. Its own fields hide
// embedded ones.
func fieldsOf(t reflect.Type) map[string]jsonField {
	own, all := map[string]jsonField{}, map[string]jsonField{}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			for name, e := range fieldsOf(f.Type) {
				e.index = slices.Concat(f.Index, e.index)
				all[name] = e
			}
			continue
		case name == "":
			name = f.Name
		}
		own[name] = jsonField{
			f.Index, slices.Contains(strings.Split(options, ","), "omitempty"), f.Type == reflect.TypeFor[metav1.ObjectMeta](),
		}
	}
	maps.Copy(all, own)
	return all
}
