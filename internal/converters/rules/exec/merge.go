package exec

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
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

// merge merges an entry with what the way back gave and gives now there. It reports whether something of the entry is left
// in that, and does it once.
func (m *merger) merge(k *kept, base, there *jsondoc.Node) bool {
	if k.merged || k.shape || k.value == nil {
		return false
	}
	now := m.r.find(there, k.path)
	text := m.entry(mergeable{m.r.find(base, k.path), k.value, now}, k.place, k.spot)
	if text == nil {
		return false
	}
	merged, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), text, []byte("}")))
	if err != nil {
		return false // too deep, both together
	}
	k.merged, k.value = true, m.r.member(merged.Node, exactly)
	return !m.r.equal(k.value, now) && k.spot.Admits(k.value.Text())
}

// entry merges the value of an entry at a place of a program that goes from its version. An object or list that is gone now
// leaves what it had beside its visible parts.
func (m *merger) entry(v mergeable, p *plan.Node, s binding.Place) []byte {
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
func (m *merger) value(v mergeable, p *plan.Node, s binding.Place) []byte {
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

func (m *merger) members(v mergeable, p *plan.Node, s binding.Place) []byte {
	text := []byte{'{'}
	add := func(name string) {
		part := v.member(m.r, name)
		var value []byte
		if part.now == nil && part.base == nil {
			value = part.kept.Text() // only that was ever there
		} else {
			value = m.value(part, p.Part(name), s.Member(name))
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
func (m *merger) elements(v mergeable, p *plan.Node, s binding.Place) []byte {
	base, kept, now := m.r.entries(v.base), m.r.entries(v.kept), m.r.entries(v.now)
	base, inKept, inNow := m.match(base, kept, now, keysOf(p, s))
	if inKept == nil || inNow == nil {
		return v.now.Text()
	}
	base, inKept, inNow = joined(base, inKept, inNow, kept, now, p)
	stripped := m.stripped(base, kept, inKept, inNow, p, s)
	var items *plan.Node
	if p != nil && p.Elem != nil {
		items = p.Elem.Program.Root
	}
	var texts [][]byte
	for _, e := range order(inKept, inNow, len(kept), len(now)) {
		switch {
		case e.now < 0 && stripped[e.kept] != nil:
			texts = append(texts, stripped[e.kept])
		case e.now < 0:
			texts = append(texts, kept[e.kept].value.Text())
		case e.base < 0:
			texts = append(texts, now[e.now].value.Text())
		case e.kept >= 0:
			texts = append(texts, m.value(mergeable{base[e.base].value, kept[e.kept].value, now[e.now].value}, items, s.Items()))
		case !m.r.equal(base[e.base].value, now[e.now].value):
			texts = append(texts, now[e.now].value.Text())
		}
	}
	return arrayOf(texts)
}

// keysOf returns the fields that the elements of a list at a place are known by, or none.
func keysOf(p *plan.Node, s binding.Place) []string {
	switch {
	case p != nil && p.Elem != nil && p.Elem.Bind != "":
		return []string{p.Elem.Bind}
	case len(s.Node.ListMapKeys()) > 0:
		return s.Node.ListMapKeys()
	case p != nil && p.Elem != nil && len(p.Elem.Keys) > 0:
		return p.Elem.Keys
	case p == nil || len(p.Picks) == 0 || p.Picks[0].At.Kind != plan.ByPick:
		return nil
	}
	return []string{p.Picks[0].At.Name}
}
