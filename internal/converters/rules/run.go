package rules

import (
	"context"
	"slices"

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
	doubt bool
	// simple is what diff says of the stash that it has made.
	simple bool
	// terse has diff leave out digests of elements.
	terse bool
	taken int           // how many values were read and taken away
	into  *jsondoc.Node // the object that the last write went into, if it did
	err   error
	looks int // at the entries of a stash
	slab  []transform.Operand
	shown shown
	see   func() []byte // what is shown, made once (BenchmarkConvert)
}

// reset readies the run for another object, of which expressions see what is shown.
func (r *run) reset(ctx context.Context, is shown) {
	r.clear()
	r.shown = is
	r.call = transform.Call{Context: ctx, Object: r.see}
}

// clear lets go of the object.
func (r *run) clear() {
	clear(r.slab)
	*r = run{slab: r.slab[:0], see: r.see}
}

// note keeps the first error: a repeated name in an object that is looked into.
func (r *run) note(err error) {
	if err != nil && r.err == nil {
		r.err = err
	}
}

// operands returns n empty operands, which stay until the end of the run.
func (r *run) operands(n int) []transform.Operand {
	if len(r.slab)+n > cap(r.slab) {
		r.slab = make([]transform.Operand, 0, max(16, n))
	}
	first := len(r.slab)
	r.slab = r.slab[:first+n]
	return r.slab[first : first+n : first+n]
}

// program converts n, and reports whether there is a value after that: an element may have none.
func (r *run) program(p *program, n *jsondoc.Node) bool {
	ops := r.operands(p.operands)
	for _, l := range p.reads {
		r.read(l, n, ops)
	}
	for _, path := range p.watch {
		r.doubt = r.doubt || r.find(n, path) == nil
	}
	r.doubt = r.doubt || p.always
	is := p.root == nil || r.clean(p.root, n, ops)
	for _, l := range p.computes {
		r.compute(l, ops)
	}
	r.into = nil
	for i := range p.writes {
		w := &p.writes[i]
		if !w.beside {
			r.into = nil
		}
		if v := &ops[w.link.outAt+w.out]; v.Present {
			is = r.write(n, is, w, v.Value)
		}
	}
	if is {
		r.fill(p, n, ops)
	}
	return is
}

// read gets the inputs of a link.
func (r *run) read(l *link, n *jsondoc.Node, ops []transform.Operand) {
	for i := range l.in {
		if l.in[i].direct {
			continue
		}
		if v := r.find(n, l.in[i].steps); v != nil {
			ops[l.inAt+i] = transform.Operand{Value: v.Value(), Present: true}
		}
	}
}

// compute sets the outputs of a link.
func (r *run) compute(l *link, ops []transform.Operand) {
	in, out := ops[l.inAt:l.inAt+len(l.in)], ops[l.outAt:l.outAt+len(l.out)]
	if len(in) > 0 && !anyPresent(in) {
		return
	}
	r.doubt = r.doubt || l.doubtful
	if l.guard != nil && !r.allowed(l, in) {
		return
	}
	if l.t == nil {
		if out[0] = in[0]; l.branch != nil {
			out[0] = r.alongBranch(l.branch, in[0].Value)
		}
	} else if err := r.transform(l, in, out); err != nil {
		clear(out)
		r.doubt = true
		return
	}
	for i := range out {
		if l.check && out[i].Present && !r.fitting(l, i, out[i].Value.Text()) {
			clear(out)
			r.doubt = true
			return
		}
	}
}

// fitting reports whether an output is one of the target's schema, or of its metadata. What is computed has to be whole as well; a
// value that is only moved may be one of a fragment.
func (r *run) fitting(l *link, i int, text []byte) bool {
	out := &l.out[i]
	return out.section.takes(text) && transform.Admits(out.spot.node, text) &&
		(l.t == nil || !out.requires || !transform.Lacks(out.spot.node, text))
}

func (r *run) allowed(l *link, in []transform.Operand) bool {
	ok, err := l.guard(&r.call, in)
	return ok && err == nil
}

func (r *run) transform(l *link, in, out []transform.Operand) error {
	if l.backward {
		return l.t.Backward(&r.call, in, out)
	}
	return l.t.Forward(&r.call, in, out)
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
func (r *run) write(n *jsondoc.Node, is bool, w *write, v jsondoc.Value) bool {
	path := w.route()
	if path.section != elsewhere && !path.section.takes(v.Text()) {
		r.doubt = true
		return is
	}
	if (path.noNull || path.newNull) && string(v.Text()) == "null" {
		r.doubt = true
		if path.noNull {
			return is
		}
	}
	if r.into != nil {
		r.add(r.into, path, v)
		return true
	}
	r.doubt = r.doubt || path.picks // another rule may know the element, too
	if !is && len(path.steps) > 0 {
		text := "{}"
		if path.steps[0].kind != byName {
			text = "[]"
		}
		r.note(replace(n, text))
	}
	if len(path.steps) == 0 && is {
		r.doubt = true // it was written, or it is not gone
		return true
	}
	if !r.put(n, path, 0, v) {
		r.doubt = true
	}
	return true
}

// fill writes what nothing else has given: values that are computed from nothing, and defaults. A link is computed once, when
// the first of its outputs has a place.
func (r *run) fill(p *program, n *jsondoc.Node, ops []transform.Operand) {
	computed := make([]*link, 0, 4)
	for i := range p.late {
		w := &p.late[i]
		path := &w.link.out[w.out]
		if len(path.steps) == 0 || r.find(n, path.steps) != nil {
			continue
		}
		last := len(path.steps) - 1
		parent := r.find(n, path.steps[:last])
		if parent.Kind() != jsondoc.Map || path.steps[last].kind != byName || path.section != elsewhere && r.isEmpty(parent) {
			continue // labels that are {} are none
		}
		v := transform.Operand{Value: w.value, Present: true}
		if !w.fixed {
			if !slices.Contains(computed, w.link) {
				r.compute(w.link, ops)
				computed = append(computed, w.link)
			}
			v = ops[w.link.outAt+w.out]
		}
		r.doubt = true
		if v.Present && path.section.takes(v.Value.Text()) {
			r.note(parent.SetMember(path.steps[last].name, v.Value))
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
