package keep

import (
	"errors"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// fits reports whether a value has the types of the place, and whether the API server can read it
// there. Bounds, patterns, enums and validation rules do not count: this copy of the schema may be
// older than the API server's. Neither do fields that the schema lacks. A null that the API server
// would remove does not fit by itself, but may be in an object that fits.
func (c cursor) fits(text []byte) bool {
	return isSound(text, jsondoc.MaxDepth-c.level) && (c.anything || c.schema == nil || ofType(c.schema, text) && distinctFit(c.schema, text))
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

func ofType(s *crdschema.Node, text []byte) bool {
	if isNull(text) {
		return s == nil || s.Nullable() || s.Kind() == crdschema.Any
	}
	if text[0] == '{' || text[0] == '[' {
		return ofTypeText(s, text) == nil || ofTypeText(s, jsondoc.LastOfEach(text)) == nil
	}
	switch s.Kind() {
	case crdschema.None, crdschema.Any:
		return true
	case crdschema.Object, crdschema.Map, crdschema.Array:
		return false
	case crdschema.String:
		return text[0] == '"'
	case crdschema.Integer:
		return jsondoc.IsInteger(text)
	case crdschema.Number:
		return jsondoc.IsNumber(text)
	case crdschema.Boolean:
		return text[0] == 't' || text[0] == 'f'
	case crdschema.IntOrString:
		return text[0] == '"' || jsondoc.IsInteger(text)
	}
	return true
}

func ofTypeText(s *crdschema.Node, text []byte) error {
	scan, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return err
	}
	return partsOfType(s, &scan)
}

// errUnfit ends a scan.
var errUnfit = errors.New("does not fit")

// partsOfType checks an object or a list, with one scan for all levels (BenchmarkKinds in
// converters/rules).
func partsOfType(s *crdschema.Node, scan *jsondoc.Scanner) error {
	isMap := scan.Kind() == jsondoc.Map
	switch kind := s.Kind(); {
	case isMap && (kind == crdschema.Object || kind == crdschema.Map || kind == crdschema.Any):
		return scan.Members(func(name []byte) error {
			if scan.Kind() == jsondoc.Null {
				_, err := scan.Skip()
				return err
			}
			return valueOfType(memberNamed(s, name), scan)
		})
	case !isMap && kind == crdschema.Array:
		return scan.Elements(func() error { return valueOfType(s.Items(), scan) })
	case kind != crdschema.None && kind != crdschema.Any:
		return errUnfit
	}
	_, err := scan.Skip()
	return err
}

func valueOfType(s *crdschema.Node, scan *jsondoc.Scanner) error {
	kind := scan.Kind()
	if kind == jsondoc.Map || kind == jsondoc.Array && !demandsDistinct(s) {
		return partsOfType(s, scan)
	}
	at, err := scan.Skip()
	if text := scan.Text(at); err == nil && (!ofType(s, text) || !distinctFit(s, text)) {
		err = errUnfit
	}
	return err
}

func isNull(text []byte) bool { return text[0] == 'n' }

// distinctFit reports whether the elements of a list differ as far as the API server demands it.
func distinctFit(s *crdschema.Node, text []byte) bool {
	if text[0] != '[' || !demandsDistinct(s) {
		return true
	}
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
	id := uint64(offset64)
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
			id ^= mixed(digest(key))
		}
		id = ended(id)
	}
	return id
}
