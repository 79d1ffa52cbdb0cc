package keep

import (
	"slices"
	"strconv"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// An Entry is a kept value: what x has at a path where g has something else.
type Entry struct {
	path Path
	kind entryKind
	// value is the JSON of an isValue.
	value []byte
	// list is what is kept of a list without keys. order has the keys of a list with keys.
	list  *listEntry
	order [][]Key
	// lone are the indexes in order of elements that g lacked. extra are elements that no key
	// identifies, behind those of the order.
	lone  []int
	extra []extra
	// base is the digest of g's unit, second as the API server's defaults change g.
	base stamps
	// shown is what the other version, shownBy, itself shows of the unit. ShownBy is "" if that is
	// nothing.
	shown   stamps
	shownBy string
	// watch is the digest of the units that read whether there is something where the value makes
	// or removes something.
	watch stamps
	// in is how many steps of the path have to be there for the value to return. The rest is made.
	in int
	// whole is the whole object that the entries are in, for Unedited.
	whole stamps
	// twoSided says that the other version may have a counterpart. Annotations do not store it.
	twoSided bool
}

// TwoSided reports whether the other version may show something of any of the entries.
func TwoSided(entries []*Entry) bool {
	return slices.ContainsFunc(entries, func(e *Entry) bool { return e.twoSided })
}

type entryKind int

const (
	isValue entryKind = iota
	isAbsent
	isList
	isOrder
)

// usualIn is the value of in that annotations omit.
func usualIn(path Path) int { return max(len(path)-1, 0) }

// appendJSON appends the entry as annotations store it. With withPath it adds the path without its
// first steps, as many as behind says.
func (e *Entry) appendJSON(dst []byte, withPath bool, behind int) []byte {
	switch e.kind {
	case isValue:
		dst = append(dst, `{"value":`...)
		dst = append(dst, e.value...)
	case isAbsent:
		dst = append(dst, `{"absent":true`...)
	case isList:
		dst = append(dst, `{"list":`...)
		dst = e.list.appendJSON(dst)
	case isOrder:
		dst = appendArray(append(dst, `{"order":`...), e.order, appendKeys)
		if len(e.lone) > 0 {
			dst = appendArray(append(dst, `,"lone":`...), e.lone, func(dst []byte, place int) []byte {
				return strconv.AppendInt(dst, int64(place), 10)
			})
		}
	}
	dst = appendExtra(dst, e.extra)
	if e.base != (stamps{}) {
		dst = append(e.base.appendTo(append(dst, `,"base":"`...)), '"')
	}
	if e.shownBy != "" {
		dst = jsondoc.AppendString(append(dst, `,"shown":`...), e.shownBy)
		dst = append(e.shown.appendTo(append(dst[:len(dst)-1], ':')), '"')
	}
	if e.watch != (stamps{}) {
		dst = append(e.watch.appendTo(append(dst, `,"watch":"`...)), '"')
	}
	if e.whole != (stamps{}) {
		dst = append(e.whole.appendTo(append(dst, `,"whole":"`...)), '"')
	}
	if e.in != usualIn(e.path) {
		dst = strconv.AppendInt(append(dst, `,"in":`...), int64(e.in), 10)
	}
	if withPath {
		dst = e.path[behind:].appendJSON(append(dst, `,"path":`...))
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

// NewPlaces returns how many of the entries are for places that the others have none for.
func NewPlaces(entries, others []*Entry) int {
	known := make(map[string]bool, len(others))
	for _, e := range others {
		known[e.place()] = true
	}
	return len(entries) - len(slices.DeleteFunc(slices.Clone(entries), func(e *Entry) bool { return !known[e.place()] }))
}

func (e *Entry) place() string { return string(e.path.appendJSON(nil)) }
