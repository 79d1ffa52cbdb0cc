package binding

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Place is what a schema allows somewhere: nothing (the zero Place), the values of a node, or, if
// it is known but has no node, any value, as below an object that preserves unknown fields.
type Place struct {
	Node  *crdschema.Node
	Known bool
}

// Kind returns the kind of the values.
func (s Place) Kind() crdschema.Kind {
	if s.Known && s.Node == nil {
		return crdschema.Any
	}
	return s.Node.Kind()
}

// Free reports whether the schema allows any value, with anything below it.
func (s Place) Free() bool { return s.Known && free(s.Node) }

// free reports whether a node allows any value. One without a type that preserves unknown fields
// does, although it may have properties that its objects must match.
func free(n *crdschema.Node) bool {
	return n == nil || n.Kind() == crdschema.Any && n.PreservesUnknown()
}

// Member returns the place of a member of an object.
func (s Place) Member(name string) Place {
	if p := s.Node.Property(name); p != nil {
		return Place{p, true}
	}
	return s.Others()
}

// Others returns the place of the members that no property names.
func (s Place) Others() Place {
	switch v := s.Node.Values(); {
	case !s.Known:
		return Place{}
	case v != nil:
		return Place{v, true}
	case s.Node == nil || s.Node.PreservesUnknown():
		return Place{nil, true}
	}
	return Place{}
}

// Items returns the place of the elements of a list.
func (s Place) Items() Place {
	switch items := s.Node.Items(); {
	case items != nil:
		return Place{items, true}
	case s.Free():
		return Place{nil, true}
	}
	return Place{}
}

// MayBeObject reports whether the schema may allow an object.
func (s Place) MayBeObject() bool {
	k := s.Kind()
	return k == crdschema.Object || k == crdschema.Map || k == crdschema.Any
}

// MayBeList reports whether the schema may allow a list.
func (s Place) MayBeList() bool {
	k := s.Kind()
	return k == crdschema.Array || k == crdschema.Any
}

// Admits reports whether the schema allows a value.
func (s Place) Admits(text []byte) bool { return s.Known && transform.Admits(s.Node, text) }

// Same reports whether two places allow the same values and give them the same meaning.
func (s Place) Same(t Place) bool {
	return s.Known == t.Known && (s.Node == t.Node || s.Node != nil && t.Node != nil && s.Node.Same(t.Node))
}

// SameValues reports whether two places allow the same scalars: they have the same type and enum,
// and both or neither allow null.
func (s Place) SameValues(t Place) bool {
	a, b := s.Node, t.Node
	sorted := func(n *crdschema.Node) []string { return slices.Sorted(slices.Values(n.Enum())) }
	return s.Kind() == t.Kind() && (a == nil) == (b == nil) && a.Nullable() == b.Nullable() &&
		a.PreservesUnknown() == b.PreservesUnknown() && slices.Equal(sorted(a), sorted(b))
}

// Step goes on by one segment.
func (s Place) Step(by syntax.Segment) Place {
	switch by.Kind {
	case syntax.Field:
		return s.Member(by.Name)
	case syntax.Values, syntax.KeyedValues:
		return s.Others()
	case syntax.Elements, syntax.KeyedElements, syntax.Pick, syntax.First:
		return s.Items()
	}
	return Place{}
}

// Walk goes on by a path.
func (s Place) Walk(path []syntax.Segment) Place {
	for _, by := range path {
		s = s.Step(by)
	}
	return s
}
