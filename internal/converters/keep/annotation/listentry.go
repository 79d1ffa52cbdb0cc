package annotation

import (
	"strconv"
)

// A ListEntry is what is kept of a list without keys, whose elements are known by digests of what
// the other version shows of them.
type ListEntry struct {
	Length   int        // of the list that was shown
	Elements []*Element // in their order
	Added    []Added    // the elements that were not shown
}

// An Element is one at an index that entries or added elements belong to.
type Element struct {
	Index int
	Was   Digest
	Kept  []*Entry
	// Alike has a short digest for each leaf. An edited element is the same if half of them are.
	Alike []Leaf
}

func (l *ListEntry) appendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"length":`...), int64(l.Length), 10)
	for i, e := range l.Elements {
		if i == 0 {
			dst = append(dst, `,"elements":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = e.appendJSON(dst)
	}
	if len(l.Elements) > 0 {
		dst = append(dst, '}')
	}
	return append(appendAdded(dst, l.Added), '}')
}

func (k *Element) appendJSON(dst []byte) []byte {
	dst = append(strconv.AppendInt(append(dst, '"'), int64(k.Index), 10), `":{"was":"`...)
	dst = append(k.Was.AppendTo(dst), '"')
	if len(k.Kept) > 0 {
		dst = appendEntries(append(dst, `,"kept":`...), k.Kept, 0)
	}
	for i, m := range k.Alike {
		dst = append(dst, []string{`,"alike":"`, " "}[min(i, 1)]...)
		dst = append(dst, m.text()...)
	}
	if len(k.Alike) > 0 {
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

// MaxElements limits the elements with digests. A longer list is kept as a whole, and returns until
// it is edited.
const MaxElements = 1 << 14

// MaxNested limits how deep lists without keys are compared element by element: reading an
// annotation takes time in proportion to its size and depth.
const MaxNested = 8
