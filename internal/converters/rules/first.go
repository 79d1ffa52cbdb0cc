package rules

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// An object of one version may be the first element of a list of the other one. When that element goes there, another one is the
// first, and what was kept beside the visible part of the object is none of its. So it is kept with what tells the object from
// others: {"": {"name": "x"}, "hidden": 1}, by the keys of the list, or else by what is visible, of which half has to be the same
// still. Where the list may have no second element there is nothing to tell.

// A first says that a place moves to the first element of a list that may have others.
type first struct{ keys []string } // of the list

// firstOf returns what an end of a rule says, or nil if it leads to no such element.
func firstOf(e end) *first {
	i := slices.IndexFunc(e.path, func(s syntax.Segment) bool { return s.Kind == syntax.First })
	if i < 0 {
		return nil
	}
	all, ok := e.base.at(e.path[:i])
	if !ok || single(all.node) {
		return nil
	}
	if i < len(e.path)-1 {
		return &first{} // the keys are not in the object
	}
	return &first{keys: all.node.ListMapKeys()}
}

func single(n *crdschema.Node) bool {
	if n == nil || n.Structural().ValueValidation == nil {
		return false
	}
	most := n.Structural().ValueValidation.MaxItems
	return most != nil && *most <= 1
}

// maxTold is the longest text of a value that tells an object from others, in bytes.
const maxTold = 64

// telling returns what tells the object that the way back gives from others, or nil if nothing does.
func (r *run) telling(f *first, n *jsondoc.Node) []byte {
	var keys, all partial
	count := 0
	for _, e := range r.entries(n) {
		if _, scalar := scalarText(e.value); !scalar || len(e.value.Text()) > maxTold || e.name == exactly {
			continue
		}
		all.mark(e.name, e.value.Text())
		if slices.Contains(f.keys, e.name) {
			keys.mark(e.name, e.value.Text())
			count++
		}
	}
	if count > 0 && count == len(f.keys) {
		return keys.text()
	}
	return all.text()
}

// isTold reports whether an object is still the one that a stash was kept for.
func (r *run) isTold(f *first, told, now *jsondoc.Node) bool {
	isKey := func(e entry) bool { return slices.Contains(f.keys, e.name) }
	same := func(e entry) bool { other := r.member(now, e.name); return other != nil && r.equal(e.value, other) }
	if now.Kind() != jsondoc.Map {
		return false
	}
	list := r.entries(told)
	if len(f.keys) > 0 && len(list) == len(f.keys) && !slices.ContainsFunc(list, func(e entry) bool { return !isKey(e) }) {
		return !slices.ContainsFunc(list, func(e entry) bool { return !same(e) })
	}
	left := slices.DeleteFunc(slices.Clone(list), func(e entry) bool { return !same(e) })
	return 2*len(left) >= len(list)
}
