package exec

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// clean takes away from a value what does not stay in the target, and reports whether the value
// stays. Values that move are put into ops.
func (r *run) clean(p *plan.Node, n *jsondoc.Node, ops []transform.Operand) bool {
	switch p.Disposition {
	case plan.Move:
		r.move(p, n.Value(), ops)
		return false
	case plan.Drop:
		r.mayLose = r.mayLose || !p.ByRule && !p.Bound && !p.Refilled
		return false
	case plan.Unwrap:
		r.unwrap(p, n, ops)
		return false
	case plan.Keep:
	}
	moves := p.Move != nil && r.mayMove(p.Move, n, ops)
	if !r.content(p, n, ops) {
		if r.mayLose = true; p.Move != nil {
			ops[p.Move.InAt] = transform.Operand{}
		}
		return false
	}
	if p.DropIfEmpty && n.Kind() == jsondoc.Map && !n.Untouched() && r.isEmpty(n) {
		return false
	}
	if rule := p.Move; rule != nil {
		r.moves++
		r.mayLose = r.mayLose || rule.MayLose
		ops[rule.InAt] = transform.Operand{Value: n.Value(), Present: true}
		if moves {
			ops[rule.OutAt] = ops[rule.InAt]
		}
		return false
	}
	return true
}

// mayMove reports whether the guard of a rule holds. It sees the value before anything is taken out
// of it.
func (r *run) mayMove(rule *plan.Rule, n *jsondoc.Node, ops []transform.Operand) bool {
	in := ops[rule.InAt : rule.InAt+1]
	in[0] = transform.Operand{Value: n.Value(), Present: true}
	r.call.Element = r.element(rule, ops)
	return rule.Guard == nil || r.allowed(rule, in)
}

// unwrap takes what moves elsewhere out of a value that goes. The conversion may lose anything
// else in it, and the presence of an object from which nothing is moved.
func (r *run) unwrap(p *plan.Node, n *jsondoc.Node, ops []transform.Operand) {
	before := r.moves
	switch n.Kind() {
	case jsondoc.Map:
		r.members(p, n, ops)
	case jsondoc.Array:
		r.picks(p, n, ops)
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool, jsondoc.Number, jsondoc.String:
	}
	if !r.isEmpty(n) || r.moves == before {
		r.mayLose = true
	}
}

// content converts what is in a value, and reports whether the target's schema allows the rest.
func (r *run) content(p *plan.Node, n *jsondoc.Node, ops []transform.Operand) bool {
	kind := n.Kind()
	switch {
	case p.Elem != nil && p.Elem.From != p.Elem.To && kind == p.Elem.From:
		r.members(p, n, ops)
		r.picks(p, n, ops)
		if p.Elem.From == jsondoc.Map {
			r.toList(p.Elem, n)
		} else {
			r.toMap(p.Elem, n)
		}
		r.mayLose = r.mayLose || p.Elem.Picked
		return true
	case kind == jsondoc.Map && p.Src.MayBeObject() && p.Dst.MayBeObject():
		if r.members(p, n, ops); p.Elem != nil && p.Elem.From == jsondoc.Map {
			r.each(p.Elem, n, nil)
		}
	case kind == jsondoc.Array && p.Src.MayBeList() && p.Dst.MayBeList():
		were := r.elementsBefore(p, n)
		if r.picks(p, n, ops); p.Elem != nil && p.Elem.From == jsondoc.Array {
			r.each(p.Elem, n, were)
		}
	case p.Check:
		return r.fits(p, n)
	}
	return p.Sub == nil || r.traced(r.trace.Add(p.Use, 1), keep.Source{}, p.Sub, n, r.partial)
}

// fits reports whether a value can stay as it is. A value that neither schema allows stays, as it
// is no less valid in the target.
func (r *run) fits(p *plan.Node, n *jsondoc.Node) bool {
	after, before := p.Dst.Admits(n.Text()), p.Src.Admits(n.Text())
	r.mayLose = r.mayLose || after != before
	return after || !before
}

// members cleans the members of an object.
func (r *run) members(p *plan.Node, n *jsondoc.Node, ops []transform.Operand) {
	if len(p.Children) == 0 && p.Others == nil {
		return
	}
	next := 0
	r.note(n.Filter(func(name []byte, m jsondoc.Member) bool {
		switch k := p.Member(name, &next); {
		case k == nil:
			return true
		case k.Disposition == plan.Move:
			r.move(k, m.Value(), ops)
			return false
		default:
			return r.clean(k, m.Node(), ops)
		}
	}))
}

// move puts a value into the operands that read it.
func (r *run) move(p *plan.Node, v jsondoc.Value, ops []transform.Operand) {
	r.moves++
	for _, i := range p.Reads {
		ops[i].Value, ops[i].Present = v, true
	}
}

// each runs a program over the elements of a list or the values of a map, and removes those that
// have no value afterwards. Were are the elements before rules took some away.
func (r *run) each(e *plan.Elements, n *jsondoc.Node, were []*jsondoc.Node) {
	list, index := r.trace.Add(e.Of, n.Len()), -1
	partial := r.partial && n.Kind() == jsondoc.Map
	r.note(n.Filter(func(name []byte, m jsondoc.Member) bool {
		for index++; index < len(were) && were[index] != m.Node(); index++ { //nolint:revive // it looks for the element
		}
		is := r.traced(list, keep.Source{Index: index, Name: string(name)}, e.Program, m.Node(), partial)
		r.mayLose = r.mayLose || !is
		return is
	}))
}

// traced runs a program over an element, which it adds to a trace if the result has it.
func (r *run) traced(list *keep.ListTrace, from keep.Source, p *plan.Program, n *jsondoc.Node, partial bool) bool {
	outer, outerPartial := r.trace, r.partial
	r.trace, r.partial = list.Enter(from), partial
	is := r.program(p, n)
	if r.trace, r.partial = outer, outerPartial; !is {
		list.Drop()
	}
	return is
}

// elementsBefore returns the elements of a list from which rules take some away, if there is a
// trace.
func (r *run) elementsBefore(p *plan.Node, n *jsondoc.Node) []*jsondoc.Node {
	if r.trace == nil || p.Elem == nil || len(p.Picks) == 0 {
		return nil
	}
	all, err := n.Elements()
	r.note(err)
	return all
}

// picks cleans the elements that rules pick. An element goes if only its key is left, as a rule
// creates it again. The way back may put it elsewhere in the list, so the conversion may lose the
// order.
func (r *run) picks(p *plan.Node, n *jsondoc.Node, ops []transform.Operand) {
	r.mayLose = r.mayLose || p.Shifts && !r.isEmpty(n)
	if len(p.Picks) == 0 {
		return
	}
	var goes []*jsondoc.Node
	for i := range p.Picks {
		k := p.Picks[i]
		e := r.part(n, &k.At)
		if e == nil || slices.Contains(goes, e) {
			continue
		}
		r.mayLose = true
		before := r.moves
		if !r.clean(k, e, ops) || r.moves > before && r.hasOnlyKey(e, k.At) {
			goes = append(goes, e)
		}
	}
	r.mayLose = r.mayLose || !r.isEmpty(n)
	if len(goes) > 0 {
		r.note(n.Filter(func(_ []byte, m jsondoc.Member) bool { return !slices.Contains(goes, m.Node()) }))
	}
}

// hasOnlyKey reports whether an element has at most the key that it is picked by.
func (r *run) hasOnlyKey(e *jsondoc.Node, at plan.Step) bool {
	count := 0
	bare := e.Kind() == jsondoc.Map
	r.note(e.Each(func(name string, _ *jsondoc.Node) bool {
		count++
		bare = bare && at.Kind == plan.ByPick && name == at.Name
		return bare
	}))
	return bare && count <= 1
}

// branch converts a second copy of a value whose original another rule has moved.
func (r *run) branch(p *plan.Node, v jsondoc.Value) transform.Operand {
	n := r.alone(v)
	if n == nil || !r.content(p, n, nil) {
		r.mayLose = true
		return transform.Operand{}
	}
	return transform.Operand{Value: n.Value(), Present: true}
}
