package exec

import (
	"bytes"
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A run is one object that goes through one program.
//
// A program runs in two phases, so that values can swap their places: first all inputs are read and
// everything that does not stay is taken away, then the outputs are written. The run does not look
// at parts of the object that the program does not name.
type run struct {
	call    transform.Call
	undo    transform.Call // of the way back of single rules
	mayLose bool           // the way back may not restore the object, so it has to be tried
	moves   int            // the number of values that were moved
	into    *jsondoc.Node  // the object that the last write went into, if any
	looks   int
	err     error
	slab    []transform.Operand
	shown   shown
	trace   *keep.Trace // of the value that the program is in; nil if none is written
	partial bool        // that value is a patch
}

// reset prepares the run for another object, which expressions see as shown.
func (r *run) reset(ctx context.Context, is shown) {
	r.clear()
	r.shown = is
	r.call, r.undo = transform.Call{Context: ctx, Source: &r.shown}, transform.Call{Context: ctx, Source: &r.shown}
}

// clear releases all references to the object.
func (r *run) clear() {
	clear(r.slab)
	*r = run{slab: r.slab[:0]}
}

// note keeps the first error, which is that of the context or of an object with too many members.
func (r *run) note(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

// lookEvery is how many elements are converted between two checks of the deadline.
const lookEvery = 256

// stopped reports whether the run has failed or must end. It is called for each element.
func (r *run) stopped() bool {
	if r.looks++; r.looks%lookEvery == 0 && r.err == nil {
		r.err = r.call.Context.Err()
	}
	return r.err != nil
}

// keepOperands bounds the memory for operands that the next run inherits.
const keepOperands = 1 << 10

// operands returns n empty operands, which are valid until the end of the run.
func (r *run) operands(n int) []transform.Operand {
	if len(r.slab)+n > cap(r.slab) {
		r.slab = make([]transform.Operand, 0, max(16, n, min(2*cap(r.slab), keepOperands)))
	}
	first := len(r.slab)
	r.slab = r.slab[:first+n]
	return r.slab[first : first+n : first+n]
}

// program converts n, and reports whether a value is left, as an element may have none.
func (r *run) program(p *plan.Program, n *jsondoc.Node) bool {
	if r.stopped() {
		return true
	}
	ops := r.operands(p.Operands)
	for _, rule := range p.Reads {
		r.read(rule, n, ops)
	}
	for _, rule := range p.Elements {
		if e := r.find(n, rule.Element); e != nil {
			ops[rule.ElementAt] = transform.Operand{Value: e.Value(), Present: true}
		}
	}
	for _, path := range p.Watch {
		r.mayLose = r.mayLose || r.find(n, path) == nil
	}
	for i := range p.Refills {
		r.mayLose = r.mayLose || !r.isRefilled(n, &p.Refills[i])
	}
	r.mayLose = r.mayLose || p.Always
	is := p.Root == nil || r.clean(p.Root, n, ops)
	for _, rule := range p.Computes {
		r.compute(rule, ops)
	}
	r.into = nil
	for i := range p.Writes {
		w := &p.Writes[i]
		if !w.SameObject {
			r.into = nil
		}
		if v := &ops[w.Rule.OutAt+w.Out]; v.Present {
			is = r.write(n, is, w, v.Value)
		}
	}
	if is {
		r.fill(p, n, ops)
	}
	return is
}

// read reads the inputs of a rule that are not taken.
func (r *run) read(rule *plan.Rule, n *jsondoc.Node, ops []transform.Operand) {
	for i := range rule.In {
		if rule.In[i].Direct {
			continue
		}
		if v := r.find(n, rule.In[i].Steps); v != nil {
			ops[rule.InAt+i] = transform.Operand{Value: v.Value(), Present: true}
		}
	}
}

// compute sets the outputs of a rule.
func (r *run) compute(rule *plan.Rule, ops []transform.Operand) {
	in, out := ops[rule.InAt:rule.InAt+len(rule.In)], ops[rule.OutAt:rule.OutAt+len(rule.Out)]
	if len(in) > 0 && !anyPresent(in) {
		return
	}
	r.mayLose = r.mayLose || rule.MayLose
	r.call.Element = r.element(rule, ops)
	if rule.Guard != nil && !r.allowed(rule, in) {
		return
	}
	if rule.Transform == nil {
		if out[0] = in[0]; rule.Branch != nil {
			out[0] = r.branch(rule.Branch, in[0].Value)
		}
	} else if err := rule.Transform.Run(&r.call, in, out); err != nil {
		r.mayLose = true
		return
	}
	for i := range out {
		if rule.Check && out[i].Present && !r.fitting(rule, i, out[i].Value.Text()) {
			clear(out)
			r.mayLose = true
			return
		}
	}
	r.mayLose = r.mayLose || rule.Undo != nil && !r.undoes(rule.Undo, in, out)
}

func anyPresent(all []transform.Operand) bool {
	return slices.ContainsFunc(all, func(o transform.Operand) bool { return o.Present })
}

// undoes reports whether the way back of a rule gives its inputs again, to the byte. A reverse
// conversion of the whole object finds out the same, and takes much longer (BenchmarkKinds in
// package rules).
func (r *run) undoes(back *transform.Way, in, out []transform.Operand) bool {
	again := r.operands(len(in))
	if err := back.Run(&r.undo, out, again); err != nil {
		return false
	}
	for i := range in {
		if in[i].Present != again[i].Present || in[i].Present && !bytes.Equal(in[i].Value.Text(), again[i].Value.Text()) {
			return false
		}
	}
	return true
}

// isRefilled reports whether the way back fills in what a field has, to the byte.
func (r *run) isRefilled(n *jsondoc.Node, f *plan.Refill) bool {
	v := r.find(n, f.Steps)
	if f.Way == nil {
		return v != nil && bytes.Equal(v.Text(), f.Fixed)
	}
	again := r.operands(1)
	if err := f.Way.Run(&r.undo, nil, again); err != nil {
		return false
	}
	return again[0].Present == (v != nil) && (v == nil || bytes.Equal(v.Text(), again[0].Value.Text()))
}

// fitting reports whether the target's schema, or its metadata, allows an output. Computed values
// have been checked against the schema but may lack required fields. A value that only moves may be
// a fragment.
func (r *run) fitting(rule *plan.Rule, i int, text []byte) bool {
	out := &rule.Out[i]
	if rule.Transform == nil {
		return out.Section.Takes(text) && transform.Admits(out.Place.Node, text)
	}
	return out.Section.Takes(text) && (!out.Requires || transform.IsComplete(out.Place.Node, text))
}

// element returns what the expressions of a rule read as element.
func (r *run) element(rule *plan.Rule, ops []transform.Operand) transform.Operand {
	if rule.Element == nil {
		return transform.Operand{}
	}
	return ops[rule.ElementAt]
}

func (r *run) allowed(rule *plan.Rule, in []transform.Operand) bool {
	ok, err := rule.Guard.Holds(&r.call, in)
	return ok && err == nil
}

// write puts an output into n. Is says whether n is a value so far; write reports whether it is one
// now.
func (r *run) write(n *jsondoc.Node, is bool, w *plan.Write, v jsondoc.Value) bool {
	path := w.Route()
	if path.Section != plan.Elsewhere && !path.Section.Takes(v.Text()) {
		r.mayLose = true
		return is
	}
	if (path.NoNull || path.NewNull) && string(v.Text()) == "null" {
		r.mayLose = true
		if path.NoNull {
			return is
		}
	}
	if r.into != nil {
		r.add(r.into, path, v)
		return true
	}
	r.mayLose = r.mayLose || path.Picks // another rule may pick the same element
	if !is && len(path.Steps) > 0 {
		r.replace(n, emptyFor(&path.Steps[0]))
	}
	if len(path.Steps) == 0 && is {
		r.mayLose = true // something else is in the way
		return true
	}
	if !r.put(n, path, 0, v) {
		r.mayLose = true
	}
	return true
}

// fill writes defaults and values that are computed from nothing to places that are still absent. A
// rule is computed once, when the first of its outputs is needed.
func (r *run) fill(p *plan.Program, n *jsondoc.Node, ops []transform.Operand) {
	computed := make([]*plan.Rule, 0, 4)
	for i := range p.Late {
		w := &p.Late[i]
		path := w.Route()
		if len(path.Steps) == 0 || r.find(n, path.Steps) != nil {
			continue
		}
		if r.partial && !anyPresent(ops[w.Rule.InAt:w.Rule.InAt+len(w.Rule.In)]) {
			continue
		}
		last := len(path.Steps) - 1
		parent := r.find(n, path.Steps[:last])
		if parent.Kind() != jsondoc.Map || path.Steps[last].Kind != plan.ByName || path.Section != plan.Elsewhere && r.isEmpty(parent) {
			continue // empty labels count as absent
		}
		v := transform.Operand{Value: w.Value, Present: true}
		if !w.Fixed {
			if !slices.Contains(computed, w.Rule) {
				r.compute(w.Rule, ops)
				computed = append(computed, w.Rule)
			}
			v = ops[w.Rule.OutAt+w.Out]
		}
		r.mayLose = r.mayLose || !w.Dropped
		if v.Present && path.Section.Takes(v.Value.Text()) {
			r.note(parent.SetMember(path.Steps[last].Name, v.Value))
		}
	}
}
