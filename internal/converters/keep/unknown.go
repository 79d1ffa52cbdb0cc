package keep

import (
	"errors"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Searcher finds fields that no schema knows. It reuses its memory, and is not safe for
// concurrent use.
type Searcher struct {
	layout *Layout
	schema *crdschema.Node // of the object or list at the path
	path   [][]byte        // nil for an element
	scan   jsondoc.Scanner // of the member at the beginning of the path
	// Method values, made once for all searches (BenchmarkConvert in converters/rules).
	fields  func(name []byte, m jsondoc.Member) bool
	member  func(name []byte) error
	element func() error
	found   bool
}

// errFound ends a search.
var errFound = errors.New("found")

// HasUnknown reports whether an object of the layout's version has fields that neither schema
// knows. The schemas must be older than the API server's, which would have pruned the fields.
func (s *Searcher) HasUnknown(obj *jsondoc.Object, l *Layout) bool {
	if l.Schema == nil || l.Other == nil {
		return false
	}
	if s.fields == nil {
		s.fields, s.member, s.element = s.visitField, s.visitMember, s.visitElement
	}
	s.layout, s.schema, s.path, s.found = l, l.Schema, s.path[:0], false
	_ = obj.Filter(s.fields)
	clear(s.path[:cap(s.path)]) // drops the text
	_ = s.scan.Reset(nil, 0)
	return s.found
}

// visitField visits a member of the object, but not metadata, which may be most of it.
func (s *Searcher) visitField(name []byte, m jsondoc.Member) bool {
	if !s.found && !isHead(name) {
		err := s.scan.Reset(m.Value().Text(), jsondoc.MaxDepth)
		if err == nil {
			err = s.visitMember(name)
		}
		s.found = errors.Is(err, errFound)
	}
	return true
}

func (s *Searcher) visitMember(name []byte) error {
	next := memberNamed(s.schema, name)
	if next == nil && !s.schema.PreservesUnknown() && !s.isElsewhere(name) {
		return errFound
	}
	return s.value(name, next)
}

func (s *Searcher) visitElement() error { return s.value(nil, s.schema.Items()) }

// value visits an object or a list that may have unknown fields, and skips any other value.
func (s *Searcher) value(name []byte, n *crdschema.Node) (err error) {
	kind := s.scan.Kind()
	isList := kind == jsondoc.Array && n.Items() != nil
	if !n.Prunes() || !isList && (kind != jsondoc.Map || n.Kind() == crdschema.Any) {
		_, err = s.scan.Skip()
		return err
	}
	of := s.schema
	s.schema, s.path = n, append(s.path, name)
	if isList {
		err = s.scan.Elements(s.element)
	} else {
		err = s.scan.EveryMember(s.member)
	}
	s.schema, s.path = of, s.path[:len(s.path)-1]
	return err
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
