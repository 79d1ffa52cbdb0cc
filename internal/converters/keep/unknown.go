package keep

import (
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Searcher looks for fields that no schema knows. It keeps its memory for the next search; one at a time may use it.
type Searcher struct {
	scan     jsondoc.Scanner
	at       searched
	found    bool
	elements func() error
	member   func(name []byte) error
}

// A searched is a place that is looked at.
type searched struct {
	schema, other *crdschema.Node
	place         *Place
}

// HasUnknown reports whether an object of the layout's version has fields that neither version's schema knows. The schemas are
// older than those of the API server then, which would have removed them. Text is that of the object.
func (s *Searcher) HasUnknown(text []byte, l *Layout) bool {
	if l.Schema == nil || l.Other == nil {
		return false
	}
	scan, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return false
	}
	if s.member == nil { // once for all searches (BenchmarkKinds in converters/rules)
		s.member = s.visit
		s.elements = s.value
	}
	s.scan, s.at, s.found = scan, searched{l.Schema, l.Other, l.Root}, false
	_ = s.scan.Members(func(name []byte) error {
		if isHeadName(name) {
			_, err := s.scan.Skip()
			return err
		}
		return s.visit(name)
	})
	s.scan = jsondoc.Scanner{}
	return s.found
}

func isHeadName(name []byte) bool {
	return string(name) == "metadata" || string(name) == "apiVersion" || string(name) == "kind"
}

// visit looks at a member of the object that is looked at.
func (s *Searcher) visit(name []byte) error {
	of := s.at
	if s.found {
		_, err := s.scan.Skip()
		return err
	}
	place := of.place.memberNamed(name)
	next := searched{schema: memberNamed(of.schema, name), place: place}
	switch {
	case next.schema == nil && of.schema.PreservesUnknown():
		_, err := s.scan.Skip()
		return err
	case place.moved():
		next.other = place.Other
	default:
		next.other = memberNamed(of.other, name)
		if next.schema == nil && next.other == nil && !of.other.PreservesUnknown() && (place == nil || place.Unit == nil) {
			s.found = true
		}
	}
	s.at = next
	err := s.value()
	s.at = of
	return err
}

// value looks at the value at the place.
func (s *Searcher) value() error {
	n := s.at.schema
	switch kind := s.scan.Kind(); {
	case s.found || n == nil:
	case kind == jsondoc.Map && n.Kind() != crdschema.Any:
		return s.scan.Members(s.member)
	case kind == jsondoc.Array && n.Items() != nil:
		of := s.at
		each := of.place.each()
		next := searched{schema: n.Items(), other: of.other.Items(), place: each}
		if each.moved() {
			next.other = each.Other
		}
		if next.schema.Scalar() {
			break
		}
		s.at = next
		err := s.scan.Elements(s.elements)
		s.at = of
		return err
	}
	_, err := s.scan.Skip()
	return err
}
