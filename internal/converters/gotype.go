package converters

import (
	"encoding"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// schemaOf returns what objects of a Go type may be, by the rules of encoding/json, as a CRD would have it.
func schemaOf(t reflect.Type) *crdschema.Node {
	s := structural(t, nil)
	return crdschema.NewNode(&s)
}

// structural returns the schema of a type that is in others. One that is in itself is anything there.
func structural(t reflect.Type, in []reflect.Type) schema.Structural {
	if t = pointed(t); opaque(t) || slices.Contains(in, t) {
		return anything()
	}
	in = append(slices.Clip(in), t)
	switch t.Kind() {
	case reflect.Struct:
		return schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: fields(t, in)}
	case reflect.Map:
		values := structural(t.Elem(), in)
		return schema.Structural{
			Generic:              schema.Generic{Type: "object"},
			AdditionalProperties: &schema.StructuralOrBool{Structural: &values, Bool: true},
		}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return anything() // bytes are a string
		}
		items := structural(t.Elem(), in)
		return schema.Structural{Generic: schema.Generic{Type: "array"}, Items: &items}
	case reflect.String:
		return schema.Structural{Generic: schema.Generic{Type: "string"}}
	case reflect.Bool:
		return schema.Structural{Generic: schema.Generic{Type: "boolean"}}
	case reflect.Float32, reflect.Float64:
		return schema.Structural{Generic: schema.Generic{Type: "number"}}
	}
	if t.Kind() >= reflect.Int && t.Kind() <= reflect.Uintptr {
		return schema.Structural{Generic: schema.Generic{Type: "integer"}}
	}
	return anything()
}

func anything() schema.Structural {
	return schema.Structural{Extensions: schema.Extensions{XPreserveUnknownFields: true}}
}

// fields returns the schemas of the members of a struct. Its own fields hide what is embedded.
func fields(t reflect.Type, in []reflect.Type) map[string]schema.Structural {
	own, embedded := map[string]schema.Structural{}, map[string]schema.Structural{}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case tag == "-":
			continue
		case f.Anonymous && name == "" && pointed(f.Type).Kind() == reflect.Struct:
			if e := pointed(f.Type); !slices.Contains(in, e) {
				maps.Copy(embedded, fields(e, append(slices.Clip(in), e)))
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if s := structural(f.Type, in); strings.Contains(options, "string") {
			own[name] = anything() // a number in a string
		} else {
			if key := f.Tag.Get("patchMergeKey"); key != "" && s.Items != nil {
				s.XListMapKeys = []string{key}
			}
			own[name] = s
		}
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

// opaque types read their JSON themselves, or take any: what they say must be left to them.
func opaque(t reflect.Type) bool {
	custom := func(t reflect.Type) bool {
		return t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	}
	return t.Kind() == reflect.Interface || custom(t) || t.Kind() != reflect.Pointer && custom(reflect.PointerTo(t))
}
