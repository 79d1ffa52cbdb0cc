package rules

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// clean makes of the value at a place what stays of it in the target, and reports whether it stays. What moves is in ops then.
func (r *run) clean(p *place, n *jsondoc.Node, ops []transform.Operand) bool {
	switch p.fate {
	case taken:
		r.take(p, n.Value(), ops)
		return false
	case gone:
		r.doubt = r.doubt || !p.dropped && !p.bound
		return false
	case through:
		r.through(p, n, ops)
		return false
	case stays:
	}
	moves := p.move != nil && r.mayMove(p.move, n, ops)
	if !r.content(p, n, ops) {
		r.doubt = true
		return false
	}
	if p.vanishes && n.Kind() == jsondoc.Map && !n.Untouched() && r.isEmpty(n) {
		return false
	}
	if l := p.move; l != nil {
		r.taken++
		r.doubt = r.doubt || l.doubtful
		ops[l.inAt] = transform.Operand{Value: n.Value(), Present: true}
		if moves {
			ops[l.outAt] = ops[l.inAt]
		}
		return false
	}
	return true
}

// mayMove asks the guard of a link, which sees the value before anything is taken out of it.
func (r *run) mayMove(l *link, n *jsondoc.Node, ops []transform.Operand) bool {
	in := ops[l.inAt : l.inAt+1]
	in[0] = transform.Operand{Value: n.Value(), Present: true}
	return l.guard == nil || r.allowed(l, in)
}

// through takes out of a value that goes what moves elsewhere. Doubt is about anything else in it, and about an object whose
// presence alone says something.
func (r *run) through(p *place, n *jsondoc.Node, ops []transform.Operand) {
	before := r.taken
	switch n.Kind() {
	case jsondoc.Map:
		r.members(p, n, ops)
	case jsondoc.Array:
		r.picks(p, n, ops)
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool, jsondoc.Number, jsondoc.String:
	}
	if !r.isEmpty(n) || r.taken == before {
		r.doubt = true
	}
}

// content converts what is in a value, and reports whether the target's schema has the rest of it.
func (r *run) content(p *place, n *jsondoc.Node, ops []transform.Operand) bool {
	kind := n.Kind()
	switch {
	case p.elem != nil && p.elem.from != p.elem.to && kind == p.elem.from.kind():
		r.members(p, n, ops)
		r.picks(p, n, ops)
		r.rebuild(p.elem, n)
		r.doubt = r.doubt || p.elem.picked
		return true
	case kind == jsondoc.Map && p.src.mayBeObject() && p.dst.mayBeObject():
		if r.members(p, n, ops); p.elem != nil && p.elem.from == dict {
			r.each(p.elem, n)
		}
	case kind == jsondoc.Array && p.src.mayBeList() && p.dst.mayBeList():
		if r.picks(p, n, ops); p.elem != nil && p.elem.from == list {
			r.each(p.elem, n)
		}
	case p.check:
		return r.fits(p, n)
	}
	return p.sub == nil || r.program(p.sub, n)
}

func (c collection) kind() jsondoc.Kind {
	if c == dict {
		return jsondoc.Map
	}
	return jsondoc.Array
}

// fits reports whether a value can stay as it is. One that neither schema has stays: it is wrong here and there.
func (r *run) fits(p *place, n *jsondoc.Node) bool {
	after, before := p.dst.admits(n), p.src.admits(n)
	r.doubt = r.doubt || after != before
	return after || !before
}

// members cleans the members of an object.
func (r *run) members(p *place, n *jsondoc.Node, ops []transform.Operand) {
	if len(p.kids) == 0 && p.others == nil {
		return
	}
	next := 0
	r.note(n.Filter(func(name []byte, m jsondoc.Member) bool {
		switch k := p.inTurn(name, &next); {
		case k == nil:
			return true
		case k.fate == taken:
			r.take(k, m.Value(), ops)
			return false
		default:
			return r.clean(k, m.Node(), ops)
		}
	}))
}

// take hands a value to those who read it.
func (r *run) take(p *place, v jsondoc.Value, ops []transform.Operand) {
	r.taken++
	for _, i := range p.reads {
		ops[i].Value, ops[i].Present = v, true
	}
}

// inTurn is named for the members of an object one after the other: the API server writes them in the order of their names,
// which is that of the places, so that the next one is mostly the right one (BenchmarkConvert).
func (p *place) inTurn(name []byte, next *int) *place {
	if i := *next; i < len(p.kids) && p.kids[i].at.name == string(name) {
		*next++
		return p.kids[i]
	}
	i, found := p.search(name)
	if found {
		*next = i + 1
		return p.kids[i]
	}
	return p.another(name)
}

// named is kid for a name that is no string yet.
func (p *place) named(name []byte) *place {
	if i, found := p.search(name); found {
		return p.kids[i]
	}
	return p.another(name)
}

// search returns which of the kids has a name.
func (p *place) search(name []byte) (int, bool) {
	low, high := 0, len(p.kids)
	for low < high {
		switch mid := (low + high) / 2; {
		case p.kids[mid].at.name == string(name):
			return mid, true
		case p.kids[mid].at.name < string(name):
			low = mid + 1
		default:
			high = mid
		}
	}
	return low, false
}

// another returns the place of a member that is none of the kids.
func (p *place) another(name []byte) *place {
	if p.others == nil || slices.Contains(p.calm, string(name)) {
		return nil
	}
	return p.others
}

// kid returns the place of a member, or nil.
func (p *place) kid(name string) *place {
	if p == nil {
		return nil
	}
	return p.named([]byte(name))
}

// each runs the program of the elements of a list, or of the values of a map. One that has no value afterwards leaves.
func (r *run) each(e *elements, n *jsondoc.Node) {
	r.note(n.Filter(func(_ []byte, m jsondoc.Member) bool {
		is := r.program(e.p, m.Node())
		r.doubt = r.doubt || !is
		return is
	}))
}

// picks cleans the elements that rules pick. One of which only the key is left goes: a rule made it, or makes it again. The
// way back may put it elsewhere in the list, so there is doubt whenever there are elements.
func (r *run) picks(p *place, n *jsondoc.Node, ops []transform.Operand) {
	r.doubt = r.doubt || p.shifts && !r.isEmpty(n)
	if len(p.picks) == 0 {
		return
	}
	var goes []*jsondoc.Node
	for i := range p.picks {
		k := p.picks[i]
		e := r.part(n, &k.at)
		if e == nil || slices.Contains(goes, e) {
			continue
		}
		r.doubt = true
		before := r.taken
		if !r.clean(k, e, ops) || r.taken > before && r.isBare(e, k.at) {
			goes = append(goes, e)
		}
	}
	r.doubt = r.doubt || !r.isEmpty(n)
	if len(goes) > 0 {
		r.note(n.Filter(func(_ []byte, m jsondoc.Member) bool { return !slices.Contains(goes, m.Node()) }))
	}
}

// isBare reports whether nothing is left of an element but the key that it is picked by.
func (r *run) isBare(e *jsondoc.Node, at step) bool {
	count := 0
	bare := e.Kind() == jsondoc.Map
	r.note(e.Each(func(name string, _ *jsondoc.Node) bool {
		count++
		bare = bare && at.kind == byPick && name == at.name
		return bare
	}))
	return bare && count <= 1
}
