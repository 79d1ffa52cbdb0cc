package exec

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A place of a union goes to one place or another of the other version: to one of its branches, of which guards say which. Each
// branch has fields of its own, also among those that the other version does not see. So what is kept of such a place is kept
// with the branch, and when an edit has chosen another one, it does not count.

// A branch is where a kept value was in the other version, and where it would have been by the other branches.
type branch struct{ was, others [][]plan.Step }

// branchOf returns what a stash says of the branch: base is where the other version has what the program makes.
func branchOf(p *plan.Node, as string, base []plan.Step) branch {
	var b branch
	if as == "" {
		return b
	}
	for _, l := range p.Branches() {
		for _, out := range l.Out {
			if path := plan.Join(base, out.Steps...); as == plan.PathText(l.Out[0].Steps) {
				b.was = append(b.was, path)
			} else {
				b.others = append(b.others, path)
			}
		}
	}
	return b
}

// tookBranch returns the mark of the branch that a value of the source takes, or none if that is not one.
func (r *run) tookBranch(p *plan.Node, v *jsondoc.Node) string {
	var took []*plan.Rule
	for _, l := range p.Branches() {
		if r.allowed(l, []transform.Operand{{Value: v.Value(), Present: true}}) {
			took = append(took, l)
		}
	}
	if len(took) != 1 {
		return ""
	}
	return `,"` + asBranch + `":` + string(jsondoc.StringValue(plan.PathText(took[0].Out[0].Steps)).Text())
}

// switched reports whether the object has another branch now than the one that a value was kept with.
func (r *run) switched(k *kept, now *jsondoc.Node) bool {
	has := func(path []plan.Step) bool { return r.find(now, path) != nil }
	return len(k.branch.was) > 0 && !slices.ContainsFunc(k.branch.was, has) && slices.ContainsFunc(k.branch.others, has)
}

// alongBranch makes of a value what the other version has in place of its copy.
func (r *run) alongBranch(p *plan.Node, v jsondoc.Value) transform.Operand {
	holder, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), v.Text(), []byte("}")))
	if r.note(err); err != nil {
		return transform.Operand{}
	}
	n := r.member(holder.Node, "")
	if !r.content(p, n, nil) {
		r.mayLose = true
		return transform.Operand{}
	}
	return transform.Operand{Value: n.Value(), Present: true}
}
