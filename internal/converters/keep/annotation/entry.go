// Package annotation reads and writes the annotations in which an object at one version keeps what
// another version says: an [Entry] for each value. [Take] reads them, and [Put] writes them.
// Package keep decides what is kept and what returns.
package annotation

import (
	"strconv"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// An Entry is a kept value: what the object has at a path where the conversion back gives something
// else.
type Entry struct {
	Path Path
	Kind Kind
	// Value is the JSON of a KindValue.
	Value []byte
	// List is what is kept of a list without keys.
	List *ListEntry
	// Order has the keys of a list with keys, and Added the elements that no key identifies.
	Order [][]Key
	Added []Added
	// Inputs is the digest of what the other version shows of the places that the value is
	// computed from.
	Inputs Digest
	// Around is how many steps of the path the other version shows something of. The value returns
	// only if it still does.
	Around int
	// Object is the digest of what the whole object showed, if that counts.
	Object Digest
	// Of is what the value belongs to. Annotations do not store it.
	Of Claim
}

// IsPresence reports whether an entry only says that there is an object or an element.
func (e *Entry) IsPresence() bool { return e.Kind == KindValue && string(e.Value) == "{}" }

// A Kind says what an entry keeps of its place.
type Kind int

// The kinds of entries.
const (
	KindValue  Kind = iota // the value
	KindAbsent             // that there is nothing
	KindList               // parts of a list without keys
	KindOrder              // the order of a list with keys
)

// UsualAround is the value of Around that annotations omit.
func UsualAround(path Path) int { return max(len(path)-1, 0) }

// appendJSON appends the entry as annotations store it. With withPath it adds the path without its
// first steps, as many as behind says.
func (e *Entry) appendJSON(dst []byte, withPath bool, behind int) []byte {
	switch e.Kind {
	case KindValue:
		dst = append(dst, `{"value":`...)
		dst = append(dst, e.Value...)
	case KindAbsent:
		dst = append(dst, `{"absent":true`...)
	case KindList:
		dst = append(dst, `{"list":`...)
		dst = e.List.appendJSON(dst)
	case KindOrder:
		dst = appendArray(append(dst, `{"order":`...), e.Order, AppendKeys)
		dst = appendAdded(dst, e.Added)
	}
	if e.Inputs.Any {
		dst = append(e.Inputs.AppendTo(append(dst, `,"inputs":"`...)), '"')
	}
	if e.Object.Any {
		dst = append(e.Object.AppendTo(append(dst, `,"object":"`...)), '"')
	}
	if e.Around != UsualAround(e.Path) {
		dst = strconv.AppendInt(append(dst, `,"in":`...), int64(e.Around), 10)
	}
	if withPath {
		dst = e.Path[behind:].AppendJSON(append(dst, `,"path":`...))
	}
	return append(dst, '}')
}

func appendEntries(dst []byte, all []*Entry, behind int) []byte {
	return appendArray(dst, all, func(dst []byte, e *Entry) []byte { return e.appendJSON(dst, true, behind) })
}

func appendArray[T any](dst []byte, all []T, appendOne func([]byte, T) []byte) []byte {
	dst = append(dst, '[')
	for i, one := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendOne(dst, one)
	}
	return append(dst, ']')
}

// An Added element is one that the other version does not show and no key identifies. It follows
// the element at an index, or is before all: -1.
type Added struct {
	After int
	Value []byte
}

func appendAdded(dst []byte, all []Added) []byte {
	if len(all) == 0 {
		return dst
	}
	return appendArray(append(dst, `,"added":`...), all, func(dst []byte, a Added) []byte {
		dst = strconv.AppendInt(append(dst, `{"after":`...), int64(a.After), 10)
		return append(append(append(dst, `,"value":`...), a.Value...), '}')
	})
}

// A Claim is a unit of an object, in one scope of the version that is converted from.
type Claim struct {
	Unit any
	In   *jsondoc.Node
}
