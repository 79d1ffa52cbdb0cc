package keep

import (
	"strings"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// fits reports whether a value is of the types of the place, and one that the API server can read there. Bounds, patterns, enums
// and rules do not count: they are the API server's, and this copy of the schema may be older than its. Nor do fields that the schema
// does not name. A null that the API server removes by itself does not fit, but is no harm in an object that does.
func (c cursor) fits(text []byte) bool {
	return isSound(text, jsondoc.MaxDepth-c.level) && (c.anything || c.schema == nil || ofType(c.schema, text))
}

// isSound reports whether a value has no number beyond a float64, and at most some levels.
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
	switch s.Kind() {
	case crdschema.None:
	case crdschema.Object, crdschema.Map:
		return text[0] == '{' && membersFit(s, text)
	case crdschema.Array:
		return text[0] == '[' && jsondoc.AllElements(text, func(value []byte) bool { return ofType(s.Items(), value) }) &&
			distinctFit(s, text)
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
	case crdschema.Any:
		return text[0] != '{' || membersFit(s, text)
	}
	return true
}

func isNull(text []byte) bool { return text[0] == 'n' }

func membersFit(s *crdschema.Node, text []byte) bool {
	return jsondoc.AllMembers(text, func(name, value []byte) bool { return isNull(value) || ofType(memberNamed(s, name), value) })
}

// distinctFit reports whether no two elements of a list are the same to the API server.
func distinctFit(s *crdschema.Node, text []byte) bool {
	n, err := parsed(text)
	return err == nil && areDistinct(s, n)
}

func areDistinct(s *crdschema.Node, list *jsondoc.Node) bool {
	d, all := newDistinct(s, nil), true
	err := list.Each(func(_ string, e *jsondoc.Node) bool {
		all = d.add(e)
		return all
	})
	return err == nil && all
}

// A distinct has the elements of a list of which the API server takes no two that are the same: a set, or one with keys.
type distinct struct {
	schema *crdschema.Node
	seen   map[string]bool // nil for any other list
}

func newDistinct(s *crdschema.Node, list []*jsondoc.Node) *distinct {
	d := &distinct{schema: s}
	if kind := s.ListType(); kind == "set" || kind == "map" {
		d.seen = map[string]bool{}
	}
	for _, e := range list {
		d.add(e)
	}
	return d
}

// add adds an element, and reports whether it is another one than those before.
func (d *distinct) add(e *jsondoc.Node) bool {
	if d.seen == nil {
		return true
	}
	id := d.identity(e)
	known := d.seen[id]
	d.seen[id] = true
	return !known
}

// addText is add for the text of an element.
func (d *distinct) addText(text []byte) bool {
	if d.seen == nil {
		return true
	}
	e, err := parsed(text)
	return err == nil && d.add(e)
}

// identity is what two elements have in common that are the same. The API server has filled in defaults of keys by then, and two
// elements without a key are the same as well.
func (d *distinct) identity(e *jsondoc.Node) string {
	if d.schema.ListType() == "set" {
		return digestText(e)
	}
	var id strings.Builder
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
			id.WriteString(digestText(key))
		}
		id.WriteByte(' ')
	}
	return id.String()
}
