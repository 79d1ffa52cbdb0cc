package exec

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// accepted returns a stash without the labels and annotations that the API server would not take, for anybody can write a stash;
// nil for one with a repeated name there, which is none of ours.
func (r *run) accepted(stash *jsondoc.Object) *jsondoc.Object {
	if stash == nil {
		return nil
	}
	for _, path := range [][]plan.Step{plan.Names("metadata", "labels"), plan.Names("metadata", "annotations")} {
		of := plan.SectionOf(plan.Join(path, plan.Step{}))
		r.keepOnly(r.find(stash.Node, path), func(v *jsondoc.Node) bool {
			if exact := r.member(v, exactly); exact != nil {
				v = exact
			} else if v.Kind() == jsondoc.Null {
				return true // there was none
			}
			return of.Takes(v.Text())
		})
		whole := r.find(r.member(stash.Node, exactly), path)
		r.keepOnly(whole, func(v *jsondoc.Node) bool { return of.Takes(v.Text()) })
	}
	if r.err != nil {
		r.err = nil
		return nil
	}
	return stash
}

// keepOnly removes the members of an object that are not good.
func (r *run) keepOnly(n *jsondoc.Node, good func(v *jsondoc.Node) bool) {
	for _, e := range r.entries(n) {
		if !good(e.value) {
			r.note(n.RemoveMember(e.name))
		}
	}
}
