package converters

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
)

// What a Go type can say is found by reflection, by the rules of encoding/json; a nil type can say nothing.

// typeOfMember returns the type of the member name in the JSON of t, and whether t knows such a member.
func typeOfMember(t reflect.Type, name string) (member reflect.Type, known bool) {
	if t = pointed(t); t == nil {
		return nil, false
	}
	switch {
	case opaque(t):
		return t, true
	case t.Kind() == reflect.Map:
		return t.Elem(), true
	case t.Kind() == reflect.Struct:
		return typeOfField(t, name)
	}
	return nil, false
}

// typeOfElement returns the type of the elements in the JSON of t.
func typeOfElement(t reflect.Type) reflect.Type {
	if t = pointed(t); t == nil || opaque(t) {
		return t
	}
	if t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		return t.Elem()
	}
	return nil
}

// typeOfField looks at the struct's own fields first, as those hide what is embedded.
func typeOfField(t reflect.Type, name string) (reflect.Type, bool) {
	var embedded []reflect.Type
	for f := range t.Fields() {
		tag, _ := f.Tag.Lookup("json")
		named, _, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
		case f.Anonymous && named == "" && pointed(f.Type).Kind() == reflect.Struct:
			embedded = append(embedded, f.Type)
		case !f.IsExported():
		case named == name || named == "" && f.Name == name:
			return f.Type, true
		}
	}
	for _, e := range embedded {
		if found, known := typeOfMember(e, name); known {
			return found, true
		}
	}
	return nil, false
}

func pointed(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer && !opaque(t) {
		t = t.Elem()
	}
	return t
}

// opaque types read their JSON themselves, or take any: what they say must be left to them.
func opaque(t reflect.Type) bool {
	custom := func(t reflect.Type) bool {
		return t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	}
	return t.Kind() == reflect.Interface || custom(t) || t.Kind() != reflect.Pointer && custom(reflect.PointerTo(t))
}
