package exec

import (
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A run is one object that goes through one program.
//
// A program runs in two phases, so that values can swap their places: all inputs are read and everything that is not to stay
// is taken away, then the outputs are written. Nothing that is not named by the program is looked at.
type run struct {
	call transform.Call
	// doubt is set by whatever the way back may not undo: the object has to be converted back and compared.
	mayLose bool
	taken   int           // how many values were read and taken away
	into    *jsondoc.Node // the object that the last write went into, if it did
	looks   int
	err     error
	slab    []transform.Operand
	shown   shown
	views   views // of what is shown, made once (BenchmarkConvert)
}

// reset readies the run for another object, of which expressions see what is shown.
func (r *run) reset(ctx context.Context, is shown) {
	r.clear()
	r.shown = is
	r.call = transform.Call{Context: ctx, Object: r.views.object, Metadata: r.views.metadata}
}

// clear lets go of the object.
func (r *run) clear() {
	clear(r.slab)
	*r = run{slab: r.slab[:0], views: r.views}
}

// note keeps the first error: of an object with more members than are looked at, or of the context.
func (r *run) note(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

// lookEvery is how often the deadline is looked at, in elements.
const lookEvery = 256

// stopped reports whether there is nothing more to be done. It is asked for each element.
func (r *run) stopped() bool {
	if r.looks++; r.looks%lookEvery == 0 && r.err == nil {
		r.err = r.call.Context.Err()
	}
	return r.err != nil
}

// keepOperands is how many operands the next run has memory for at the most.
const keepOperands = 1 << 10

// operands returns n empty operands, which stay until the end of the run.
func (r *run) operands(n int) []transform.Operand {
	if len(r.slab)+n > cap(r.slab) {
		r.slab = make([]transform.Operand, 0, max(16, n, min(2*cap(r.slab), keepOperands)))
	}
	first := len(r.slab)
	r.slab = r.slab[:first+n]
	return r.slab[first : first+n : first+n]
}

// program converts n, and reports whether there is a value after that: an element may have none.
func (r *run) program(p *plan.Program, n *jsondoc.Node) bool {
	if r.stopped() {
		return true
	}
	ops := r.operands(p.Operands)
	for _, l := range p.Reads {
		r.read(l, n, ops)
	}
	for _, path := range p.Watch {
		r.mayLose = r.mayLose || r.find(n, path) == nil
	}
	r.mayLose = r.mayLose || p.Always
	is := p.Root == nil || r.clean(p.Root, n, ops)
	for _, l := range p.Computes {
		r.compute(l, ops)
	}
	r.into = nil
	for i := range p.Writes {
		w := &p.Writes[i]
		if !w.Beside {
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

// read gets the inputs of a rule.
func (r *run) read(l *plan.Rule, n *jsondoc.Node, ops []transform.Operand) {
	for i := range l.In {
		if l.In[i].Direct {
			continue
		}
		if v := r.find(n, l.In[i].Steps); v != nil {
			ops[l.InAt+i] = transform.Operand{Value: v.Value(), Present: true}
		}
	}
}

// compute sets the outputs of a rule.
func (r *run) compute(l *plan.Rule, ops []transform.Operand) {
	in, out := ops[l.InAt:l.InAt+len(l.In)], ops[l.OutAt:l.OutAt+len(l.Out)]
	if len(in) > 0 && !anyPresent(in) {
		return
	}
	r.mayLose = r.mayLose || l.MayLose
	if l.Guard != nil && !r.allowed(l, in) {
		return
	}
	if l.Transform == nil {
		if out[0] = in[0]; l.Branch != nil {
			out[0] = r.alongBranch(l.Branch, in[0].Value)
		}
	} else if err := r.transform(l, in, out); err != nil {
		clear(out)
		r.mayLose = true
		return
	}
	for i := range out {
		if l.Check && out[i].Present && !r.fitting(l, i, out[i].Value.Text()) {
			clear(out)
			r.mayLose = true
			return
		}
	}
}

// fitting reports whether an output is one of the target's schema, or of its metadata. What is computed is, and has to be whole as
// well; a value that is only moved may be one of a fragment.
func (r *run) fitting(l *plan.Rule, i int, text []byte) bool {
	out := &l.Out[i]
	if l.Transform == nil {
		return out.Section.Takes(text) && transform.Admits(out.Place.Node, text)
	}
	return out.Section.Takes(text) && (!out.Requires || !transform.Lacks(out.Place.Node, text))
}

func (r *run) allowed(l *plan.Rule, in []transform.Operand) bool {
	ok, err := l.Guard.Holds(&r.call, in)
	return ok && err == nil
}

func (r *run) transform(l *plan.Rule, in, out []transform.Operand) error {
	if l.Backward {
		return l.Transform.Backward(&r.call, in, out)
	}
	return l.Transform.Forward(&r.call, in, out)
}

func anyPresent(ops []transform.Operand) bool {
	for i := range ops {
		if ops[i].Present {
			return true
		}
	}
	return false
}

// write puts an output into n, which so far is a value or not, and reports whether it is one now.
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
	r.mayLose = r.mayLose || path.Picks // another rule may know the element, too
	if !is && len(path.Steps) > 0 {
		text := "{}"
		if path.Steps[0].Kind != plan.ByName {
			text = "[]"
		}
		r.note(replace(n, text))
	}
	if len(path.Steps) == 0 && is {
		r.mayLose = true // it was written, or it is not gone
		return true
	}
	if !r.put(n, path, 0, v) {
		r.mayLose = true
	}
	return true
}

// fill writes what nothing else has given: values that are computed from nothing, and defaults. A rule is computed once, when
// the first of its outputs has a place.
func (r *run) fill(p *plan.Program, n *jsondoc.Node, ops []transform.Operand) {
	computed := make([]*plan.Rule, 0, 4)
	for i := range p.Late {
		w := &p.Late[i]
		path := &w.Rule.Out[w.Out]
		if len(path.Steps) == 0 || r.find(n, path.Steps) != nil {
			continue
		}
		last := len(path.Steps) - 1
		parent := r.find(n, path.Steps[:last])
		if parent.Kind() != jsondoc.Map || path.Steps[last].Kind != plan.ByName || path.Section != plan.Elsewhere && r.isEmpty(parent) {
			continue // labels that are {} are none
		}
		v := transform.Operand{Value: w.Value, Present: true}
		if !w.Fixed {
			if !slices.Contains(computed, w.Rule) {
				r.compute(w.Rule, ops)
				computed = append(computed, w.Rule)
			}
			v = ops[w.Rule.OutAt+w.Out]
		}
		r.mayLose = true
		if v.Present && path.Section.Takes(v.Value.Text()) {
			r.note(parent.SetMember(path.Steps[last].Name, v.Value))
		}
	}
}

func replace(n *jsondoc.Node, text string) error {
	v, err := jsondoc.RawValue([]byte(text))
	if err == nil {
		n.Replace(v)
	}
	return err
}
