package keep

import (
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Searcher finds fields that no schema knows. It reuses its memory, and is not safe for
// concurrent use.
type Searcher struct {
	layout *Layout
	path   [][]byte         // nil for an element
	scan   *jsondoc.Scanner // of the member at the beginning of the path
	own    jsondoc.Scanner
	read   bool // values in the object were searched when its text was read
	// visit is a method value, made once for all searches (BenchmarkConvert in converters/rules).
	visit func(name []byte, m jsondoc.Member) bool
	next  int // as of PropertyFrom, for the object
	found bool
}

// HasUnknown reports whether an object of the layout's version has fields that neither schema
// knows. The schemas must be older than the API server's, which would have pruned the fields. With
// read, it looks only at the names at the top: the values were read by Read.
func (s *Searcher) HasUnknown(obj *jsondoc.Object, l *Layout, read bool) bool {
	if l.Schema == nil || l.Other == nil {
		return false
	}
	if s.visit == nil {
		s.visit = s.visitMember
	}
	s.layout, s.path, s.next, s.found, s.read = l, s.path[:0], 0, false, read
	_ = obj.Filter(s.visit)
	s.own.ResetValid(nil)
	return s.end()
}

// end drops the text.
func (s *Searcher) end() (found bool) {
	clear(s.path[:cap(s.path)])
	s.scan = nil
	return s.found
}

// Read moves a scanner over the value of a member of an object, which is validated, and reports
// whether it has unknown fields.
func (s *Searcher) Read(scan *jsondoc.Scanner, name []byte, l *Layout) (unknown bool) {
	s.layout, s.path, s.scan, s.found, s.read = l, s.path[:0], scan, false, false
	var n *crdschema.Node // as HasUnknown: without schemas, nothing is unknown
	if l.Other != nil {
		n = l.Schema.PropertyNamed(name)
	}
	s.inValue(name, n)
	return s.end()
}

// visitMember visits a member of the object, but not metadata, which may be most of it.
func (s *Searcher) visitMember(name []byte, m jsondoc.Member) bool {
	if !s.found && !isHead(name) {
		if !s.read {
			s.own.ResetValid(m.Value().Text())
			s.scan = &s.own
		}
		s.inMember(s.layout.Schema, name, &s.next)
	}
	return true
}

// inMember searches the member at the scanner of an object, whose schema is of.
func (s *Searcher) inMember(of *crdschema.Node, name []byte, next *int) {
	var n *crdschema.Node
	if n, *next = of.PropertyFrom(*next, name); n == nil {
		n = of.Values()
	}
	s.found = s.found || n == nil && !of.PreservesUnknown() && !s.isElsewhere(name)
	if !s.read {
		s.inValue(name, n)
	}
}

// inValue searches an object or a list that may have unknown fields, and skips any other value.
func (s *Searcher) inValue(name []byte, n *crdschema.Node) {
	kind := s.scan.Kind()
	object := kind == jsondoc.Map && n.Kind() != crdschema.Any
	if s.found || !n.Prunes() || !object && (kind != jsondoc.Array || n.Items() == nil) {
		_, err := s.scan.Skip()
		s.found = s.found || err != nil
		return
	}
	s.path = append(s.path, name)
	next := 0
	for more := s.scan.Enter(); more; more = s.scan.Next(object) {
		if object {
			s.inMember(n, s.scan.Name(), &next)
		} else {
			s.inValue(nil, n.Items())
		}
	}
	s.path = s.path[:len(s.path)-1]
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
