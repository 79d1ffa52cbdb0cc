package keep

import (
	"bytes"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A PathElement leads from a value to a part of it: to the member Name of an object, to the element
// of a list with the Keys, or, in a Unit, to the First element.
type PathElement struct {
	Name  string
	Keys  []Key
	First bool
	// data says that the name is user data, the key of a map, which messages must not quote.
	data bool
}

// A Key is a field that identifies elements of a list, and its value as canonical JSON.
type Key struct{ Name, Value string }

// A Path leads from the root of an object, or from an element, to a value.
type Path []PathElement

// maxSteps limits the paths of entries. A value whose parts have longer paths is kept as a whole,
// or many deep values would each have a long path.
const maxSteps = 64

func (s PathElement) equal(t PathElement) bool {
	return s.Name == t.Name && s.First == t.First && slices.Equal(s.Keys, t.Keys)
}

func (p Path) equal(q Path) bool { return slices.EqualFunc(p, q, PathElement.equal) }

// String formats the path for messages, without the keys of maps and lists.
func (p Path) String() string {
	if len(p) == 0 {
		return "."
	}
	var text strings.Builder
	for _, s := range p {
		switch {
		case s.Keys != nil:
			text.WriteString("[]")
		case s.data:
			text.WriteString("{}")
		default:
			text.WriteString(jsondoc.FormatPath(s.Name))
		}
	}
	return text.String()
}

// appendJSON appends the path as an array: a string for a member, an object for an element.
func (p Path) appendJSON(dst []byte) []byte {
	return appendArray(dst, p, func(dst []byte, s PathElement) []byte {
		if s.Keys == nil {
			return jsondoc.AppendString(dst, s.Name)
		}
		return appendKeys(dst, s.Keys)
	})
}

// hash returns the hash of the path as an array.
func (p Path) hash() uint64 {
	var room [256]byte
	return hashed(offset64, p.appendJSON(room[:0]))
}

// appendKeys appends the keys of an element as an object.
func appendKeys(dst []byte, keys []Key) []byte {
	for i, k := range keys {
		dst = append(dst, "{,"[min(i, 1)])
		dst = append(jsondoc.AppendString(dst, k.Name), ':')
		dst = append(dst, k.Value...)
	}
	return append(dst, '}')
}

// maxKeys limits the fields that identify elements, as each element is searched for each of them.
const maxKeys = 16

// keyText returns the value of a key field as canonical JSON, and whether it may be one.
func keyText(text []byte) (string, bool) {
	switch jsondoc.KindOf(text) {
	case jsondoc.String:
		if bytes.IndexByte(text, '\\') >= 0 {
			return string(jsondoc.AppendString(nil, jsondoc.Unquote(text))), true
		}
		return string(text), true
	case jsondoc.Number:
		text, err := jsondoc.CanonicalNumber(string(text))
		return text, err == nil
	case jsondoc.Bool:
		return string(text), true
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Array, jsondoc.Map:
	}
	return "", false
}

// keyOf returns the value of a key field of an element, whose schema may fill it in.
func keyOf(e *jsondoc.Node, field string, s *crdschema.Node) (string, bool) {
	value, err := e.MemberText(field)
	if text, has := s.Property(field).Default(); has && value == nil {
		value = []byte(text)
	}
	text, ok := keyText(value)
	return text, ok && err == nil
}

// keysOf returns the keys of an element, and whether it has all fields.
func keysOf(e *jsondoc.Node, fields []string, s *crdschema.Node) ([]Key, bool) {
	return appendKeysOf(make([]Key, 0, len(fields)), e, fields, s)
}

func appendKeysOf(keys []Key, e *jsondoc.Node, fields []string, s *crdschema.Node) ([]Key, bool) {
	for _, field := range fields {
		text, ok := keyOf(e, field, s)
		if !ok {
			return nil, false
		}
		keys = append(keys, Key{field, text})
	}
	return keys, true
}

// index returns the keys of an element as the key of a map.
func index(keys []Key) string {
	if len(keys) == 1 {
		return keys[0].Value
	}
	return string(appendKeys(nil, keys))
}

// find returns the value at a path, or nil.
func find(n *jsondoc.Node, path Path) (*jsondoc.Node, error) {
	for _, s := range path {
		var err error
		switch {
		case s.First:
			n, err = n.Element(0)
		case s.Keys != nil:
			n, err = elementOf(n, s.Keys)
		default:
			n, err = n.Member(s.Name)
		}
		if n == nil || err != nil {
			return nil, err
		}
	}
	return n, nil
}

// elementOf returns the element of a list with some keys, or nil.
func elementOf(n *jsondoc.Node, keys []Key) (*jsondoc.Node, error) {
	if n.Kind() != jsondoc.Array {
		return nil, nil //nolint:nilnil // absent
	}
	var found *jsondoc.Node
	err := n.Each(func(_ string, e *jsondoc.Node) bool {
		if hasKeys(e, keys, nil) {
			found = e
		}
		return found == nil
	})
	return found, err
}

// hasKeys reports whether an element has some keys. It copies no plain text (BenchmarkKinds in
// converters/rules).
func hasKeys(e *jsondoc.Node, keys []Key, s *crdschema.Node) bool {
	for _, k := range keys {
		if value, err := e.MemberText(k.Name); err == nil && len(value) > 0 && value[0] == '"' && string(value) == k.Value {
			continue
		}
		if text, ok := keyOf(e, k.Name, s); !ok || text != k.Value {
			return false
		}
	}
	return true
}

// hasKey reports whether an element has a key field.
func hasKey(e *jsondoc.Node, field string, s *crdschema.Node) bool {
	value, err := e.MemberText(field)
	if kind := jsondoc.KindOf(value); err == nil && (kind == jsondoc.String || kind == jsondoc.Bool) {
		return true
	}
	_, ok := keyOf(e, field, s)
	return ok
}

// A keyIndex finds elements by their keys.
type keyIndex struct {
	keys [][]Key
	by   map[string]int // nil for a few, which need no index (BenchmarkKinds in converters/rules)
}

const fewKeys = 8

func indexOf(keys [][]Key) keyIndex {
	x := keyIndex{keys: keys}
	if len(keys) > fewKeys {
		x.by = make(map[string]int, len(keys))
		for i, k := range keys {
			x.by[index(k)] = i
		}
	}
	return x
}

// find returns the index of the element with some keys, or -1. It is most likely next.
func (x keyIndex) find(keys []Key, next int) int {
	if next < len(x.keys) && slices.Equal(x.keys[next], keys) {
		return next
	}
	if x.by == nil {
		return slices.IndexFunc(x.keys, func(k []Key) bool { return slices.Equal(k, keys) })
	}
	if i, found := x.by[index(keys)]; found {
		return i
	}
	return -1
}
