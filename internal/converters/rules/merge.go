package rules

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A stash has the value of a list or an object as a whole where its parts have no places of their own: only some of them are
// the other version's. When one of those is edited there, the others are still worth keeping. So the value is merged: what
// the way back gave when it was kept, against what it gives now, is the edit, and that is applied to what was kept.

// A merger merges values of one version. What it makes is only a proposal: like any entry of a stash, it counts if converting
// it gives what the object says now.
type merger struct{ r *run }

// A mergeable is a value three times: as the way back gave it, as it was kept, and as the way back gives it now; nil is absent.
type mergeable struct{ base, kept, now *jsondoc.Node }

func (m *mergeable) member(r *run, name string) mergeable {
	part := func(n *jsondoc.Node) *jsondoc.Node {
		if n.Kind() != jsondoc.Map {
			return nil
		}
		return r.member(n, name)
	}
	return mergeable{part(m.base), part(m.kept), part(m.now)}
}

// merge merges an entry with what the way back gave and gives now. It reports whether that is something new, and does it once.
func (m *merger) merge(k *kept, base, now *jsondoc.Node) bool {
	if k.merged || k.shape || k.value == nil {
		return false
	}
	text := m.entry(mergeable{m.r.find(base, k.path), k.value, m.r.find(now, k.path)}, k.place, k.spot)
	if text == nil {
		return false
	}
	merged, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), text, []byte("}")))
	m.r.note(err)
	if err != nil {
		return false
	}
	k.merged, k.value = true, m.r.member(merged.Node, exactly)
	return k.spot.admits(k.value)
}

// entry merges the value of an entry at a place of a program that goes from its version. An object or list that is gone now
// leaves what it had beside its visible parts.
func (m *merger) entry(v mergeable, p *place, s spot) []byte {
	if v.now == nil && v.base.Kind() == v.kept.Kind() && (v.kept.Kind() == jsondoc.Map || v.kept.Kind() == jsondoc.Array) {
		text := m.value(mergeable{v.base, v.kept, m.empty(v.kept.Kind())}, p, s)
		if len(text) <= len("{}") {
			return nil
		}
		return text
	}
	return m.value(v, p, s)
}

func (m *merger) empty(k jsondoc.Kind) *jsondoc.Node {
	text := `{"":{}}`
	if k == jsondoc.Array {
		text = `{"":[]}`
	}
	o, err := jsondoc.ParseObject([]byte(text))
	m.r.note(err)
	return m.r.member(o.Node, exactly)
}

// value returns the text of what was kept with the edit applied, or nil where it is absent then. An edit wins over what was
// kept of the same value.
func (m *merger) value(v mergeable, p *place, s spot) []byte {
	switch {
	case v.now == nil:
		return nil
	case m.r.equal(v.base, v.now):
		return v.kept.Text()
	case v.kept == nil || m.r.equal(v.base, v.kept):
		return v.now.Text()
	case v.kept.Kind() == jsondoc.Map && v.now.Kind() == jsondoc.Map:
		return m.members(v, p, s)
	case v.kept.Kind() == jsondoc.Array && v.now.Kind() == jsondoc.Array && (v.base == nil || v.base.Kind() == jsondoc.Array):
		return m.elements(v, p, s)
	}
	return v.now.Text()
}

func (m *merger) members(v mergeable, p *place, s spot) []byte {
	text := []byte{'{'}
	add := func(name string) {
		part := v.member(m.r, name)
		var value []byte
		if part.now == nil && part.base == nil {
			value = part.kept.Text() // only that was ever there
		} else {
			value = m.value(part, p.part(name), s.member(name))
		}
		if value == nil {
			return
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(text, jsondoc.StringValue(name).Text()...), ':')
		text = append(text, value...)
	}
	for _, e := range m.r.entries(v.kept) {
		add(e.name)
	}
	for _, e := range m.r.entries(v.now) {
		if m.r.member(v.kept, e.name) == nil {
			add(e.name)
		}
	}
	return append(text, '}')
}

// elements merges lists: which element is which, the keys of the list say, or else the order.
func (m *merger) elements(v mergeable, p *place, s spot) []byte {
	base, kept, now := m.r.entries(v.base), m.r.entries(v.kept), m.r.entries(v.now)
	inKept, inNow := m.match(base, kept, now, keysOf(p, s))
	if inKept == nil || inNow == nil {
		return v.now.Text()
	}
	var items *place
	if p != nil && p.elem != nil {
		items = p.elem.p.root
	}
	var texts [][]byte
	for _, e := range order(inKept, inNow, len(kept), len(now)) {
		switch {
		case e.now < 0:
			texts = append(texts, kept[e.kept].value.Text())
		case e.base < 0:
			texts = append(texts, now[e.now].value.Text())
		case e.kept >= 0:
			texts = append(texts, m.value(mergeable{base[e.base].value, kept[e.kept].value, now[e.now].value}, items, s.items()))
		case !m.r.equal(base[e.base].value, now[e.now].value):
			texts = append(texts, now[e.now].value.Text())
		}
	}
	return arrayOf(texts)
}

// match returns for each element of the base where it stands among the kept ones and among those of now, or -1. It returns
// nil where nothing says which is which.
func (m *merger) match(base, kept, now []entry, keys []string) (inKept, inNow []int) {
	b, k, n := m.r.distinctKeys(base, keys), m.r.distinctKeys(kept, keys), m.r.distinctKeys(now, keys)
	if b == nil || k == nil || n == nil {
		return m.inOrder(base, kept), m.edited(base, now)
	}
	return places(b, k), places(b, n)
}

// places returns where each of some keys is among others, or -1.
func places(keys, among []string) []int {
	at, places := make(map[string]int, len(among)), make([]int, len(keys))
	for i, key := range among {
		at[key] = i + 1
	}
	for i, key := range keys {
		places[i] = at[key] - 1
	}
	return places
}

// inOrder matches what the way back gave with what was kept: it leaves elements and parts of them out.
func (m *merger) inOrder(base, kept []entry) []int {
	at, i := make([]int, len(base)), 0
	for j := range base {
		for len(base) != len(kept) && i < len(kept) && !m.covers(kept[i].value, base[j].value) {
			i++
		}
		if i == len(kept) {
			return nil
		}
		at[j] = i
		i++
	}
	return at
}

// covers reports whether all of a value is in another.
func (m *merger) covers(all, part *jsondoc.Node) bool {
	if all.Kind() != jsondoc.Map || part.Kind() != jsondoc.Map {
		return m.r.equal(all, part)
	}
	for _, e := range m.r.entries(part) {
		if other := m.r.member(all, e.name); other == nil || !m.covers(other, e.value) {
			return false
		}
	}
	return true
}

// edited matches the elements of two lists of which one is an edit of the other: of the same length, or the same but for some
// in the middle.
func (m *merger) edited(base, now []entry) []int {
	at := make([]int, len(base))
	if len(base) == len(now) {
		for i := range at {
			at[i] = i
		}
		return at
	}
	first, last := 0, 0
	for first < min(len(base), len(now)) && m.r.equal(base[first].value, now[first].value) {
		first++
	}
	for last < min(len(base), len(now))-first && m.r.equal(base[len(base)-1-last].value, now[len(now)-1-last].value) {
		last++
	}
	for i := range at {
		switch {
		case i < first:
			at[i] = i
		case i >= len(base)-last:
			at[i] = i - len(base) + len(now)
		default:
			at[i] = -1
		}
	}
	return at
}

// A slot is an element of a merged list: where it stands in the three lists, or -1.
type slot struct{ base, kept, now int }

// order returns the elements of a merged list. Those of now are in their order, but where the edit left the order alone in that
// of the kept ones. What only was kept stands behind the one that it stood behind.
func order(inKept, inNow []int, kept, now int) []slot {
	ofKept, ofNow := inverse(inKept, kept), inverse(inNow, now)
	lead := make([][]slot, 1, len(inKept)+1) // what follows none, then each element of now that is of the base, and what follows it
	at := map[int]int{-1: 0}                 // of an element of the base: where it is in lead
	add := func(base int) {
		at[base] = len(lead)
		lead = append(lead, []slot{{base, inKept[base], inNow[base]}})
	}
	if increasing(inNow) {
		for _, base := range ofKept {
			if base >= 0 && inNow[base] >= 0 {
				add(base)
			}
		}
	}
	for _, base := range ofNow {
		if _, is := at[base]; !is {
			add(base)
		}
	}
	behind := -1
	for i, base := range ofKept {
		switch {
		case base < 0:
			lead[at[behind]] = append(lead[at[behind]], slot{-1, i, -1})
		case inNow[base] >= 0:
			behind = base
		}
	}
	behind = -1
	for i, base := range ofNow {
		if base < 0 {
			lead[at[behind]] = append(lead[at[behind]], slot{-1, -1, i})
		} else {
			behind = base
		}
	}
	return slices.Concat(lead...)
}

// inverse returns for each of n places which element stands there, or -1.
func inverse(places []int, n int) []int {
	elements := slices.Repeat([]int{-1}, n)
	for element, place := range places {
		if place >= 0 {
			elements[place] = element
		}
	}
	return elements
}

// increasing reports whether the places are in order, but for those of elements that have none.
func increasing(places []int) bool {
	last := -1
	for _, p := range places {
		if p >= 0 && p < last {
			return false
		}
		last = max(last, p)
	}
	return true
}

// keysOf returns the fields that the elements of a list at a place are known by, or none.
func keysOf(p *place, s spot) []string {
	switch {
	case p != nil && p.elem != nil && p.elem.bind != "":
		return []string{p.elem.bind}
	case len(s.node.ListMapKeys()) > 0:
		return s.node.ListMapKeys()
	case p != nil && p.elem != nil && len(p.elem.keys) > 0:
		return p.elem.keys
	case p == nil || len(p.picks) == 0 || p.picks[0].at.kind != byPick:
		return nil
	}
	return []string{p.picks[0].at.name}
}
