package crdschema

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// A Difference has the places where two schemas of a version differ in a way that matters to a
// conversion, as paths in the order of the schemas: .spec.ports[].name, .spec.labels{}.
type Difference struct {
	// First and Second are the fields that only one of the schemas has, without the fields below
	// them.
	First, Second []string
	// Other are the places that both have, with another type, default, list type or treatment of
	// null or unknown fields.
	Other []string
}

// Compare returns the difference of two schemas, neither of which is nil. Validations and
// descriptions do not count.
func Compare(first, second *Node) Difference {
	var d Difference
	d.compare(".", first, second)
	return d
}

func (d *Difference) compare(path string, first, second *Node) {
	if first == nil || second == nil {
		return // elements or values that only one of them can have
	}
	if !first.holdsSame(second) {
		d.Other = append(d.Other, path)
	}
	if first.kind != second.kind {
		return
	}
	below := strings.TrimSuffix(path, ".")
	for _, name := range set(slices.Concat(first.names, second.names)) {
		at := below + pathStep(name)
		switch a, b := first.Property(name), second.Property(name); {
		case a == nil:
			d.Second = append(d.Second, at)
		case b == nil:
			d.First = append(d.First, at)
		default:
			d.compare(at, a, b)
		}
	}
	d.compare(below+"[]", first.items, second.items)
	d.compare(below+"{}", first.values, second.values)
}

// pathStep writes a field of a path as rules do.
func pathStep(name string) string {
	odd := func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return "[" + strconv.Quote(name) + "]"
	}
	return "." + name
}

// Same reports whether two places allow the same values: types, properties, defaults, enum,
// required, nullable, bounds, list types, treatment of unknown fields. Descriptions, examples, the
// order of lists and rules in CEL (x-kubernetes-validations) do not count. Two nil places are the
// same.
func (n *Node) Same(m *Node) bool {
	if n == m || n == nil || m == nil {
		return n == m
	}
	return n.holdsSame(m) && slices.Equal(n.required, m.required) && slices.Equal(set(n.enum), set(m.enum)) &&
		reflect.DeepEqual(bounds(n.schema), bounds(m.schema)) && n.values.Same(m.values) && n.items.Same(m.items) &&
		maps.EqualFunc(n.properties, m.properties, (*Node).Same)
}

// Agrees reports whether two places say the same to the leaves, as far as both name it: of two
// objects, the fields of one name agree, and there is one. A list of objects agrees with an object
// that is as its elements are.
func (n *Node) Agrees(m *Node) bool {
	switch {
	case n.Same(m):
		return true
	case n.Kind() == Object && m.Kind() == Array:
		return m.Agrees(n)
	case n.Kind() == Array && m.Kind() == Object:
		return n.items.Agrees(m)
	case n.Kind() != m.Kind():
		return false
	case n.kind == Array:
		return n.items.Agrees(m.items)
	case n.kind == Map:
		return n.values.Agrees(m.values)
	case n.kind == Object:
		differs := func(name string) bool { return m.Property(name) != nil && !n.Property(name).Agrees(m.Property(name)) }
		return n.SharesName(m) && !slices.ContainsFunc(n.names, differs)
	}
	return len(n.enum) == 0 || len(m.enum) == 0 || slices.ContainsFunc(n.enum, func(v string) bool { return slices.Contains(m.enum, v) })
}

// SharesName reports whether two objects have properties of one name.
func (n *Node) SharesName(m *Node) bool {
	return slices.ContainsFunc(n.Properties(), func(name string) bool { return m.Property(name) != nil })
}

// holdsSame compares two places without those below them and without validations.
func (n *Node) holdsSame(m *Node) bool {
	return n.kind == m.kind && n.fallback == m.fallback && n.Nullable() == m.Nullable() &&
		n.PreservesUnknown() == m.PreservesUnknown() && n.Embedded() == m.Embedded() && n.ListType() == m.ListType() &&
		slices.Equal(set(n.ListMapKeys()), set(m.ListMapKeys()))
}

// set returns the distinct strings of a list in order.
func set(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// bounds returns the validations without those that are compared as sets.
func bounds(s *schema.Structural) schema.ValueValidation {
	if s.ValueValidation == nil {
		return schema.ValueValidation{}
	}
	vv := *s.ValueValidation
	vv.Required, vv.Enum = nil, nil
	return vv
}
