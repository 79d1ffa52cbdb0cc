package keep

import (
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Searcher finds fields that no schema knows. It reuses its memory, and is not safe for
// concurrent use.
type Searcher struct {
	layout *Layout
	path   [][]byte        // nil for an element
	scan   jsondoc.Scanner // of the member at the beginning of the path
	// visit is a method value, made once for all searches (BenchmarkConvert in converters/rules).
	visit func(name []byte, m jsondoc.Member) bool
	next  int // as of PropertyFrom, for the object
	found bool
}

// HasUnknown reports whether an object of the layout's version has fields that neither schema
// knows. The schemas must be older than the API server's, which would have pruned the fields.
func (s *Searcher) HasUnknown(obj *jsondoc.Object, l *Layout) bool {
	if l.Schema == nil || l.Other == nil {
		return false
	}
	if s.visit == nil {
		s.visit = s.visitMember
	}
	s.layout, s.path, s.next, s.found = l, s.path[:0], 0, false
	_ = obj.Filter(s.visit)
	clear(s.path[:cap(s.path)]) // drops the text
	s.scan.ResetValid(nil)
	return s.found
}

// visitMember visits a member of the object, but not metadata, which may be most of it.
func (s *Searcher) visitMember(name []byte, m jsondoc.Member) bool {
	if !s.found && !isHead(name) {
		s.scan.ResetValid(m.Value().Text())
		s.found = s.inMember(s.layout.Schema, name, &s.next)
	}
	return true
}

// inMember searches the member at the scanner of an object, whose schema is of.
func (s *Searcher) inMember(of *crdschema.Node, name []byte, next *int) bool {
	var n *crdschema.Node
	if n, *next = of.PropertyFrom(*next, name); n == nil {
		n = of.Values()
	}
	if n == nil && !of.PreservesUnknown() && !s.isElsewhere(name) {
		return true
	}
	return s.inValue(name, n)
}

// inValue searches an object or a list that may have unknown fields, and skips any other value.
func (s *Searcher) inValue(name []byte, n *crdschema.Node) (found bool) {
	kind := s.scan.Kind()
	object := kind == jsondoc.Map && n.Kind() != crdschema.Any
	if !n.Prunes() || !object && (kind != jsondoc.Array || n.Items() == nil) {
		_, err := s.scan.Skip()
		return err != nil
	}
	s.path = append(s.path, name)
	next := 0
	for more := s.scan.Enter(); more && !found; more = !found && s.scan.Next(object) {
		if object {
			found = s.inMember(n, s.scan.Name(), &next)
		} else {
			found = s.inValue(nil, n.Items())
		}
	}
	s.path = s.path[:len(s.path)-1]
	return found
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
			other = nil
			if len(place.Counterparts) > 0 {
				other = place.Counterparts[0].Schema
			}
		}
	}
	return place.moved() || place != nil && place.Unit != nil || other != nil || was.PreservesUnknown()
}
