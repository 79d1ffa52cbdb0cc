package rules

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A rule may have a field of an element that it picks: .tag <-> .containers[name=a].tag. When that field goes, so does the element
// of what the rules make, but the one that was kept has more: it stays without the field.

// joined adds to the base a first element that only the rules name, where it had none of it: it is the first that was kept.
func joined(base []entry, inKept, inNow []int, kept, now []entry, p *place) (all []entry, keptAt, nowAt []int) {
	first := p != nil && slices.ContainsFunc(p.picks, func(k *place) bool { return k.fate == through && k.at.kind == byFirst })
	if first && len(base) == 0 && len(kept) > 0 && len(now) > 0 {
		return []entry{{}}, []int{0}, []int{0}
	}
	return base, inKept, inNow
}

// stripped returns by their index in what was kept the elements that are gone from the list, less what the way back gave of them.
// They become such as only were kept.
func (m *merger) stripped(base, kept []entry, inKept, inNow []int, p *place, s spot) map[int][]byte {
	if p == nil || len(p.picks) == 0 {
		return nil
	}
	texts := map[int][]byte{}
	for i, j := range inKept {
		if j < 0 || inNow[i] >= 0 || base[i].value == nil {
			continue
		}
		at := slices.IndexFunc(p.picks, func(k *place) bool {
			return k.fate == through && (k.at.kind == byFirst && j == 0 || k.at.kind == byPick && m.r.picked(kept[j].value, &k.at))
		})
		if at < 0 {
			continue
		}
		if text := m.without(base[i].value, kept[j].value, p.picks[at], s.items()); text != nil {
			texts[j], inKept[i] = text, -1
		}
	}
	return texts
}

// without returns what is left of an element that was kept, or nil if that is too little to be one.
func (m *merger) without(base, kept *jsondoc.Node, p *place, s spot) []byte {
	var key partial
	if p.at.kind == byPick {
		key.mark(p.at.name, m.r.member(kept, p.at.name).Text())
	} else {
		key.buf = []byte("{")
	}
	now, err := jsondoc.ParseObject(key.text())
	if err != nil {
		return nil
	}
	text := m.value(mergeable{base, kept, now.Node}, p, s)
	left, err := jsondoc.ParseObject(text)
	if err != nil || m.r.isBare(left.Node, p.at) || transform.Lacks(s.node, text) {
		return nil
	}
	return text
}
