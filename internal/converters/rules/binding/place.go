package binding

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A Place is what a schema has at a place: nothing (the zero Place), a node, or, without a node, anything at all, as below an
// object that preserves unknown fields.
type Place struct {
	Node  *crdschema.Node
	Known bool
}

// Kind returns the kind of values there.
func (s Place) Kind() crdschema.Kind {
	if s.Known && s.Node == nil {
		return crdschema.Any
	}
	return s.Node.Kind()
}

// Free is true of a place below which there may be anything.
func (s Place) Free() bool {
	return s.Known && (s.Node == nil || s.Node.Kind() == crdschema.Any && s.Node.PreservesUnknown())
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

// MayBeObject reports whether there may be an object.
func (s Place) MayBeObject() bool {
	k := s.Kind()
	return k == crdschema.Object || k == crdschema.Map || k == crdschema.Any
}

// MayBeList reports whether there may be a list.
func (s Place) MayBeList() bool {
	k := s.Kind()
	return k == crdschema.Array || k == crdschema.Any
}

// Admits reports whether the schema has the value at the place.
func (s Place) Admits(text []byte) bool { return s.Known && transform.Admits(s.Node, text) }

// Same reports whether a value of the one place is one of the other, and means the same to the schemas.
func (s Place) Same(t Place) bool {
	return s.Known == t.Known && (s.Node == t.Node || s.Node != nil && t.Node != nil && s.Node.Same(t.Node))
}

// SameValues reports whether two places take the same scalars: of the same type, from the same enum, with null or without.
func (s Place) SameValues(t Place) bool {
	if s.Kind() != t.Kind() || (s.Node == nil) != (t.Node == nil) || s.Node.Nullable() != t.Node.Nullable() {
		return false
	}
	if s.Node.PreservesUnknown() != t.Node.PreservesUnknown() {
		return false
	}
	a, b := s.Node.Enum(), t.Node.Enum()
	if len(a) != len(b) {
		return false
	}
	had := make(map[string]bool, len(a))
	for _, v := range a {
		had[v] = true
	}
	for _, v := range b {
		if !had[v] {
			return false
		}
	}
	return true
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
