package transform

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An origin is a path of the object, or of the element, from which an expression has a value, and
// its schema.
type origin struct {
	path    []syntax.Segment
	node    *crdschema.Node
	element bool
}

func (p origin) step(s syntax.Segment, below *crdschema.Node) origin {
	return origin{append(slices.Clip(p.path), s), below, p.element}
}

func (p origin) field(name string, of *crdschema.Node) origin {
	below := of.Property(name)
	if below == nil {
		below = of.Values()
	}
	return p.step(syntax.Segment{Kind: syntax.Field, Name: name}, below)
}

// fields returns the members that a name in an expression may mean (see celvalue.FieldName).
func (p origin) fields(name string) []origin {
	plain, known := celvalue.FieldName(p.node, name)
	switch {
	case !known || plain == name:
		return []origin{p.field(name, p.node)}
	case p.node.PreservesUnknown():
		return []origin{p.field(name, p.node), p.field(plain, p.node)}
	}
	return []origin{p.field(plain, p.node)}
}

// A traced is the value of a part of an expression: it comes from one of the origins, or is a list
// or map that the expression makes of the values inside. It is nil if all that it depends on counts
// as read already, such as a text or a condition.
type traced struct {
	origins []origin
	inside  *traced
}

// or returns a value that may be either.
func (v *traced) or(w *traced) *traced {
	switch {
	case v == nil:
		return w
	case w == nil:
		return v
	}
	both := &traced{origins: slices.Clip(v.origins), inside: v.inside.or(w.inside)}
	for _, p := range w.origins {
		if !v.has(p) {
			both.origins = append(both.origins, p)
		}
	}
	return both
}

func (v *traced) has(p origin) bool {
	return v != nil && slices.ContainsFunc(v.origins, func(q origin) bool {
		return p.node == q.node && p.element == q.element && slices.EqualFunc(p.path, q.path, syntax.Segment.Equal)
	})
}

// same reports whether w adds nothing to v, which has all that w has.
func (v *traced) same(w *traced) bool {
	if v == nil || w == nil {
		return v.empty() && w.empty()
	}
	return len(v.origins) == len(w.origins) && v.inside.same(w.inside)
}

func (v *traced) empty() bool { return v == nil || len(v.origins) == 0 && v.inside.empty() }
