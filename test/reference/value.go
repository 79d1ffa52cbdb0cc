package reference

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Schema is what a CRD says about a place; nil allows everything.
type Schema = structuralschema.Structural

func parseJSON(text []byte) any {
	var v any
	if err := utiljson.Unmarshal(text, &v); err != nil {
		return nil
	}
	return v
}

func object(v any) (map[string]any, bool) { m, ok := v.(map[string]any); return m, ok }
func list(v any) ([]any, bool)            { l, ok := v.([]any); return l, ok }

// Absent is a value that is not there; nil is null.
type absent struct{}

func get(v any, key string) any {
	m, _ := object(v)
	if e, ok := m[key]; ok {
		return e
	}
	return absent{}
}

func isAbsent(v any) bool { _, ok := v.(absent); return ok }

func equal(a, b any) bool { return reflect.DeepEqual(a, b) }

func clone(v any) any { return runtime.DeepCopyJSONValue(v) }

// member returns the schema of a member of an object, and whether there may be one.
func member(s *Schema, name string) (*Schema, bool) {
	if s == nil {
		return nil, true
	}
	if p, ok := s.Properties[name]; ok {
		return &p, true
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Structural, s.AdditionalProperties.Structural != nil || s.AdditionalProperties.Bool
	}
	return nil, s.XPreserveUnknownFields
}

func element(s *Schema) *Schema {
	if s == nil {
		return nil
	}
	return s.Items
}

// isMap reports whether members of an object are entries of a map.
func isMap(s *Schema, name string) bool {
	if s == nil {
		return false
	}
	_, ok := s.Properties[name]
	return !ok && s.AdditionalProperties != nil
}

// schemaAt returns the schema of a place, and whether there is such a place.
func schemaAt(s *Schema, p path) (*Schema, bool) {
	all := true
	for _, st := range p {
		ok := s == nil || s.Type == "array" || s.XPreserveUnknownFields
		switch {
		case st.isField():
			s, ok = member(s, st.name)
		case st.text == each:
			s, ok = member(s, "\x00")
		default:
			s = element(s)
		}
		all = all && ok
	}
	return s, all
}

// every reports whether a condition holds for all members and elements of a value.
func every(v any, s *Schema, holds func(e any, s *Schema, known bool) bool) bool {
	m, _ := object(v)
	for k, e := range m {
		if in, ok := member(s, k); !holds(e, in, ok) {
			return false
		}
	}
	l, _ := list(v)
	return !slices.ContainsFunc(l, func(e any) bool { return !holds(e, element(s), true) })
}

// fits reports whether a value has the type of a schema.
func fits(v any, s *Schema) bool {
	if s == nil {
		return true
	}
	if !every(v, s, func(e any, s *Schema, known bool) bool { return !known || fits(e, s) }) {
		return false
	}
	anyType := s.Type == "" && !s.XIntOrString
	switch v := v.(type) {
	case nil:
		return s.Nullable
	case map[string]any:
		return s.Type == "object" || s.Type == "" && s.XPreserveUnknownFields
	case []any:
		return s.Type == "array" || s.Type == "" && s.XPreserveUnknownFields
	case string:
		return s.Type == "string" || s.Type == ""
	case bool:
		return s.Type == "boolean" || anyType
	case int64:
		return s.Type == "integer" || s.Type == "number" || s.Type == ""
	case float64:
		return s.Type == "number" || s.Type == "integer" && v == float64(int64(v)) || anyType
	}
	return false
}

// allows reports whether a schema allows a value: its type, and one of its enum.
func allows(v any, s *Schema) bool {
	if !fits(v, s) || s == nil || s.ValueValidation == nil || len(s.ValueValidation.Enum) == 0 {
		return fits(v, s)
	}
	return slices.ContainsFunc(s.ValueValidation.Enum, func(e structuralschema.JSON) bool { return equal(e.Object, v) })
}

// required reports whether a value has the fields that its schema requires.
func required(v any, s *Schema) bool {
	_, isObject := object(v)
	return !isObject || s == nil || s.ValueValidation == nil ||
		!slices.ContainsFunc(s.ValueValidation.Required, func(name string) bool { return isAbsent(get(v, name)) })
}

// complete reports whether a value has all fields that its schema requires, and no others.
func complete(v any, s *Schema) bool {
	return required(v, s) && every(v, s, func(e any, s *Schema, known bool) bool { return known && complete(e, s) })
}

// fill fills in the defaults of a schema where the object around them exists.
func fill(v any, s *Schema) any {
	if s != nil {
		defaulting.Default(v, s)
	}
	return v
}

// pruned returns a value without fields that its schema does not have.
func pruned(v any, s *Schema) any {
	v = clone(v)
	if s != nil {
		pruning.Prune(v, s, false)
	}
	return v
}

// inside returns a value with others in it, none for what is absent.
func inside(v any, s *Schema, change func(v any, s *Schema) any) any {
	if l, ok := list(v); ok {
		out := make([]any, len(l))
		for i, e := range l {
			out[i] = change(e, element(s))
		}
		return out
	}
	m, ok := object(v)
	if !ok {
		return v
	}
	out := map[string]any{}
	for k, e := range m {
		in, _ := member(s, k)
		if e = change(e, in); !isAbsent(e) {
			out[k] = e
		}
	}
	return out
}

// unfilled returns a value without the defaults of its schema, which are no inputs.
func unfilled(v any, s *Schema) any {
	if s == nil || s.Default.Object == nil || !equal(v, s.Default.Object) {
		return inside(v, s, unfilled)
	}
	return absent{}
}

// typed returns a value as expressions see it: numbers of a schema are never integers.
func typed(v any, s *Schema) any {
	if n, ok := v.(int64); ok && s != nil && s.Type == "number" {
		return float64(n)
	}
	return inside(v, s, typed)
}

// validMetadata reports whether a value may be at a place of labels and annotations.
func validMetadata(p path, v any) bool {
	if len(p) != 3 || !p.isIn("metadata") {
		return true
	}
	text, ok := v.(string)
	return ok && (p[1].name != "labels" || len(validation.IsValidLabelValue(text)) == 0)
}

// Names in a concrete place are written as in a JSON pointer.
func escape(s string) string { return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1") }

func unescape(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~1", "/"), "~0", "~")
}

// at returns the value at a concrete path, such as /spec/steps/0.
func at(v any, concrete string) any {
	if concrete == gone {
		return absent{}
	}
	for _, seg := range strings.Split(concrete, "/")[1:] {
		l, isList := list(v)
		i, err := strconv.Atoi(seg)
		switch {
		case !isList:
			v = get(v, unescape(seg))
		case err != nil || i < 0 || i >= len(l):
			return absent{}
		default:
			v = l[i]
		}
	}
	return v
}
