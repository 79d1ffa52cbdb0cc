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
	plain  bool // fields has all that it writes
	fields map[string]jsonField
}

func (s *structs) of(t reflect.Type) *structType {
	if known, is := s.known.Load(t); is {
		return known.(*structType) //nolint:forcetypeassert // it has nothing else
	}
	made := &structType{plain: isPlain(t)}
	if made.plain {
		made.fields = fieldsOf(t)
	}
	s.known.Store(t, made)
	return made
}

// treesOf returns the JSON of two objects of Go types, with numbers as literals. Of metadata it has
// only labels and annotations, all that a conversion may change.
func (s *structs) treesOf(src, dst metav1.Object) (was, now map[string]any, err error) {
	a, b := reflect.ValueOf(src).Elem(), reflect.ValueOf(dst).Elem()
	if !s.of(a.Type()).plain || !s.of(b.Type()).plain {
		if was, err = treeOf(src); err == nil {
			now, err = treeOf(dst)
		}
		return was, now, err
	}
	was, now = map[string]any{}, map[string]any{}
	if err := s.pairs(a, b, was, now); err != nil {
		return nil, nil, fmt.Errorf("converter set a value that JSON cannot represent, fix the converter: %T", dst)
	}
	for _, tree := range []map[string]any{was, now} {
		delete(tree, "apiVersion")
		delete(tree, "kind")
	}
	was["metadata"], now["metadata"] = tags(src), tags(dst)
	return was, now, nil
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
func (s *structs) pairs(a, b reflect.Value, was, now map[string]any) error {
	of, to := s.of(a.Type()).fields, s.of(b.Type()).fields
	for name, f := range of {
		g, both := to[name]
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
		if err := s.pair(v, b.FieldByIndex(g.index), f, g, name, was, now); err != nil {
			return err
		}
	}
	for name, g := range to {
		if _, both := of[name]; both || name == "metadata" && g.isMeta {
			continue
		}
		if err := g.put(b.FieldByIndex(g.index), name, now); err != nil {
			return err
		}
	}
	return nil
}

// pair adds two members of one name.
func (s *structs) pair(v, w reflect.Value, f, g jsonField, name string, was, now map[string]any) error {
	if f.omits(v) || g.omits(w) {
		if err := f.put(v, name, was); err != nil {
			return err
		}
		return g.put(w, name, now)
	}
	if v.Type() == w.Type() && reflect.DeepEqual(v.Interface(), w.Interface()) {
		was[name], now[name] = same{}, same{}
		return nil
	}
	x, y := pointee(v), pointee(w)
	if x.IsValid() && y.IsValid() && s.of(x.Type()).plain && s.of(y.Type()).plain {
		below, into := map[string]any{}, map[string]any{}
		was[name], now[name] = below, into
		return s.pairs(x, y, below, into)
	}
	if err := f.put(v, name, was); err != nil {
		return err
	}
	return g.put(w, name, now)
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
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return err
	}
	tree[name] = value
	return nil
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
