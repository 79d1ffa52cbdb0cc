package keep

import (
	"slices"
	"strconv"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A listEntry is what is kept of a list without keys, whose elements are known by digests of what
// the other version shows of them.
type listEntry struct {
	length   int            // of the list that was shown
	elements []*keptElement // in their order
	added    []added        // the elements that were not shown
}

// A keptElement is an element at an index that entries or added elements belong to.
type keptElement struct {
	index int
	was   stamp
	kept  []*Entry
	// alike has a short digest for each leaf. An edited element is the same if half of them are.
	alike []mark
}

// keptElementOf returns the element at an index, where the conversion back gives g.
func keptElementOf(index int, g *jsondoc.Node, c cursor, kept []*Entry) *keptElement {
	n, s := c.visible(g)
	return &keptElement{index, stampOf(effective(n, s)), kept, likeness(n, c)}
}

// visible returns what the other version shows of an element, or else what the conversion back
// gives.
func (c cursor) visible(g *jsondoc.Node) (*jsondoc.Node, *crdschema.Node) {
	if c.there != nil && !c.opaque {
		return c.there, c.other
	}
	return g, c.schema
}

// maxAlike limits the short digests of an element.
const maxAlike = 64

// likeness returns the marks of an element's leaves, or of its keys if the other version has some.
func likeness(n *jsondoc.Node, c cursor) []mark {
	if c.place != nil && len(c.place.Keys) > 0 {
		all := make([]mark, 0, len(c.place.Keys))
		for _, field := range c.place.Keys {
			if value, err := n.Member(field); err == nil && value != nil {
				all = append(all, leafMark(begun(offset64, field), value))
			}
		}
		if len(all) == len(c.place.Keys) {
			return all
		}
	}
	const usual = 8
	return leaves(make([]mark, 0, usual), offset64, n)
}

// leaves appends the marks of all leaves of a value. Name is the beginning of a hash of its name.
func leaves(all []mark, name uint64, n *jsondoc.Node) []mark {
	if !isContainer(n) {
		return append(all, leafMark(name, n))
	}
	_ = n.Filter(func(member []byte, m jsondoc.Member) bool {
		if len(all) < maxAlike {
			all = leaves(all, begun(begun(name, "."), member), m.Node())
		}
		return true
	})
	return all
}

func leafMark(name uint64, n *jsondoc.Node) mark {
	var room [16]byte
	return markOf(hashed(ended(name), stampOf(digest(n)).appendTo(room[:0])))
}

// isLike reports whether an edited element is still the kept one: half of its leaves are the same.
func (k *keptElement) isLike(n *jsondoc.Node, c cursor) bool {
	was := slices.Clone(k.alike)
	total, found := len(was), 0
	for _, field := range likeness(n, c) {
		if i := slices.Index(was, field); i >= 0 {
			was = slices.Delete(was, i, i+1)
			found++
		}
	}
	return total > 0 && 2*found >= total
}

func (l *listEntry) appendJSON(dst []byte) []byte {
	dst = strconv.AppendInt(append(dst, `{"length":`...), int64(l.length), 10)
	for i, e := range l.elements {
		if i == 0 {
			dst = append(dst, `,"elements":{`...)
		} else {
			dst = append(dst, ',')
		}
		dst = e.appendJSON(dst)
	}
	if len(l.elements) > 0 {
		dst = append(dst, '}')
	}
	return append(appendAdded(dst, l.added), '}')
}

func (k *keptElement) appendJSON(dst []byte) []byte {
	dst = append(strconv.AppendInt(append(dst, '"'), int64(k.index), 10), `":{"was":"`...)
	dst = append(k.was.appendTo(dst), '"')
	if len(k.kept) > 0 {
		dst = appendEntries(append(dst, `,"kept":`...), k.kept, 0)
	}
	for i, m := range k.alike {
		dst = append(dst, []string{`,"alike":"`, " "}[min(i, 1)]...)
		dst = append(dst, m.text()...)
	}
	if len(k.alike) > 0 {
		dst = append(dst, '"')
	}
	return append(dst, '}')
}
