package converters

import (
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Searchable is a Converter that looks for unknown fields by a layout of the version of an
// object, which may be nil. So they can be found while the text of the object is read.
type Searchable interface {
	Converter
	Layout(from, to string) *keep.Layout
}

// A Searched says whether the values in an object were searched when they were read. The zero
// Searched says no.
type Searched struct {
	by      *keep.Layout
	unknown bool
}

// By reports whether the search was by a layout, and has found unknown fields. S may be nil.
func (s *Searched) By(l *keep.Layout) (searched, unknown bool) {
	searched = s != nil && s.by == l
	return searched, searched && s.unknown
}

// Search returns what a FieldReader needs for an object of a version that is to be converted to
// another. K may be nil.
func (k *Kind) Search(from, to string) Searched {
	if k == nil || from == to {
		return Searched{}
	}
	c, ok := k.Converter.(Searchable)
	if !ok {
		return Searched{}
	}
	if from != k.Hub {
		to = k.Hub
	}
	return Searched{by: c.Layout(from, to)}
}

// A FieldReader reads the members of objects. It reuses its memory, and is not safe for concurrent
// use.
type FieldReader struct{ search keep.Searcher }

// Read validates the value of a member of an object, moves the scanner over it, and searches it.
func (r *FieldReader) Read(s *jsondoc.Scanner, name []byte, object *Searched) error {
	if object.by == nil {
		_, err := s.Skip()
		return err
	}
	object.unknown = r.search.Read(s, name, object.by) || object.unknown
	return s.Err()
}
