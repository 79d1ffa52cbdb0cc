package keep

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// lists compares two lists, by keys if the elements have some, otherwise by what the elements show.
func (d *differ) lists(x, g *jsondoc.Node, c cursor) {
	if len(c.keys()) > 0 && d.keyedLists(d.elements(x), d.elements(g), c) || !d.unknown && same(x, g) {
		return
	}
	if e := d.unkeyed(d.elements(x), d.elements(g), c); e != nil {
		if len(e.parts) > 0 || len(e.extra) > 0 {
			d.keepList(e, c)
		}
		return
	}
	d.keep(Entry{value: x.Text()}, g, c)
}

// keyedLists compares two lists by the key fields that all elements have, and reports whether these
// identify them.
func (d *differ) keyedLists(was, now []*jsondoc.Node, c cursor) bool {
	x, g, ok := byKeys(was, now, c)
	if !ok {
		return false
	}
	d.both(c)
	inG, inX := indexOf(g.keys), indexOf(x.keys)
	var lone []int // elements that only x has
	peers := newPeers(c, len(now))
	for i, e := range x.elements {
		if j := inG.find(x.keys[i], i); j >= 0 {
			d.element(e, now[j], x.keys[i], c, peers, j)
		} else {
			lone = append(lone, i)
			d.element(e, nil, x.keys[i], c, peers, -1)
		}
	}
	// The elements would have this order if nothing was kept of it: those of g, then lone ones.
	place, sorted := 0, true
	for j, e := range g.elements {
		if i := inX.find(g.keys[j], place); i >= 0 {
			sorted = sorted && i == place
			place++
		} else {
			d.element(nil, e, g.keys[j], c, peers, j)
		}
	}
	sorted = sorted && (len(lone) == 0 || lone[0] == place)
	if len(lone) > 1 || !sorted || len(x.extra) > 0 {
		d.add(Entry{kind: isOrder, order: x.keys, lone: lone, extra: x.extra, base: one(orderBase(g.keys))}, c)
	}
	return true
}

// keepList keeps the entry of a list without keys. If the list belongs to a unit, its extra
// elements depend on that.
func (d *differ) keepList(l *listEntry, c cursor) {
	e := Entry{kind: isList, list: l}
	if c.hasUnit() {
		d.keep(e, nil, c)
		return
	}
	d.add(e, c)
}

// common returns the fields that all elements of the lists have. The other version may not know
// all.
func common(fields []string, lists ...[]*jsondoc.Node) []string {
	lack := func(field string) bool {
		return slices.ContainsFunc(lists, func(list []*jsondoc.Node) bool {
			return slices.ContainsFunc(list, func(e *jsondoc.Node) bool { return !hasKey(e, field) })
		})
	}
	if !slices.ContainsFunc(fields, lack) {
		return fields
	}
	return slices.DeleteFunc(slices.Clone(fields), lack)
}

// hasKey reports whether an element has a key field.
func hasKey(e *jsondoc.Node, field string) bool {
	value, err := e.Member(field)
	if kind := value.Kind(); err != nil || kind != jsondoc.String && kind != jsondoc.Bool {
		_, ok := keyText(value, "")
		return ok && err == nil
	}
	return true
}

// distinctKeys returns the keys of all elements, or nil unless they differ. They are like others as
// far as they have the same text.
func distinctKeys(list []*jsondoc.Node, fields []string, like [][]Key) [][]Key {
	all, room := make([][]Key, 0, len(list)), make([]Key, 0, len(list)*len(fields))
	for i, e := range list {
		var others []Key
		if i < len(like) {
			others = like[i]
		}
		first := len(room)
		keys, ok := appendKeysOf(room, e, fields, others)
		if !ok {
			return nil
		}
		room = keys
		all = append(all, keys[first:len(keys):len(keys)])
	}
	if !areDifferent(all) {
		return nil
	}
	return all
}

func areDifferent(all [][]Key) bool {
	if len(all) > fewKeys {
		seen := make(map[string]bool, len(all))
		for _, keys := range all {
			seen[index(keys)] = true
		}
		return len(seen) == len(all)
	}
	for i, keys := range all {
		if slices.ContainsFunc(all[:i], func(other []Key) bool { return slices.Equal(other, keys) }) {
			return false
		}
	}
	return true
}

// element compares two elements with the same keys, one of which may be nil. At is the index of
// that of g, or -1.
func (d *differ) element(x, g *jsondoc.Node, keys []Key, c cursor, all *peers, at int) {
	if d.stopped() || !d.unknown && x.SameText(g) {
		return
	}
	peer, tracked := all.find(keys, at)
	e := c.keyedElement(len(d.path)+1, d.scopes[len(d.path)], peer, tracked)
	in := d.in
	d.push(Step{Keys: keys}, g)
	switch {
	case x == nil && e.place.dropped():
	case x == nil:
		d.keep(Entry{kind: isAbsent}, g, e)
	case g == nil:
		d.onlyElement(x, keys, e)
	default:
		d.value(x, g, e)
	}
	d.pop()
	d.in = in
}

func (p *Place) dropped() bool { return p != nil && p.Dropped }

// onlyElements keeps the elements of a list that g lacks, and reports whether they have keys.
func (d *differ) onlyElements(list []*jsondoc.Node, c cursor) bool {
	x, _, ok := byKeys(list, nil, c)
	if len(list) == 0 || !ok {
		return false
	}
	peers := newPeers(c, len(list))
	for i, e := range x.elements {
		d.element(e, nil, x.keys[i], c, peers, -1)
	}
	if len(list) > 1 {
		d.add(Entry{kind: isOrder, order: x.keys, extra: x.extra}, c)
	}
	return true
}

// onlyBehindFirst keeps a list whose first element a rule picks and may make again.
func (d *differ) onlyBehindFirst(list []*jsondoc.Node, c cursor) bool {
	if c.required() || !c.place.First || len(list) == 0 || list[0].Kind() != jsondoc.Map {
		return false
	}
	nothing, err := parsed([]byte("{}"))
	d.note(err)
	l := d.unkeyed(list, []*jsondoc.Node{nothing}, c)
	if l == nil {
		return false
	}
	d.keepList(l, c)
	return true
}

// onlyElement keeps the element itself and its fields one by one: it stays when their owner gives
// one up.
func (d *differ) onlyElement(x *jsondoc.Node, keys []Key, c cursor) {
	isKey := func(name string) bool { return slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name }) }
	in := 0
	if c.peer != nil && !c.shownAlone { // an edit that removes the counterpart removes the element
		in, d.in = len(d.path), len(d.path)
	}
	if d.coarse && !c.place.drops() {
		d.keep(Entry{value: x.Text(), in: in}, nil, c)
		return
	}
	if !c.place.dropped() {
		d.keep(Entry{value: []byte("{}"), in: in}, nil, c)
	}
	d.members(x, nil, c, isKey)
}

func orderBase(keys [][]Key) stamp {
	if len(keys) == 0 {
		return stamp{}
	}
	var room [256]byte
	text := room[:0]
	for _, k := range keys {
		text = appendKeys(text, k)
	}
	return stampOf(hashed(hash("order"), text))
}

// A listEntry is what is kept of a list without keys. Elements of g are known by their digests.
type listEntry struct {
	was   []stamps   // digests of the elements of g
	parts []listPart // in the order of the elements
	extra []extra    // the elements that g lacks
}

// A listPart has the entries of the element at an index in was.
type listPart struct {
	at   int
	kept []*Entry
	// alike has a short digest for each leaf. An edited element is the same if half of them are.
	alike []mark
}

// part returns the part of an element, which may be empty.
func (l *listEntry) part(at int) listPart {
	if i, found := slices.BinarySearchFunc(l.parts, at, func(p listPart, at int) int { return cmp.Compare(p.at, at) }); found {
		return l.parts[i]
	}
	return listPart{}
}

// An extra element follows the element of g at an index, or is before all: -1.
type extra struct {
	after int
	value []byte
}

// maxElements limits the elements with digests. A longer list is kept as a whole, and returns until
// it is edited.
const maxElements = 1 << 14

// maxNested limits how deep lists without keys are compared element by element: reading an
// annotation takes time in proportion to its size and depth.
const maxNested = 8

// unkeyed compares two lists element by element. It returns nil if it cannot match the elements.
func (d *differ) unkeyed(was, now []*jsondoc.Node, c cursor) *listEntry {
	if len(was) > maxElements || len(now) > maxElements || d.within >= maxNested {
		return nil
	}
	at := d.inOrder(was, now)
	if at == nil || !sameKeys(was, now, at, c.keys()) {
		return nil
	}
	l := &listEntry{was: make([]stamps, 0, len(now))}
	after, next := -1, 0
	for j, g := range now {
		if d.stopped() {
			return nil
		}
		for ; next < at[j]; next++ {
			l.extra = append(l.extra, extra{after, was[next].Text()})
		}
		e := c.anElement(j, len(now))
		l.was = append(l.was, one(stampOf(digest(g))))
		if kept := d.part(was[at[j]], g, e); len(kept) > 0 {
			l.parts = append(l.parts, listPart{j, kept, likeness(g, e)})
		}
		after, next = j, at[j]+1
	}
	for ; next < len(was); next++ {
		l.extra = append(l.extra, extra{after, was[next].Text()})
	}
	return l
}

// sameKeys reports whether matched elements have the same fields that identify them.
func sameKeys(was, now []*jsondoc.Node, at []int, fields []string) bool {
	for j, i := range at {
		for _, field := range fields {
			x, err := was[i].Member(field)
			g, errNow := now[j].Member(field)
			if err != nil || errNow != nil || !same(x, g) {
				return false
			}
		}
	}
	return true
}

// anElement moves to an element of a list of n without keys, where paths start again.
func (c cursor) anElement(index, n int) cursor {
	peer, tracked := c.paired(index, n)
	return c.element(0, peer, tracked).alone()
}

// alone returns the cursor with paths starting again.
func (c cursor) alone() cursor {
	if c.scope, c.unitAt, c.unitScope = 0, 0, 0; !c.place.scoped() {
		c.unit = nil
	}
	return c
}

func (p *Place) scoped() bool { return p != nil && p.Scope }

// inOrder returns the index in x of each element of g, which lacks some elements and some of their
// parts, or nil.
func (d *differ) inOrder(was, now []*jsondoc.Node) []int {
	at, i := make([]int, len(now)), 0
	for j := range now {
		for len(was) != len(now) && i < len(was) && !d.covers(was[i], now[j]) {
			i++
		}
		if i == len(was) {
			return nil
		}
		at[j] = i
		i++
	}
	return at
}

// covers reports whether a value has all of another, with elements in their order.
func (d *differ) covers(all, part *jsondoc.Node) bool {
	switch {
	case d.stopped():
		return false
	case all.Kind() == jsondoc.Map && part.Kind() == jsondoc.Map:
		covered := true
		err := part.Each(func(name string, value *jsondoc.Node) bool {
			other, err := all.Member(name)
			covered = err == nil && other != nil && d.covers(other, value)
			return covered
		})
		return covered && err == nil
	case all.Kind() == jsondoc.Array && part.Kind() == jsondoc.Array:
		was, err := all.Elements()
		now, errNow := part.Elements()
		return err == nil && errNow == nil && d.inOrder(was, now) != nil
	}
	return same(all, part)
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
	if kind := n.Kind(); kind != jsondoc.Map && kind != jsondoc.Array {
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

func (l *listEntry) appendJSON(dst []byte) []byte {
	dst = append(dst, `{"was":"`...)
	for i, was := range l.was {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = was.appendTo(dst)
	}
	dst = append(dst, '"')
	if len(l.parts) > 0 {
		dst = append(dst, `,"parts":{`...)
		for i, p := range l.parts {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(strconv.AppendInt(append(dst, '"'), int64(p.at), 10), `":{"kept":`...)
			dst = append(p.appendAlike(appendEntries(dst, p.kept, 0)), '}')
		}
		dst = append(dst, '}')
	}
	dst = appendExtra(dst, l.extra)
	return append(dst, '}')
}

func (p *listPart) appendAlike(dst []byte) []byte {
	if len(p.alike) == 0 {
		return dst
	}
	dst = append(dst, `,"alike":"`...)
	for i, m := range p.alike {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, m.text()...)
	}
	return append(dst, '"')
}
