package keep

import (
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Searcher looks for fields that no schema knows. It keeps its memory for the next search; one at a time may use it.
type Searcher struct {
	scan     jsondoc.Scanner
	layout   *Layout
	schema   *crdschema.Node // of the place that is looked at
	path     [][]byte        // to that place; nil for an element
	found    bool
	field    func(name []byte, m jsondoc.Member) bool
	elements func() error
	member   func(name []byte) error
}

// HasUnknown reports whether an object of the layout's version has fields that neither version's schema knows. The schemas are
// older than those of the API server then, which would have removed them.
func (s *Searcher) HasUnknown(obj *jsondoc.Object, l *Layout) bool {
	if l.Schema == nil || l.Other == nil {
		return false
	}
	if s.member == nil { // once for all searches (BenchmarkConvert in converters/rules)
		s.field, s.member, s.elements = s.begin, s.visit, s.value
	}
	s.layout, s.schema, s.path, s.found = l, l.Schema, s.path[:0], false
	_ = obj.Filter(s.field) // it keeps all; metadata, which may be most of the object, is not looked at
	_ = s.scan.Reset(nil, jsondoc.MaxDepth)
	clear(s.path[:cap(s.path)]) // of the text
	return s.found
}

// begin looks at a field of the object.
func (s *Searcher) begin(name []byte, m jsondoc.Member) bool {
	if isHeadName(name) || s.found {
		return true
	}
	if s.scan.Reset(m.Value().Text(), jsondoc.MaxDepth) == nil {
		_ = s.visit(name)
	}
	return true
}

func isHeadName(name []byte) bool {
	return string(name) == "metadata" || string(name) == "apiVersion" || string(name) == "kind"
}

// visit looks at a member of the object that is looked at.
func (s *Searcher) visit(name []byte) error {
	of := s.schema
	next := memberNamed(of, name)
	if s.found || next == nil || next.Scalar() || next.Values().Scalar() {
		s.found = s.found || next == nil && !of.PreservesUnknown() && !s.isElsewhere(name)
		_, err := s.scan.Skip()
		return err
	}
	s.schema, s.path = next, append(s.path, name)
	err := s.value()
	s.schema, s.path = of, s.path[:len(s.path)-1]
	return err
}

// value looks at the value at the place.
func (s *Searcher) value() error {
	n := s.schema
	switch kind := s.scan.Kind(); {
	case s.found:
	case kind == jsondoc.Map && n.Kind() != crdschema.Any:
		return s.scan.EveryMember(s.member)
	case kind == jsondoc.Array && n.Items() != nil && !n.Items().Scalar():
		s.schema, s.path = n.Items(), append(s.path, nil)
		err := s.scan.Elements(s.elements)
		s.schema, s.path = n, s.path[:len(s.path)-1]
		return err
	}
	_, err := s.scan.Skip()
	return err
}

// isElsewhere reports whether the other version has a member of the place, or a rule something to do with it.
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
