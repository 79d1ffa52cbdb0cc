package keep

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// lists compares two lists: by the keys of the elements if there are some, or else by what they show.
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
	d.keep(&Entry{value: x.Text()}, g, c)
}

// keyedLists compares two lists by the fields of their keys that all elements have, and reports whether these are keys.
func (d *differ) keyedLists(x, g []*jsondoc.Node, c cursor) bool {
	fields := common(c.keys(), x, g)
	if len(fields) == 0 {
		return false
	}
	keysOfX, keysOfG := distinctKeys(x, fields), distinctKeys(g, fields)
	if keysOfX == nil || keysOfG == nil {
		return false
	}
	d.both(c)
	at := make(map[string]int, len(g))
	for j, keys := range keysOfG {
		at[index(keys)] = j
	}
	var lone []int // elements that only x has
	has := make(map[string]bool, len(x))
	for i, e := range x {
		k := index(keysOfX[i])
		has[k] = true
		if j, found := at[k]; found {
			d.element(e, g[j], keysOfX[i], c, c.paired(j, len(g)))
		} else {
			lone = append(lone, i)
			d.element(e, nil, keysOfX[i], c, -1)
		}
	}
	var order [][]Key // in which the elements return by themselves
	for j, e := range g {
		if has[index(keysOfG[j])] {
			order = append(order, keysOfG[j])
		} else {
			d.element(nil, e, keysOfG[j], c, c.paired(j, len(g)))
		}
	}
	for _, i := range lone {
		order = append(order, keysOfX[i])
	}
	if len(lone) > 1 || !slices.EqualFunc(order, keysOfX, slices.Equal) {
		d.add(&Entry{kind: isOrder, order: keysOfX, lone: lone, base: orderBase(keysOfG)}, c)
	}
	return true
}

// keepList keeps what is to be kept of a list without keys. If the list belongs to a unit, the elements that only x has depend on
// it.
func (d *differ) keepList(l *listEntry, c cursor) {
	e := &Entry{kind: isList, list: l}
	if c.hasUnit() {
		d.keep(e, nil, c)
		return
	}
	d.add(e, c)
}

// common returns those of some fields that all elements of some lists have: the other version may not know all.
func common(fields []string, lists ...[]*jsondoc.Node) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(field string) bool {
		return slices.ContainsFunc(lists, func(list []*jsondoc.Node) bool {
			return slices.ContainsFunc(list, func(e *jsondoc.Node) bool {
				_, ok := keysOf(e, []string{field})
				return !ok
			})
		})
	})
}

// distinctKeys returns the keys of elements, or nil unless each has its own.
func distinctKeys(list []*jsondoc.Node, fields []string) [][]Key {
	all, seen := make([][]Key, len(list)), make(map[string]bool, len(list))
	for i, e := range list {
		keys, ok := keysOf(e, fields)
		if !ok || seen[index(keys)] {
			return nil
		}
		all[i], seen[index(keys)] = keys, true
	}
	return all
}

// element compares two elements with the same keys, either of which may be nil; the index is that of the counterpart.
func (d *differ) element(x, g *jsondoc.Node, keys []Key, c cursor, index int) {
	if d.stopped() || !d.unknown && x.SameText(g) {
		return
	}
	e := c.element(len(d.path)+1, index)
	in := d.in
	d.push(Step{Keys: keys}, g)
	switch {
	case x == nil && e.place.dropped():
	case x == nil:
		d.keep(&Entry{kind: isAbsent}, g, e)
	case g == nil:
		d.onlyElement(x, keys, e)
	default:
		d.value(x, g, e)
	}
	d.pop()
	d.in = in
}

func (p *Place) dropped() bool { return p != nil && p.Dropped }

// onlyElements keeps the elements of a list that the way back does not give, and reports whether they have keys.
func (d *differ) onlyElements(list []*jsondoc.Node, c cursor) bool {
	fields := common(c.keys(), list)
	keys := distinctKeys(list, fields)
	if len(list) == 0 || len(fields) == 0 || keys == nil {
		return false
	}
	for i, e := range list {
		d.element(e, nil, keys[i], c, -1)
	}
	if len(list) > 1 {
		d.add(&Entry{kind: isOrder, order: keys}, c)
	}
	return true
}

// onlyBehindFirst keeps a list of which a rule picks the first element: that may come to have what the rule makes.
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

// onlyElement keeps that an element is there, and what it has beside its keys: it stays when the owner of one of these gives it up.
func (d *differ) onlyElement(x *jsondoc.Node, keys []Key, c cursor) {
	isKey := func(name string) bool { return slices.ContainsFunc(keys, func(k Key) bool { return k.Name == name }) }
	if d.coarse && !c.hasDropped() {
		d.keep(&Entry{value: x.Text()}, nil, c)
		return
	}
	if !c.place.dropped() {
		d.keep(&Entry{value: []byte("{}")}, nil, c)
	}
	d.members(x, nil, c, isKey)
}

func orderBase(keys [][]Key) string {
	if len(keys) == 0 {
		return ""
	}
	var text []byte
	for _, k := range keys {
		text = appendKeys(text, k)
	}
	return digestString(hash("order", string(text)))
}

// A listEntry is what was kept of a list without keys: of the elements that the way back gave, by what they showed.
type listEntry struct {
	was   []string         // digests of the elements
	parts map[int][]*Entry // by the index in was: what was kept of an element
	// alike has short digests of what those showed: an edited element is the same one if half of them are.
	alike map[int][]string
	extra []extra // the elements that the way back does not give
}

// An extra element stands behind an element that the way back gives, or at the beginning: -1.
type extra struct {
	after int
	value []byte
}

// maxElements bounds for how many elements of a list it is said what they showed: a list with more is kept as a whole, and
// returns as long as nobody has edited it.
const maxElements = 1 << 14

// maxNested bounds how many lists without keys are in each other for what their elements keep to be told apart: to read such an
// annotation takes time in proportion to it and to how deep it is.
const maxNested = 8

// unkeyed compares two lists element by element, or returns nil where it cannot be told which is which.
func (d *differ) unkeyed(was, now []*jsondoc.Node, c cursor) *listEntry {
	if len(was) > maxElements || len(now) > maxElements || d.within >= maxNested {
		return nil
	}
	at := d.inOrder(was, now)
	if at == nil || !sameKeys(was, now, at, c.keys()) {
		return nil
	}
	l := &listEntry{parts: map[int][]*Entry{}, alike: map[int][]string{}}
	after, next := -1, 0
	for j, g := range now {
		if d.stopped() {
			return nil
		}
		for ; next < at[j]; next++ {
			l.extra = append(l.extra, extra{after, was[next].Text()})
		}
		e := c.anElement(c.paired(j, len(now)))
		l.was = append(l.was, digestText(g))
		if kept := d.part(was[at[j]], g, e); len(kept) > 0 {
			l.parts[j], l.alike[j] = kept, likeness(g, e)
		}
		after, next = j, at[j]+1
	}
	for ; next < len(was); next++ {
		l.extra = append(l.extra, extra{after, was[next].Text()})
	}
	return l
}

// sameKeys reports whether what tells elements apart is the same in those of two lists that are taken for each other.
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

// anElement is an element of a list without keys, where paths start anew.
func (c cursor) anElement(index int) cursor { return c.element(0, index).alone() }

// alone is a place where paths start anew.
func (c cursor) alone() cursor {
	if c.scope, c.unitAt, c.unitScope = 0, 0, 0; !c.place.scoped() {
		c.unit = nil
	}
	return c
}

func (p *Place) scoped() bool { return p != nil && p.Scope }

// inOrder returns for each element that the way back gives which one of x it is: it leaves elements and parts of them out.
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

// covers reports whether all of a value is in another, elements of a list in their order.
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

// maxAlike bounds how many digests say what an element is like.
const maxAlike = 64

// likeness returns short digests of what an element shows, leaf by leaf, in no order; or those of its keys, if the elements of the
// other version have some.
func likeness(n *jsondoc.Node, c cursor) []string {
	var all []string
	if c.place != nil && len(c.place.Keys) > 0 {
		for _, field := range c.place.Keys {
			if value, err := n.Member(field); err == nil && value != nil {
				all = append(all, shortDigest(field, value))
			}
		}
		if len(all) == len(c.place.Keys) {
			return all
		}
	}
	return leaves(nil, "", n)
}

func leaves(all []string, name string, n *jsondoc.Node) []string {
	if kind := n.Kind(); kind != jsondoc.Map && kind != jsondoc.Array {
		return append(all, shortDigest(name, n))
	}
	_ = n.Each(func(member string, value *jsondoc.Node) bool {
		all = leaves(all, name+"."+member, value)
		return len(all) < maxAlike
	})
	return all
}

func shortDigest(name string, n *jsondoc.Node) string {
	const short = 5
	text := digestString(hash(name, digestText(n)))
	return text[:min(short, len(text))]
}

func (l *listEntry) appendJSON(dst []byte) []byte {
	dst = jsondoc.AppendString(append(dst, `{"was":`...), strings.Join(l.was, " "))
	if len(l.parts) > 0 {
		dst = append(dst, `,"parts":{`...)
		for i, j := range slices.Sorted(maps.Keys(l.parts)) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsondoc.AppendString(dst, strconv.Itoa(j)), `:{"kept":`...)
			dst = appendEntries(dst, l.parts[j], 0)
			if len(l.alike[j]) > 0 {
				dst = jsondoc.AppendString(append(dst, `,"alike":`...), strings.Join(l.alike[j], " "))
			}
			dst = append(dst, '}')
		}
		dst = append(dst, '}')
	}
	if len(l.extra) > 0 {
		dst = appendArray(append(dst, `,"extra":`...), l.extra, func(dst []byte, e extra) []byte {
			dst = strconv.AppendInt(append(dst, `{"after":`...), int64(e.after), 10)
			return append(append(append(dst, `,"value":`...), e.value...), '}')
		})
	}
	return append(dst, '}')
}

// parseList reads what appendJSON wrote, and reports whether it is that.
func parseList(n *jsondoc.Node, within int) (*listEntry, bool) {
	if within >= maxNested {
		return nil, false
	}
	l := &listEntry{parts: map[int][]*Entry{}, alike: map[int][]string{}}
	ok := every(n, jsondoc.Map, func(name string, v *jsondoc.Node) (ok bool) {
		switch name {
		case "was":
			l.was, ok = parseWords(v)
		case "parts":
			ok = every(v, jsondoc.Map, func(name string, part *jsondoc.Node) bool {
				j, err := strconv.Atoi(name)
				return err == nil && l.parsePart(j, part, within+1)
			})
		case "extra":
			l.extra, ok = parseArray(v, parseExtra)
		}
		return ok
	})
	return l, ok && len(l.was) <= maxElements
}

func parseWords(n *jsondoc.Node) ([]string, bool) {
	text, ok := n.Str()
	return strings.Fields(text), ok
}

func (l *listEntry) parsePart(j int, n *jsondoc.Node, within int) bool {
	return every(n, jsondoc.Map, func(name string, v *jsondoc.Node) (ok bool) {
		switch name {
		case "kept":
			l.parts[j], ok = parseEntries(v, nil, within)
		case "alike":
			l.alike[j], ok = parseWords(v)
		}
		return ok
	})
}

func parseExtra(n *jsondoc.Node) (extra, bool) {
	after, err := n.Member("after")
	value, errValue := n.Member("value")
	i, ok := parseInt(after)
	return extra{i, value.Text()}, ok && err == nil && errValue == nil && value != nil
}
