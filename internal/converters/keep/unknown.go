package keep

import (
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Searcher finds fields that no schema knows. It reuses its memory, and is not safe for
// concurrent use.
type Searcher struct {
	layout *Layout
	schema *crdschema.Node // of the object or list at the path
	path   [][]byte        // nil for an element
	found  bool
	// Method values, made once for all searches (BenchmarkConvert in converters/rules).
	fields            func(name []byte, m jsondoc.Member) bool
	members, elements func(name []byte, value jsondoc.Value) bool
}

// HasUnknown reports whether an object of the layout's version has fields that neither schema
// knows. The schemas must be older than the API server's, which would have pruned the fields.
func (s *Searcher) HasUnknown(obj *jsondoc.Object, l *Layout) bool {
	if l.Schema == nil || l.Other == nil {
		return false
	}
	if s.fields == nil {
		s.fields, s.members, s.elements = s.field, s.member, s.element
	}
	s.layout, s.schema, s.path, s.found = l, l.Schema, s.path[:0], false
	_ = obj.Filter(s.fields)
	clear(s.path[:cap(s.path)]) // drops the text
	return s.found
}

// field skips metadata, which may be most of the object.
func (s *Searcher) field(name []byte, m jsondoc.Member) bool {
	if !s.found && !isHead(name) {
		s.member(name, m.Value())
	}
	return true
}

func (s *Searcher) member(name []byte, value jsondoc.Value) (goOn bool) {
	if next := memberNamed(s.schema, name); next != nil {
		s.value(name, value, next)
	} else {
		s.found = !s.schema.PreservesUnknown() && !s.isElsewhere(name)
	}
	return !s.found
}

func (s *Searcher) element(_ []byte, value jsondoc.Value) (goOn bool) {
	s.value(nil, value, s.schema.Items())
	return !s.found
}

// value visits an object or a list that may have unknown fields. Others are not even scanned.
func (s *Searcher) value(name []byte, value jsondoc.Value, n *crdschema.Node) {
	if !n.Prunes() {
		return
	}
	visit := s.members
	switch kind := value.Kind(); {
	case kind == jsondoc.Array && n.Items() != nil:
		visit = s.elements
	case kind != jsondoc.Map || n.Kind() == crdschema.Any:
		return
	}
	of := s.schema
	s.schema, s.path = n, append(s.path, name)
	value.Each(visit)
	s.schema, s.path = of, s.path[:len(s.path)-1]
}

// isElsewhere reports whether the other version has the member, or a rule concerns it.
func (s *Searcher) isElsewhere(name []byte) bool {
	was, other, place := (*crdschema.Node)(nil), s.layout.Other, s.layout.Root
	for _, step := range append(s.path, name) {
		if was = other; step == nil {
			place, other = place.each(), other.Items()
		} else {
			place, other = place.memberNamed(step), memberNamed(other, step)
		}
		if place.moved() {
			other = place.Other
		}
	}
	return place.moved() || place != nil && place.Unit != nil || other != nil || was.PreservesUnknown()
}
