package annotation

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/hash"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A PathElement leads from a value to a part of it: to the member Name of an object, to the element
// of a list with the Keys, or, in a Unit, to the First element.
type PathElement struct {
	Name  string
	Keys  []Key
	First bool
	// IsData says that the name is user data, the key of a map, which messages must not quote.
	IsData bool
}

// A Key is a field that identifies elements of a list, and its value as canonical JSON.
type Key struct{ Name, Value string }

// A Path leads from the root of an object, or from an element, to a value.
type Path []PathElement

// MaxSteps limits the paths of entries. A value whose parts have longer paths is kept as a whole,
// or many deep values would each have a long path.
const MaxSteps = 64

// Equal reports whether two elements lead to the same part.
func (s PathElement) Equal(t PathElement) bool {
	return s.Name == t.Name && s.First == t.First && slices.Equal(s.Keys, t.Keys)
}

// Equal reports whether two paths lead to the same value.
func (p Path) Equal(q Path) bool { return slices.EqualFunc(p, q, PathElement.Equal) }

// ID is the same for equal steps.
func (s PathElement) ID() string {
	if s.Keys != nil {
		return "[" + string(AppendKeys(nil, s.Keys))
	}
	return "." + s.Name
}

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
		case s.IsData:
			text.WriteString("{}")
		default:
			text.WriteString(jsondoc.FormatPath(s.Name))
		}
	}
	return text.String()
}

// AppendJSON appends the path as an array: a string for a member, an object for an element.
func (p Path) AppendJSON(dst []byte) []byte {
	return appendArray(dst, p, func(dst []byte, s PathElement) []byte {
		if s.Keys == nil {
			return jsondoc.AppendString(dst, s.Name)
		}
		return AppendKeys(dst, s.Keys)
	})
}

// Hash returns the hash of the path as an array.
func (p Path) Hash() uint64 {
	var room [256]byte
	return hash.Add(hash.Offset, p.AppendJSON(room[:0]))
}

// AppendKeys appends the keys of an element as an object.
func AppendKeys(dst []byte, keys []Key) []byte {
	for i, k := range keys {
		dst = append(dst, "{,"[min(i, 1)])
		dst = append(jsondoc.AppendString(dst, k.Name), ':')
		dst = append(dst, k.Value...)
	}
	return append(dst, '}')
}

// MaxKeys limits the fields that identify elements, as each element is searched for each of them.
const MaxKeys = 16
