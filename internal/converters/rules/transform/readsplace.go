package transform

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A place is one of the object, and what the schema has there.
type place struct {
	path []syntax.Segment
	node *crdschema.Node
}

func (p place) step(s syntax.Segment, below *crdschema.Node) place {
	return place{append(slices.Clip(p.path), s), below}
}

func (p place) field(name string, of *crdschema.Node) place {
	below := of.Property(name)
	if below == nil {
		below = of.Values()
	}
	return p.step(syntax.Segment{Kind: syntax.Field, Name: name}, below)
}

// fields returns the members that a name in an expression may mean: see celvalue.FieldName.
func (p place) fields(name string) []place {
	plain, known := celvalue.FieldName(p.node, name)
	switch {
	case !known || plain == name:
		return []place{p.field(name, p.node)}
	case p.node.PreservesUnknown():
		return []place{p.field(name, p.node), p.field(plain, p.node)}
	}
	return []place{p.field(plain, p.node)}
}

// A traced is the value of a part of an expression: that of one of the places, or a list or map that the expression makes, of
// such values inside. What has been read of the object already, such as a text or a condition, is nil.
type traced struct {
	places []place
	inside *traced
}

// or returns what may be either.
func (v *traced) or(w *traced) *traced {
	switch {
	case v == nil:
		return w
	case w == nil:
		return v
	}
	both := &traced{places: slices.Clip(v.places), inside: v.inside.or(w.inside)}
	for _, p := range w.places {
		if !v.has(p) {
			both.places = append(both.places, p)
		}
	}
	return both
}

func (v *traced) has(p place) bool {
	return v != nil && slices.ContainsFunc(v.places, func(q place) bool {
		return p.node == q.node && slices.EqualFunc(p.path, q.path, syntax.Segment.Equal)
	})
}

// same reports whether two values may be the same places, where v has all that w has.
func (v *traced) same(w *traced) bool {
	if v == nil || w == nil {
		return v.empty() && w.empty()
	}
	return len(v.places) == len(w.places) && v.inside.same(w.inside)
}

func (v *traced) empty() bool { return v == nil || len(v.places) == 0 && v.inside.empty() }
