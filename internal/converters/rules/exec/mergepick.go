package exec

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A rule may have a field of an element that it picks: .tag <-> .containers[name=a].tag. When that field goes, so does the element
// of what the rules make, but the one that was kept has more: it stays without the field.

// joined adds to the base a first element that only the rules name, where it had none of it: it is the first that was kept.
func joined(base []entry, inKept, inNow []int, kept, now []entry, p *plan.Node) (all []entry, keptAt, nowAt []int) {
	first := p != nil && slices.ContainsFunc(p.Picks, func(k *plan.Node) bool { return k.Disposition == plan.Through && k.At.Kind == plan.ByFirst })
	if first && len(base) == 0 && len(kept) > 0 && len(now) > 0 {
		return []entry{{}}, []int{0}, []int{0}
	}
	return base, inKept, inNow
}

// stripped returns by their index in what was kept the elements that are gone from the list, less what the way back gave of them.
// They become such as only were kept.
func (m *merger) stripped(base, kept []entry, inKept, inNow []int, p *plan.Node, s binding.Place) map[int][]byte {
	if p == nil || len(p.Picks) == 0 {
		return nil
	}
	texts := map[int][]byte{}
	for i, j := range inKept {
		if j < 0 || inNow[i] >= 0 || base[i].value == nil {
			continue
		}
		at := slices.IndexFunc(p.Picks, func(k *plan.Node) bool {
			return k.Disposition == plan.Through && (k.At.Kind == plan.ByFirst && j == 0 || k.At.Kind == plan.ByPick && m.r.picked(kept[j].value, &k.At))
		})
		if at < 0 {
			continue
		}
		if text := m.without(base[i].value, kept[j].value, p.Picks[at], s.Items()); text != nil {
			texts[j], inKept[i] = text, -1
		}
	}
	return texts
}

// without returns what is left of an element that was kept, or nil if that is too little to be one.
func (m *merger) without(base, kept *jsondoc.Node, p *plan.Node, s binding.Place) []byte {
	var key partial
	if p.At.Kind == plan.ByPick {
		key.mark(p.At.Name, m.r.member(kept, p.At.Name).Text())
	} else {
		key.buf = []byte("{")
	}
	now, err := jsondoc.ParseObject(key.text())
	if err != nil {
		return nil
	}
	text := m.value(mergeable{base, kept, now.Node}, p, s)
	left, err := jsondoc.ParseObject(text)
	if err != nil || m.r.isBare(left.Node, p.At) || transform.Lacks(s.Node, text) {
		return nil
	}
	return text
}
