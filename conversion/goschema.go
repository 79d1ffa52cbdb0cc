package conversion

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// schemaOf returns the schema of objects of a Go type, as encoding/json reads them. A list with the
// tag patchMergeKey has elements with that key, as in Kubernetes' own types.
func schemaOf(t reflect.Type) *crdschema.Node {
	s := structural(t, nil)
	return crdschema.NewNode(&s)
}

// structural returns the schema of a type that is within other types. A recursive type may be
// anything there.
func structural(t reflect.Type, in []reflect.Type) schema.Structural {
	if t = pointed(t); opaque(t) || slices.Contains(in, t) {
		return anything()
	}
	in = append(slices.Clip(in), t)
	switch kind := t.Kind(); {
	case kind == reflect.Struct:
		s := ofType("object")
		s.Properties = fields(t, in)
		return s
	case kind == reflect.Map:
		values := structural(t.Elem(), in)
		s := ofType("object")
		s.AdditionalProperties = &schema.StructuralOrBool{Structural: &values, Bool: true}
		return s
	case (kind == reflect.Slice || kind == reflect.Array) && t.Elem().Kind() != reflect.Uint8: // bytes are a string
		items := structural(t.Elem(), in)
		s := ofType("array")
		s.Items = &items
		return s
	case kind == reflect.String:
		return ofType("string")
	case kind == reflect.Bool:
		return ofType("boolean")
	case kind >= reflect.Int && kind <= reflect.Uintptr:
		return ofType("integer")
	case kind == reflect.Float32 || kind == reflect.Float64:
		return ofType("number")
	}
	return anything()
}

// ofType returns the schema of a JSON type. Null is always allowed, because encoding/json ignores
// it.
func ofType(name string) schema.Structural {
	return schema.Structural{Generic: schema.Generic{Type: name, Nullable: true}}
}

func anything() schema.Structural {
	return schema.Structural{Extensions: schema.Extensions{XPreserveUnknownFields: true}}
}

// fields returns the schemas of the members of a struct. Its own fields hide embedded ones.
func fields(t reflect.Type, in []reflect.Type) map[string]schema.Structural {
	own, embedded := map[string]schema.Structural{}, map[string]schema.Structural{}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		e := pointed(f.Type)
		switch inline := f.Anonymous && name == "" && e.Kind() == reflect.Struct; {
		case tag == "-" || inline && slices.Contains(in, e) || !inline && !f.IsExported():
			continue
		case inline:
			maps.Copy(embedded, fields(e, append(slices.Clip(in), e)))
			continue
		case name == "":
			name = f.Name
		}
		s := structural(f.Type, in)
		if slices.Contains(strings.Split(options, ","), "string") {
			s = anything() // it is encoded in a string
		}
		if key := f.Tag.Get("patchMergeKey"); key != "" && s.Items != nil {
			s.XListType, s.XListMapKeys, s.Items.Nullable = new("map"), []string{key}, false
		}
		own[name] = s
	}
	maps.Copy(embedded, own)
	return embedded
}

func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer && !opaque(t) {
		t = t.Elem()
	}
	return t
}

// opaque types read their own JSON, or take any, so their schema is unknown.
func opaque(t reflect.Type) bool {
	custom := func(t reflect.Type) bool {
		return t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	}
	return t.Kind() == reflect.Interface || custom(t) || t.Kind() != reflect.Pointer && custom(reflect.PointerTo(t))
}
