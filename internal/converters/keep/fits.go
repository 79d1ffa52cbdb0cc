package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep/hash"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// fits reports whether a value has the types of the place, and whether the API server can read it
// there. Bounds, patterns, enums and validation rules do not count: this copy of the schema may be
// older than the API server's. Neither do fields that the schema lacks. A null that the API server
// would remove does not fit by itself, but may be in an object that fits.
func (c cursor) fits(text []byte) bool {
	types := crdschema.Fit{Lenient: true, Demands: func(n *crdschema.Node) bool { return demandsDistinct(n) && !c.layout.Repeats }, Meets: isDistinct}
	return isSound(text, jsondoc.MaxDepth-c.level) && (c.anything || types.Value(c.schema, text))
}

// couldShow reports whether the other version shows nothing of a value that it has a place for. Not
// every value may be a label.
func (c cursor) couldShow(text []byte) bool {
	if len(c.thereBy) > 0 && c.thereBy[0].Name == "metadata" {
		return false
	}
	types := crdschema.Fit{
		Demands: func(n *crdschema.Node) bool { return len(n.Enum()) > 0 },
		Meets:   func(n *crdschema.Node, text []byte) bool { return slices.Contains(n.Enum(), string(text)) },
	}
	return c.tracked && !c.layout.Opaque && c.there == nil && c.other != nil && types.Value(c.other, text)
}

// isSound reports whether all numbers are in range and the value has no more levels.
func isSound(text []byte, levels int) bool {
	scan, err := jsondoc.NewScanner(text, levels)
	return err == nil && sound(&scan) == nil
}

func sound(scan *jsondoc.Scanner) error {
	kind := scan.Kind()
	if kind == jsondoc.Map {
		return scan.EveryMember(func([]byte) error { return sound(scan) })
	}
	if kind == jsondoc.Array {
		return scan.Elements(func() error { return sound(scan) })
	}
	at, err := scan.Skip()
	if err == nil && kind == jsondoc.Number {
		_, err = jsondoc.CanonicalNumber(string(scan.Text(at)))
	}
	return err
}

// isDistinct reports whether the elements of a list differ.
func isDistinct(s *crdschema.Node, text []byte) bool {
	n, err := parsed(text)
	return err == nil && areDistinct(s, n)
}

func demandsDistinct(s *crdschema.Node) bool {
	kind := s.ListType()
	return kind == "set" || kind == "map"
}

func areDistinct(s *crdschema.Node, list *jsondoc.Node) bool {
	d, all := newDistinct(s, nil), true
	err := list.Each(func(_ string, e *jsondoc.Node) bool {
		all = d.add(e)
		return all
	})
	return err == nil && all
}

// A distinct finds duplicates in a list whose elements must differ: a set, or a list with keys.
type distinct struct {
	schema *crdschema.Node
	any    bool // of any other list elements may be the same
	few    [fewKeys]uint64
	count  int             // of few
	many   map[uint64]bool // instead of few, if there are many
}

func newDistinct(s *crdschema.Node, list []*jsondoc.Node) distinct {
	d := distinct{schema: s, any: !demandsDistinct(s)}
	if !d.any {
		for _, e := range list {
			d.add(e)
		}
	}
	return d
}

func (d *distinct) add(e *jsondoc.Node) bool {
	if d.any {
		return true
	}
	id := d.identity(e)
	if d.many == nil && d.count < len(d.few) {
		known := slices.Contains(d.few[:d.count], id)
		d.few[d.count] = id
		d.count++
		return !known
	}
	if d.many == nil {
		d.many = make(map[uint64]bool, 2*fewKeys)
		for _, id := range d.few {
			d.many[id] = true
		}
	}
	known := d.many[id]
	d.many[id] = true
	return !known
}

// addText is add for the text of an element.
func (d *distinct) addText(text []byte) bool {
	if d.any {
		return true
	}
	e, err := parsed(text)
	return err == nil && d.add(e)
}

// identity returns what is equal for duplicates. The API server has filled in defaults of keys by
// then, and elements without a key are duplicates, too.
func (d *distinct) identity(e *jsondoc.Node) uint64 {
	if d.schema.ListType() == "set" {
		return digest(e)
	}
	id := hash.Offset
	for _, field := range d.schema.ListMapKeys() {
		key, _ := e.Member(field)
		s := d.schema.Items().Property(field)
		if key.Kind() == jsondoc.Null && !s.Nullable() {
			key = nil
		}
		if text, has := s.Default(); has && key == nil {
			key, _ = parsed([]byte(text))
		}
		if key != nil {
			id ^= hash.Mix(digest(key))
		}
		id = hash.End(id)
	}
	return id
}
