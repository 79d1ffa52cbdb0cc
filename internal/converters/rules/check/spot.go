package check

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A side is one of the two versions that rules are between.
type side int

const (
	ofField side = iota
	ofHub
)

func (s side) other() side { return 1 - s }

// key returns the name of the side in a rule.
func (s side) key() string { return [...]string{"field", "hub"}[s] }

// defaultKey returns the key that gives the side a value where the other one gives none.
func (s side) defaultKey() string { return [...]string{"default", "hubDefault"}[s] }

// guardKey returns the key of the condition under which a rule writes its place on the side.
func (s side) guardKey() string { return [...]string{"whenHub", "when"}[s] }

// A spot is what a schema has at a place: nothing (the zero spot), a node, or anything at all, as below an object that
// preserves unknown fields.
type spot struct {
	node  *crdschema.Node
	known bool
}

// free is true of a place that may hold anything.
func (s spot) free() bool { return s.known && binding.Free(s.node) }

func (s spot) objectish() bool {
	k := s.node.Kind()
	return s.free() || k == crdschema.Object || k == crdschema.Map || k == crdschema.Any
}

func (s spot) arrayish() bool { return s.free() || s.node.Kind() == crdschema.Array }

// member returns what is at a member of an object.
func (s spot) member(name string) spot {
	if p := s.node.Property(name); p != nil {
		return spot{p, true}
	}
	return s.others()
}

// others returns what is at the members that no property names.
func (s spot) others() spot {
	switch {
	case !s.known:
		return spot{}
	case s.node.Values() != nil:
		return spot{s.node.Values(), true}
	case s.free() || s.node.PreservesUnknown():
		return spot{nil, true}
	}
	return spot{}
}

// items returns what is at the elements of a list.
func (s spot) items() spot {
	switch {
	case s.node.Items() != nil:
		return spot{s.node.Items(), true}
	case s.free():
		return spot{nil, true}
	}
	return spot{}
}

// step goes on by one segment.
func (s spot) step(by syntax.Segment) spot {
	switch by.Kind {
	case syntax.Field:
		return s.member(by.Name)
	case syntax.Values, syntax.KeyedValues:
		return s.others()
	case syntax.Elements, syntax.KeyedElements, syntax.Pick, syntax.First:
		return s.items()
	}
	return spot{}
}

// walk goes on by a path.
func (s spot) walk(path []syntax.Segment) spot {
	for _, by := range path {
		s = s.step(by)
	}
	return s
}

// surely reports whether a member is in every object of the place: it is required, or the API server adds it.
func (s spot) surely(by syntax.Segment) bool {
	if by.Kind != syntax.Field || s.node == nil {
		return false
	}
	_, added := s.node.Property(by.Name).Default()
	return added || s.node.IsRequired(by.Name)
}
