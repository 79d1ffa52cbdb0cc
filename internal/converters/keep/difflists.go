package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/keep/hash"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// lists compares two lists, by keys if those of g identify its elements, otherwise by what the
// other version shows of the elements.
func (d *differ) lists(x, g *jsondoc.Node, c cursor) {
	if d.keyed(d.elements(x), d.elements(g), c) || !d.Unknown && same(x, g) {
		return
	}
	e := d.unkeyed(d.elements(x), d.elements(g), c)
	switch {
	case e == nil:
		d.keep(annotation.Entry{Value: x.Text()}, g, c)
	case len(e.Elements) > 0 || len(e.Added) > 0:
		d.keepList(e, c)
	}
}

// keepList keeps the entry of a list without keys.
func (d *differ) keepList(l *annotation.ListEntry, c cursor) {
	e := annotation.Entry{Kind: annotation.KindList, List: l}
	if len(l.Added) > 0 {
		e.Inputs = c.ofObject(d.listInputs(c, l.Length))
	}
	d.add(e, c)
}

// keyed compares two lists whose elements are known by their keys in g: nothing else can be found
// again. It reports whether g's keys identify its elements.
func (d *differ) keyed(was, now []*jsondoc.Node, c cursor) bool {
	fields := common(c.keys(), now, c.schema.Items())
	keys := distinctKeys(now, fields, c.schema.Items())
	if len(fields) == 0 || keys == nil {
		return false
	}
	m := matchKeys(was, keys, fields, c)
	if len(was) > 0 && !slices.ContainsFunc(m.keys, func(k []annotation.Key) bool { return k != nil }) {
		return false
	}
	for i, e := range was {
		switch j := m.of[i]; {
		case j >= 0:
			d.element(e, now[j], keys[j], c, j)
		case m.keys[i] != nil:
			d.element(e, nil, m.keys[i], c, -1)
		}
	}
	for j, e := range now {
		if m.from[j] < 0 {
			d.element(nil, e, keys[j], c, j)
		}
	}
	d.order(was, keys, m, c)
	return true
}

// A keyMatch says which elements of a list are which ones of g's list.
type keyMatch struct {
	of   []int              // the index in g of each element, or -1
	from []int              // the other way round
	keys [][]annotation.Key // of each element: those in g, or its own if only it has them; nil if nothing identifies it
}

// matchKeys matches elements with the same keys. If as many are left on both sides, a rule has
// given them other keys: they match in their order, apart from those that a rule picks.
func matchKeys(was []*jsondoc.Node, now [][]annotation.Key, fields []string, list cursor) keyMatch {
	m := keyMatch{slices.Repeat([]int{-1}, len(was)), slices.Repeat([]int{-1}, len(now)), make([][]annotation.Key, len(was))}
	inNow := indexOf(now)
	var left []int
	malformed := false // an element lacks the keys that the schema demands
	for i, e := range was {
		if i < len(now) && m.from[i] < 0 && hasKeys(e, now[i], list.schema.Items()) {
			m.join(i, i, now)
			continue
		}
		own, ok := keysOf(e, fields, list.schema.Items())
		j := -1
		if ok {
			j = inNow.find(own, i)
		}
		if j < 0 || m.from[j] >= 0 {
			left = append(left, i)
			malformed = malformed || !ok && len(list.schema.ListMapKeys()) > 0
			if ok && j < 0 {
				m.keys[i] = own
			}
			continue
		}
		m.join(i, j, now)
	}
	var free []int
	for j, i := range m.from {
		if i < 0 && !list.place.picks(now[j]) {
			free = append(free, j)
		}
	}
	if len(free) == len(left) && !malformed && !slices.ContainsFunc(left, func(i int) bool { return was[i].Kind() != jsondoc.Map }) {
		for k, i := range left {
			m.join(i, free[k], now)
		}
		return m
	}
	seen := map[string]bool{}
	for _, i := range left {
		if m.keys[i] != nil && seen[index(m.keys[i])] {
			m.keys[i] = nil
		} else if m.keys[i] != nil {
			seen[index(m.keys[i])] = true
		}
	}
	return m
}

func (m *keyMatch) join(i, j int, now [][]annotation.Key) {
	m.of[i], m.from[j], m.keys[i] = j, i, now[j]
}

// order keeps the order of a list with keys, and the elements that no key identifies, unless the
// list has that order anyway: g's elements, then one that only x has.
func (d *differ) order(was []*jsondoc.Node, now [][]annotation.Key, m keyMatch, c cursor) {
	e := annotation.Entry{Kind: annotation.KindOrder}
	last, only, sorted := -1, 0, true
	for i, keys := range m.keys {
		switch {
		case keys == nil:
			e.Added = append(e.Added, annotation.Added{After: len(e.Order) - 1, Value: was[i].Text()})
			continue
		case m.of[i] < 0:
			only++
		default:
			sorted = sorted && only == 0 && m.of[i] > last
			last = m.of[i]
		}
		e.Order = append(e.Order, keys)
	}
	if only > 1 || !sorted || len(e.Added) > 0 {
		e.Inputs = orderOf(now)
		d.add(e, c)
	}
}

// orderOf returns the digest of the order of a list's elements.
func orderOf(keys [][]annotation.Key) annotation.Digest {
	if len(keys) == 0 {
		return annotation.Digest{}
	}
	var room [256]byte
	text := room[:0]
	for _, k := range keys {
		text = annotation.AppendKeys(text, k)
	}
	return annotation.DigestOf(hash.Add(hash.Of("order"), text))
}

// common returns the fields that all elements of a list have. The other version may not know all.
func common(fields []string, list []*jsondoc.Node, s *crdschema.Node) []string {
	lack := func(field string) bool {
		return slices.ContainsFunc(list, func(e *jsondoc.Node) bool { return !hasKey(e, field, s) })
	}
	if !slices.ContainsFunc(fields, lack) {
		return fields
	}
	return slices.DeleteFunc(slices.Clone(fields), lack)
}

// distinctKeys returns the keys of all elements, or nil unless they differ.
func distinctKeys(list []*jsondoc.Node, fields []string, s *crdschema.Node) [][]annotation.Key {
	all, room := make([][]annotation.Key, 0, len(list)), make([]annotation.Key, 0, len(list)*len(fields))
	for _, e := range list {
		first := len(room)
		keys, ok := appendKeysOf(room, e, fields, s)
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

func areDifferent(all [][]annotation.Key) bool {
	if len(all) > fewKeys {
		seen := make(map[string]bool, len(all))
		for _, keys := range all {
			seen[index(keys)] = true
		}
		return len(seen) == len(all)
	}
	for i, keys := range all {
		if slices.ContainsFunc(all[:i], func(other []annotation.Key) bool { return slices.Equal(other, keys) }) {
			return false
		}
	}
	return true
}

// element compares two elements, one of which may be nil. Index is that in g, or -1.
func (d *differ) element(x, g *jsondoc.Node, keys []annotation.Key, c cursor, index int) {
	if d.stopped() || !d.Unknown && x.SameText(g) {
		return
	}
	at := at{index: index, shown: g, own: x, keys: keys}
	if g == nil {
		at.counterpart = d.counterpart(c, keys)
	}
	e := c.element(len(d.path)+1, d.shown(), at)
	d.push(annotation.PathElement{Keys: keys}, g)
	switch {
	case e.place.dropped():
	case x == nil:
		d.keep(annotation.Entry{Kind: annotation.KindAbsent}, g, e)
	case g == nil:
		d.onlyElement(x, keys, e)
	default:
		d.value(x, g, e)
	}
	d.pop()
}

// onlyKeyed keeps the elements of a list that g lacks, and reports whether they have keys.
func (d *differ) onlyKeyed(list []*jsondoc.Node, c cursor) bool {
	fields := common(c.keys(), list, c.schema.Items())
	if len(list) == 0 || len(fields) == 0 {
		return false
	}
	m := matchKeys(list, nil, fields, c)
	for i, e := range list {
		if m.keys[i] != nil {
			d.element(e, nil, m.keys[i], c, -1)
		}
	}
	if len(list) > 1 {
		d.order(list, nil, m, c)
	}
	return true
}

// onlyBehindFirst keeps a list whose first element a rule picks and may make again.
func (d *differ) onlyBehindFirst(list []*jsondoc.Node, c cursor) bool {
	if !c.place.hasFirst() || len(list) == 0 || list[0].Kind() != jsondoc.Map {
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
func (d *differ) onlyElement(x *jsondoc.Node, keys []annotation.Key, c cursor) {
	if d.coarse && !c.place.drops() {
		d.keep(annotation.Entry{Value: x.Text()}, nil, c)
		return
	}
	d.keep(annotation.Entry{Value: []byte("{}")}, nil, c)
	d.members(x, nil, c, func(name string) bool {
		return slices.ContainsFunc(keys, func(k annotation.Key) bool { return k.Name == name })
	})
	d.withoutDefaults(x, c)
}

// unkeyed compares two lists element by element. It returns nil if it cannot match the elements.
func (d *differ) unkeyed(was, now []*jsondoc.Node, c cursor) *annotation.ListEntry {
	if len(was) > annotation.MaxElements || len(now) > annotation.MaxElements || d.within >= annotation.MaxNested {
		return nil
	}
	of := d.inOrder(was, now, c.schema.Items())
	if of == nil || c.place != nil && len(c.place.Picks) > 0 && !sameKeys(was, now, of, c.place.Keys) {
		return nil
	}
	l := &annotation.ListEntry{Length: len(now)}
	next := 0
	add := func(upTo, after int) {
		for ; next < upTo; next++ {
			l.Added = append(l.Added, annotation.Added{After: after, Value: was[next].Text()})
			if last := len(l.Elements) - 1; after >= 0 && (last < 0 || l.Elements[last].Index != after) {
				l.Elements = append(l.Elements, keptElement(after, now[after], c.unkeyedElement(after, now[after], was[of[after]], d.shown()), nil))
			}
		}
	}
	for j, g := range now {
		if d.stopped() {
			return nil
		}
		add(of[j], j-1)
		next = of[j] + 1
		e := c.unkeyedElement(j, g, was[of[j]], d.shown())
		if kept := d.inElement(was[of[j]], g, e); len(kept) > 0 {
			l.Elements = append(l.Elements, keptElement(j, g, e, kept))
		}
	}
	add(len(was), len(now)-1)
	return d.withTwins(l, was, now, of, c)
}

// maxTwins limits the elements that a list has only because of others.
const maxTwins = 64

// withTwins adds the elements that look like one of which something is kept. If that one is edited,
// what was kept of it would go to such an element.
func (d *differ) withTwins(l *annotation.ListEntry, was, now []*jsondoc.Node, of []int, c cursor) *annotation.ListEntry {
	known := make(map[annotation.Digest]bool, len(l.Elements))
	indexes := make(map[int]bool, len(l.Elements))
	for _, e := range l.Elements {
		known[e.Was], indexes[e.Index] = true, true
	}
	for j, twins := 0, 0; len(known) > 0 && j < len(now) && twins < maxTwins && !d.stopped(); j++ {
		if indexes[j] {
			continue
		}
		n, s := c.unkeyedElement(j, now[j], was[of[j]], d.shown()).visible(now[j])
		if twin := annotation.DigestOf(effective(n, s)); known[twin] {
			l.Elements = append(l.Elements, &annotation.Element{Index: j, Was: twin})
			twins++
		}
	}
	slices.SortFunc(l.Elements, func(a, b *annotation.Element) int { return a.Index - b.Index })
	return l
}

// sameKeys reports whether matched elements have the same fields that rules pick them by.
func sameKeys(was, now []*jsondoc.Node, of []int, fields []string) bool {
	for j, i := range of {
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

// unkeyedElement moves to an element of a list without keys, where paths start again.
func (c cursor) unkeyedElement(index int, g, x, list *jsondoc.Node) cursor {
	return c.element(0, list, at{index: index, shown: g, own: x}).alone()
}

// inOrder returns the index in x of each element of g, which lacks some elements and some of their
// parts, or nil. S is the schema of the elements.
func (d *differ) inOrder(was, now []*jsondoc.Node, s *crdschema.Node) []int {
	of, i := make([]int, len(now)), 0
	for j := range now {
		for len(was) != len(now) && i < len(was) && !d.covers(was[i], now[j], s) {
			i++
		}
		if i == len(was) {
			return nil
		}
		of[j] = i
		i++
	}
	return of
}

// covers reports whether a value has all of another but what its schema fills in, with elements in
// their order.
func (d *differ) covers(all, part *jsondoc.Node, s *crdschema.Node) bool {
	switch {
	case d.stopped():
		return false
	case all.Kind() == jsondoc.Map && part.Kind() == jsondoc.Map:
		covered := true
		err := part.Each(func(name string, value *jsondoc.Node) bool {
			other, err := all.Member(name)
			covered = err == nil && (fills(s.Property(name), value) || other != nil && d.covers(other, value, memberOf(s, name)))
			return covered
		})
		return covered && err == nil
	case all.Kind() == jsondoc.Array && part.Kind() == jsondoc.Array:
		was, err := all.Elements()
		now, errNow := part.Elements()
		return err == nil && errNow == nil && d.inOrder(was, now, s.Items()) != nil
	}
	return same(all, part)
}
