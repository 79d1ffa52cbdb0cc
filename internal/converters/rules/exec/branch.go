package exec

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

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
