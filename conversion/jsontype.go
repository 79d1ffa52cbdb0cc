package conversion

import (
	"cmp"
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A jsonType is a Go type as encoding/json reads and writes it.
type jsonType struct {
	shape  shape
	kind   jsondoc.Kind // of a scalar
	elem   *jsonType    // of a pointer, a list or a dict
	fields map[string]jsonField
	hidden [][]int // indexes of fields that encoding/json does not write
}

// A shape says what JSON a type has.
type shape int

const (
	rare   shape = iota // something else: encoding/json knows it
	scalar              // a string, an integer or a bool
	pointer
	list  // a slice, but not of bytes
	dict  // a map from a string
	plain // a struct, of which fields has all that is read and written
)

// A jsonField is a field of a struct as encoding/json writes it.
type jsonField struct {
	*jsonType

	index     []int
	omitempty bool
	omitzero  bool
	uncovered bool // see cover
}

// jsonTypeOf returns the description of a type. known has those of types that are within it or that
// it is within.
func jsonTypeOf(t reflect.Type, known map[reflect.Type]*jsonType) *jsonType {
	if j := known[t]; j != nil {
		return j
	}
	j := &jsonType{}
	known[t] = j
	switch kind := t.Kind(); {
	case kind == reflect.Pointer:
		j.shape, j.elem = pointer, jsonTypeOf(t.Elem(), known)
	case hasOwnJSON(t) || t == reflect.TypeFor[json.Number]():
	case kind == reflect.String:
		j.shape, j.kind = scalar, jsondoc.String
	case kind == reflect.Bool:
		j.shape, j.kind = scalar, jsondoc.Bool
	case kind >= reflect.Int && kind <= reflect.Uintptr:
		j.shape, j.kind = scalar, jsondoc.Number
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		j.shape, j.elem = list, jsonTypeOf(t.Elem(), known)
	case kind == reflect.Map && t.Key().Kind() == reflect.String && !hasOwnJSON(t.Key()):
		j.shape, j.elem = dict, jsonTypeOf(t.Elem(), known)
	case kind == reflect.Struct:
		if fields, hidden, all := fieldsOf(t, known); all {
			j.shape, j.fields, j.hidden = plain, fields, hidden
		}
	}
	return j
}

// fieldsOf returns the fields of a struct by their names in JSON, and the indexes of those that
// encoding/json does not write. Its own fields hide embedded ones. It does not know all of a struct
// with options, embedding or names that are rare.
func fieldsOf(t reflect.Type, known map[reflect.Type]*jsonType) (fields map[string]jsonField, hidden [][]int, all bool) {
	own, embedded := map[string]jsonField{}, map[string]jsonField{}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, rest, _ := strings.Cut(tag, ",")
		options := strings.Split(rest, ",")
		isRare := slices.ContainsFunc(options, func(option string) bool {
			return option != "" && option != "omitempty" && option != "omitzero" && option != "inline"
		})
		switch inline := f.Anonymous && name == ""; {
		case tag == "-" || !f.IsExported() && !f.Anonymous:
			hidden = append(hidden, f.Index)
		case isRare || strings.ContainsAny(name, "\"\\'`") || !f.IsExported() && !inline:
			return nil, nil, false
		case inline:
			if f.Type.Kind() != reflect.Struct || hasOwnJSON(f.Type) {
				return nil, nil, false
			}
			below, hiddenBelow, all := fieldsOf(f.Type, known)
			for name, e := range below {
				_, twice := embedded[name]
				all = all && !twice
				e.index = slices.Concat(f.Index, e.index)
				embedded[name] = e
			}
			for _, index := range hiddenBelow {
				hidden = append(hidden, slices.Concat(f.Index, index))
			}
			if !all {
				return nil, nil, false
			}
		default:
			name = cmp.Or(name, f.Name)
			if _, twice := own[name]; twice {
				return nil, nil, false
			}
			own[name] = jsonField{
				jsonType: jsonTypeOf(f.Type, known), index: f.Index,
				omitempty: slices.Contains(options, "omitempty"), omitzero: slices.Contains(options, "omitzero"),
			}
		}
	}
	for name := range own {
		if e, is := embedded[name]; is {
			hidden = append(hidden, e.index)
		}
	}
	maps.Copy(embedded, own)
	return embedded, hidden, true
}

// hasOwnJSON reports whether encoding/json lets a type write or read itself, or takes any value.
func hasOwnJSON(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return t.Kind() == reflect.Interface || slices.ContainsFunc([]reflect.Type{
		reflect.TypeFor[json.Marshaler](), reflect.TypeFor[encoding.TextMarshaler](),
		reflect.TypeFor[json.Unmarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](),
	}, p.Implements)
}

// pointee returns the type that pointers lead to. T may be nil.
func (t *jsonType) pointee() *jsonType {
	for t != nil && t.shape == pointer {
		t = t.elem
	}
	return t
}

// below returns the type of an object's member, and whether the object's type knows it. What is
// below a rare type may be anything.
func (t *jsonType) below(name []byte) (member *jsonType, known bool) {
	switch t = t.pointee(); {
	case t == nil:
		return nil, false
	case t.shape == rare:
		return t, true
	case t.shape == dict:
		return t.elem, true
	}
	f, known := t.fields[string(name)]
	return f.jsonType, known
}

// items returns the type of a list's elements, or nil.
func (t *jsonType) items() *jsonType {
	if t = t.pointee(); t != nil && t.shape == list {
		return t.elem
	} else if t != nil && t.shape == rare {
		return t
	}
	return nil
}

// alike reports whether values of two types are JSON of one kind.
func (t *jsonType) alike(other *jsonType) bool {
	t, other = t.pointee(), other.pointee()
	if t == nil || other == nil {
		return t == other
	}
	return t.shape == other.shape && t.kind == other.kind
}

// omits reports whether encoding/json leaves the value out.
func (f jsonField) omits(v reflect.Value) bool {
	if f.omitzero && isZero(v) {
		return true
	}
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

// isZero reports whether omitzero leaves the value out: as its method says, if it has one.
func isZero(v reflect.Value) bool {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return true
	}
	if z, is := reflect.TypeAssert[interface{ IsZero() bool }](addressOf(v)); is {
		return z.IsZero()
	}
	return v.IsZero()
}

// addressOf returns the pointer to a value if it has one, which may have methods that v lacks.
func addressOf(v reflect.Value) reflect.Value {
	if v.CanAddr() {
		return v.Addr()
	}
	return v
}

// cover notes which fields a schema does not know at a place where t has them, and reports whether
// it may know all others. The head of objects does not count.
func (t *jsonType) cover(s *crdschema.Node, object bool) bool {
	switch {
	case !s.Prunes() || t.shape == scalar:
		return true
	case t.shape == pointer:
		return t.elem.cover(s, object)
	case t.shape == list && s.Items() != nil:
		return t.elem.cover(s.Items(), false)
	case t.shape == dict && s.Values() != nil:
		return t.elem.cover(s.Values(), false)
	case t.shape != plain:
		return false
	}
	for name, f := range t.fields {
		member := cmp.Or(s.Property(name), s.Values())
		isKnown := member != nil && f.cover(member, false) || member == nil && s.PreservesUnknown()
		if !isKnown && (!object || !isHead(name)) {
			f.uncovered = true
			t.fields[name] = f
		}
	}
	return true
}
