package keep

import (
	"strconv"
)

// An Entry is a kept value: what the object has at a path where the conversion back gives something
// else.
type Entry struct {
	path Path
	kind entryKind
	// value is the JSON of an isValue.
	value []byte
	// list is what is kept of a list without keys.
	list *listEntry
	// order has the keys of a list with keys, and added the elements that no key identifies.
	order [][]Key
	added []added
	// inputs is the digest of what the other version shows of the places that the value is
	// computed from.
	inputs stamp
	// around is how many steps of the path the other version shows something of. The value returns
	// only if it still does.
	around int
	// object is the digest of what the whole object showed, for Unedited.
	object stamp
	// of is the unit, and scope what it is in. Annotations do not store them.
	of claim
}

// isPresence reports whether an entry only says that there is an object or an element.
func (e *Entry) isPresence() bool { return e.kind == isValue && string(e.value) == "{}" }

type entryKind int

const (
	isValue entryKind = iota
	isAbsent
	isList
	isOrder
)

// usualAround is the value of around that annotations omit.
func usualAround(path Path) int { return max(len(path)-1, 0) }

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
		dst = appendAdded(dst, e.added)
	}
	if e.inputs.any {
		dst = append(e.inputs.appendTo(append(dst, `,"inputs":"`...)), '"')
	}
	if e.object.any {
		dst = append(e.object.appendTo(append(dst, `,"object":"`...)), '"')
	}
	if e.around != usualAround(e.path) {
		dst = strconv.AppendInt(append(dst, `,"in":`...), int64(e.around), 10)
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

// An added element is one that the other version does not show and no key identifies. It follows
// the element at an index, or is before all: -1.
type added struct {
	after int
	value []byte
}

func appendAdded(dst []byte, all []added) []byte {
	if len(all) == 0 {
		return dst
	}
	return appendArray(append(dst, `,"added":`...), all, func(dst []byte, a added) []byte {
		dst = strconv.AppendInt(append(dst, `{"after":`...), int64(a.after), 10)
		return append(append(append(dst, `,"value":`...), a.value...), '}')
	})
}
