package rules

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/resolve"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A spot is what a schema has at a place: nothing (the zero spot), a node, or, without a node, anything at all, as below an
// object that preserves unknown fields.
type spot struct {
	node  *crdschema.Node
	known bool
}

func (s spot) kind() crdschema.Kind {
	if s.known && s.node == nil {
		return crdschema.Any
	}
	return s.node.Kind()
}

// free is true of a place below which there may be anything.
func (s spot) free() bool {
	return s.known && (s.node == nil || s.node.Kind() == crdschema.Any && s.node.PreservesUnknown())
}

// member returns the spot of a member of an object.
func (s spot) member(name string) spot {
	if p := s.node.Property(name); p != nil {
		return spot{p, true}
	}
	return s.others()
}

// others returns the spot of the members that no property names.
func (s spot) others() spot {
	switch v := s.node.Values(); {
	case !s.known:
		return spot{}
	case v != nil:
		return spot{v, true}
	case s.node == nil || s.node.PreservesUnknown():
		return spot{nil, true}
	}
	return spot{}
}

// items returns the spot of the elements of a list.
func (s spot) items() spot {
	switch items := s.node.Items(); {
	case items != nil:
		return spot{items, true}
	case s.free():
		return spot{nil, true}
	}
	return spot{}
}

func (s spot) mayBeObject() bool {
	k := s.kind()
	return k == crdschema.Object || k == crdschema.Map || k == crdschema.Any
}

func (s spot) mayBeList() bool {
	k := s.kind()
	return k == crdschema.Array || k == crdschema.Any
}

// admits reports whether the schema has the value at the place.
func (s spot) admits(n *jsondoc.Node) bool { return s.known && transform.Admits(s.node, n.Text()) }

// same reports whether a value of the one spot is one of the other, and means the same to the schemas.
func (s spot) same(t spot) bool {
	return s.known == t.known && (s.node == t.node || s.node != nil && t.node != nil && s.node.Same(t.node))
}

// sameValues reports whether two spots take the same scalars: of the same type, from the same enum, with null or without.
func (s spot) sameValues(t spot) bool {
	if s.kind() != t.kind() || (s.node == nil) != (t.node == nil) || s.node.Nullable() != t.node.Nullable() {
		return false
	}
	if s.node.PreservesUnknown() != t.node.PreservesUnknown() {
		return false
	}
	a, b := s.node.Enum(), t.node.Enum()
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

// at resolves a path below the spot. It is false where the schema does not have the place.
func (s spot) at(path []syntax.Segment) (spot, bool) {
	if !s.known {
		return spot{}, false
	}
	if len(path) == 0 {
		return s, true
	}
	nodes, problem := resolve.Path(s.node, "", syntax.Path{Segments: path})
	if problem != nil {
		return spot{}, false
	}
	return spot{nodes[len(nodes)-1], true}, true
}
