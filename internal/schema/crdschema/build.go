package crdschema

import (
	"maps"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// build makes the tree of nodes of a schema, which must not change afterwards.
func build(s *schema.Structural) *Node {
	n := &Node{schema: s, kind: kindOf(s)}
	if s.XEmbeddedResource {
		n.schema = withMeta(s)
	}
	if n.kind == Object || n.kind == Any {
		n.properties = make(map[string]*Node, len(n.schema.Properties))
		for name := range n.schema.Properties {
			property := n.schema.Properties[name]
			n.properties[name] = build(&property)
		}
		n.names = slices.Sorted(maps.Keys(n.properties))
		for _, name := range n.names {
			n.ordered = append(n.ordered, n.properties[name])
		}
	}
	if values := valuesOf(s); values != nil {
		n.values = build(values)
	}
	if s.Items != nil {
		n.items = build(s.Items)
	}
	n.prunes = n.kind == Object && !n.PreservesUnknown() || n.values.Prunes() || n.items.Prunes()
	n.defaults = n.values.HasDefaults() || n.items.HasDefaults()
	n.requires = n.values.Requires() || n.items.Requires()
	for _, property := range n.properties {
		n.prunes = n.prunes || property.Prunes()
		n.defaults = n.defaults || property.defaults || property.fallback != ""
		n.requires = n.requires || property.requires
	}
	if s.Default.Object != nil {
		n.fallback = jsonText(s.Default.Object)
	}
	var required []string
	if vv := s.ValueValidation; vv != nil {
		required = vv.Required
		for _, value := range vv.Enum {
			n.enum = append(n.enum, jsonText(value.Object))
		}
	}
	if s.XEmbeddedResource {
		required = slices.Concat(required, []string{"apiVersion", "kind"})
	}
	n.required = set(required)
	for _, name := range n.required {
		if n.demandsNamed([]byte(name)) {
			n.demands++
		}
	}
	n.requires = n.requires || len(n.required) > 0
	return n
}

func kindOf(s *schema.Structural) Kind {
	switch {
	case s.XIntOrString:
		return IntOrString
	case s.Type == "object" && len(s.Properties) == 0 && valuesOf(s) != nil:
		return Map
	}
	return map[string]Kind{
		"object": Object, "array": Array, "string": String, "integer": Integer, "number": Number, "boolean": Boolean, "": Any,
	}[s.Type]
}

// valuesOf returns the schema of additionalProperties; for `true`, an empty one. The API server
// prunes the fields of objects in such values.
func valuesOf(s *schema.Structural) *schema.Structural {
	switch more := s.AdditionalProperties; {
	case more == nil || !more.Bool && more.Structural == nil:
		return nil
	case more.Structural != nil:
		return more.Structural
	}
	return &schema.Structural{}
}

func jsonText(v any) string {
	text, _ := jsondoc.Encode(v) // JSON can always be encoded
	return string(text)
}
