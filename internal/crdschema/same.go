package crdschema

import (
	"maps"
	"reflect"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Same reports whether two places have the same schema as far as values are concerned: types, properties, defaults, enum,
// required, nullable, bounds, list types, what is done with unknown fields. Descriptions, examples and the order of lists
// do not count, and neither do rules in CEL (x-kubernetes-validations). Two places that do not exist are the same.
func (n *Node) Same(m *Node) bool {
	if n == m || n == nil || m == nil {
		return n == m
	}
	return n.kind == m.kind && slices.Equal(n.names, m.names) && slices.Equal(n.required, m.required) &&
		n.fallback == m.fallback && n.sameSet(m) && n.sameRest(m) && n.values.Same(m.values) && n.items.Same(m.items) &&
		maps.EqualFunc(n.properties, m.properties, (*Node).Same)
}

// sameSet compares what is a set but written as a list.
func (n *Node) sameSet(m *Node) bool {
	sorted := func(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
	return slices.Equal(sorted(n.enum), sorted(m.enum)) && slices.Equal(sorted(n.ListMapKeys()), sorted(m.ListMapKeys()))
}

// sameRest compares what is neither a node of its own nor a set.
func (n *Node) sameRest(m *Node) bool {
	return n.Nullable() == m.Nullable() && n.PreservesUnknown() == m.PreservesUnknown() && n.Embedded() == m.Embedded() &&
		n.ListType() == m.ListType() && reflect.DeepEqual(bounds(n.schema), bounds(m.schema))
}

// bounds returns the validations without those that are compared as sets.
func bounds(s *schema.Structural) schema.ValueValidation {
	if s.ValueValidation == nil {
		return schema.ValueValidation{}
	}
	vv := *s.ValueValidation
	vv.Required, vv.Enum = nil, nil
	return vv
}
