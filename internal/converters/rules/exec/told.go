package exec

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// maxTold is the longest text of a value that tells an object from others, in bytes.
const maxTold = 64

// telling returns what tells the object that the way back gives from others, or nil if nothing does.
func (r *run) telling(f *plan.First, n *jsondoc.Node) []byte {
	var keys, all partial
	count := 0
	for _, e := range r.entries(n) {
		if _, scalar := scalarText(e.value); !scalar || len(e.value.Text()) > maxTold || e.name == exactly {
			continue
		}
		all.mark(e.name, e.value.Text())
		if slices.Contains(f.Keys, e.name) {
			keys.mark(e.name, e.value.Text())
			count++
		}
	}
	if count > 0 && count == len(f.Keys) {
		return keys.text()
	}
	return all.text()
}

// isTold reports whether an object is still the one that a stash was kept for.
func (r *run) isTold(f *plan.First, told, now *jsondoc.Node) bool {
	isKey := func(e entry) bool { return slices.Contains(f.Keys, e.name) }
	same := func(e entry) bool { other := r.member(now, e.name); return other != nil && r.equal(e.value, other) }
	if now.Kind() != jsondoc.Map {
		return false
	}
	list := r.entries(told)
	if len(f.Keys) > 0 && len(list) == len(f.Keys) && !slices.ContainsFunc(list, func(e entry) bool { return !isKey(e) }) {
		return !slices.ContainsFunc(list, func(e entry) bool { return !same(e) })
	}
	left := slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return !same(e) })
	return 2*len(left) >= len(list)
}
