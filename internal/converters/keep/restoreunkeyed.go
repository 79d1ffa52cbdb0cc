package keep

import (
	"slices"
	"sort"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A matchedList is a list without keys whose elements are matched with those of a kept list.
type matchedList struct {
	elementMatch

	parts  []*trie
	cursor cursor // of the elements
	list   cursor
	added  bool // the elements that only this version had return
}

// list finds the elements that are still in a list, and decides which of their entries return.
func (r *restorer) list(entry *annotation.Entry, n *jsondoc.Node, c cursor) *matchedList {
	list, element := r.elementsAt(n, c)
	if r.err != nil || len(list) > annotation.MaxElements {
		return nil
	}
	now := make([]annotation.Digest, len(list))
	for i, e := range list {
		now[i] = annotation.DigestOf(effective(element(i).visible(e)))
	}
	kept := entry.List.Elements
	first := c.place != nil && c.place.First
	m, err := matchElements(entry.List, now, func(k, i int) bool {
		n, _ := element(i).visible(list[i])
		return element(i).isLike(kept[k], n)
	}, r.deadline)
	if r.note(err); err != nil {
		return nil
	}
	if first && len(m.at) > 0 && len(m.from) > 0 && kept[0].Index == 0 && m.at[0] < 0 && m.from[0] < 0 {
		m.join(0, 0) // a rule addresses [0], so element 0 keeps its identity
	}
	found := &matchedList{elementMatch: m, cursor: element(-1), list: c, added: c.areInputs(r.listInputs(c, len(list)), entry)}
	for k, i := range m.at {
		entries := kept[k].Kept
		if first && i == 0 && kept[k].Index > 0 {
			entries = slices.DeleteFunc(slices.Clone(entries), func(e *annotation.Entry) bool { return element(0).mapsPart(e.Path) })
		}
		if i >= 0 && len(entries) > 0 && !r.stopped() {
			found.parts = append(found.parts, r.inElement(entries, list[i], element(i)))
		}
	}
	return found
}

// mapsPart reports whether a rule maps the part of an element that a path leads to.
func (c cursor) mapsPart(path annotation.Path) bool {
	if len(path) == 0 {
		return false
	}
	m := c.member(path[0].Name, 1, nil, nil)
	return m.place.moved() && (m.tracked || m.hasUnit())
}

// elementsAt returns the elements of a list, or the object that is an element in the other version,
// and their cursors.
func (r *restorer) elementsAt(n *jsondoc.Node, c cursor) (list []*jsondoc.Node, element func(i int) cursor) {
	if n.Kind() == jsondoc.Map {
		return []*jsondoc.Node{n}, func(int) cursor { return c.alone() }
	}
	list = r.elements(n)
	return list, func(i int) cursor {
		if i < 0 {
			return c.unkeyedElement(-1, nil, nil, n)
		}
		return c.unkeyedElement(i, list[i], nil, n)
	}
}

// inElement decides which entries of an element return.
func (r *restorer) inElement(kept []*annotation.Entry, n *jsondoc.Node, c cursor) *trie {
	sub := &restorer{walker: r.startingAt(n), done: r.done}
	t := r.memory.trie(kept)
	sub.visit(t, n, c)
	r.note(sub.err)
	return t
}

// applyList restores entries in the elements that are still there, and added elements behind them.
func (r *restorer) applyList(found *matchedList, l *annotation.ListEntry, n *jsondoc.Node) {
	if found == nil {
		return
	}
	for _, t := range found.parts {
		if !t.valid || t.entry.Kind != annotation.KindAbsent {
			r.apply(t, t.node)
		}
	}
	if n.Kind() == jsondoc.Array && found.added {
		r.add(l, n, found)
	}
}

// add inserts the elements that only this version had behind the ones they followed, as far as
// those are left.
func (r *restorer) add(l *annotation.ListEntry, n *jsondoc.Node, found *matchedList) {
	list := r.elements(n)
	d := newDistinct(found.list.schema, list)
	follow := map[int][][]byte{} // by present index
	last := slices.Clone(found.at)
	for k := 1; k < len(last); k++ {
		if last[k] < 0 {
			last[k] = last[k-1]
		}
	}
	for _, e := range l.Added {
		if !found.cursor.fits(e.Value) || !d.addText(e.Value) {
			continue
		}
		at := -1
		if k := sort.Search(len(l.Elements), func(k int) bool { return l.Elements[k].Index > e.After }); k > 0 {
			if at = last[k-1]; at < 0 {
				at = min(e.After, len(list)) - 1 // the element that it followed is gone
			}
		}
		follow[at] = append(follow[at], e.Value)
	}
	if len(follow) == 0 {
		return
	}
	texts := slices.Clone(follow[-1])
	for k, e := range list {
		texts = append(append(texts, e.Text()), follow[k]...)
	}
	r.replace(n, arrayOf(texts))
}
