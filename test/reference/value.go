package reference

import (
	"fmt"
	"maps"
	"slices"
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

func get(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return absent{}
}

func isAbsent(v any) bool { _, ok := v.(absent); return ok }

func equal(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		return ok && maps.EqualFunc(x, y, equal)
	case []any:
		y, ok := b.([]any)
		return ok && slices.EqualFunc(x, y, equal)
	}
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	return a == b
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

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
		if s.AdditionalProperties.Structural == nil {
			return nil, s.AdditionalProperties.Bool
		}
		return s.AdditionalProperties.Structural, true
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

// schemaAt returns the schema of a place.
func schemaAt(s *Schema, p path) *Schema {
	for _, st := range p {
		switch st.kind {
		case field:
			s, _ = member(s, st.name)
		case each:
			s, _ = member(s, "\x00")
		default:
			s = element(s)
		}
	}
	return s
}

// fits reports whether a value has the type of a schema.
func fits(v any, s *Schema) bool {
	if s == nil {
		return true
	}
	switch v := v.(type) {
	case nil:
		return s.Nullable
	case map[string]any:
		if s.Type != "object" && s.Type != "" {
			return false
		}
		for k, e := range v {
			if m, ok := member(s, k); ok && !fits(e, m) {
				return false
			}
		}
		return s.Type == "object" || s.XPreserveUnknownFields
	case []any:
		if s.Type != "array" && s.Type != "" {
			return false
		}
		for _, e := range v {
			if !fits(e, s.Items) {
				return false
			}
		}
		return s.Type == "array" || s.XPreserveUnknownFields
	case string:
		return s.Type == "string" || s.XIntOrString || s.Type == ""
	case bool:
		return s.Type == "boolean" || s.Type == "" && !s.XIntOrString
	case int64:
		return s.Type == "integer" || s.Type == "number" || s.XIntOrString || s.Type == ""
	case float64:
		return s.Type == "number" || s.Type == "integer" && v == float64(int64(v)) || s.Type == "" && !s.XIntOrString
	}
	return false
}

// allows reports whether a schema allows a value: its type, and one of its enum.
func allows(v any, s *Schema) bool {
	if !fits(v, s) {
		return false
	}
	if s == nil || s.ValueValidation == nil || len(s.ValueValidation.Enum) == 0 {
		return true
	}
	for _, e := range s.ValueValidation.Enum {
		if equal(e.Object, v) {
			return true
		}
	}
	return false
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

// complete reports whether a value has all fields that its schema requires, and no others.
func complete(v any, s *Schema) bool {
	if s == nil {
		return true
	}
	switch v := v.(type) {
	case map[string]any:
		if s.ValueValidation != nil {
			for _, name := range s.ValueValidation.Required {
				if _, ok := v[name]; !ok {
					return false
				}
			}
		}
		for k, e := range v {
			if m, ok := member(s, k); !ok || !complete(e, m) {
				return false
			}
		}
	case []any:
		for _, e := range v {
			if !complete(e, s.Items) {
				return false
			}
		}
	}
	return true
}

// unfilled returns a value without the defaults of its schema, which are no inputs.
func unfilled(v any, s *Schema) any {
	if s == nil {
		return v
	}
	if s.Default.Object != nil && equal(v, s.Default.Object) {
		return absent{}
	}
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			m, _ := member(s, k)
			if e = unfilled(e, m); !isAbsent(e) {
				out[k] = e
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, e := range v {
			if e = unfilled(e, s.Items); isAbsent(e) {
				e = nil
			}
			out = append(out, e)
		}
		return out
	}
	return v
}

// validMetadata reports whether a value may be at a place of labels and annotations.
func validMetadata(p path, v any) bool {
	if len(p) != 3 || p[0].name != "metadata" {
		return true
	}
	text, ok := v.(string)
	return ok && (p[1].name != "labels" || len(validation.IsValidLabelValue(text)) == 0)
}

// at returns the value at a concrete path, such as /spec/steps/0.
func at(v any, concrete string) any {
	if concrete == "" {
		return v
	}
	for seg := range strings.SplitSeq(concrete[1:], "/") {
		switch in := v.(type) {
		case map[string]any:
			v = get(in, unescape(seg))
		case []any:
			i := -1
			if _, err := fmt.Sscan(seg, &i); err != nil || i < 0 || i >= len(in) {
				return absent{}
			}
			v = in[i]
		default:
			return absent{}
		}
	}
	return v
}

func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescape(seg string) string {
	return strings.ReplaceAll(strings.ReplaceAll(seg, "~1", "/"), "~0", "~")
}
