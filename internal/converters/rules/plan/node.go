package plan

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
)

// A Node is what a program does at a place of the source. Places at which there is nothing to do are not there.
type Node struct {
	At          Step
	Disposition Disposition
	Src, Dst    binding.Place // Dst is what the target has there, if the place stays or is moved
	Dropped     bool          // what goes is not kept
	Computed    bool          // what goes is computed on the way back, as far as it can be
	Bound       bool          // it is the key of an element, which goes with whoever runs the program
	Vanishes    bool          // goes when it gets empty
	Check       bool          // values may be none of the target's schema
	Rules       []*Rule
	Reads       []int // where the operands are that get the value when it is taken
	Move        *Rule // to take the value with, when the rest is done
	Kids        []*Node
	Others      *Node    // any other member
	calm        []string // the members that are no others, and with which there is nothing to do, in order
	Picks       []*Node
	picked      map[Step]*Node // Picks, for the compiler
	Shifts      bool           // elements of the list may stand one place further in the target
	Elem        *Elements
	Sub         *Program
}

// Elements says how to go through a list or map.
type Elements struct {
	Program    *Program
	From, To   Collection
	Picked     bool   // rules pick elements of the target's list, so that it may not all be the map's on the way back
	Bind, Name string // the key field of a list that becomes a map, and of one that is made from a map
}

// A Collection is a list or a map.
type Collection int

// The collections.
const (
	List Collection = iota
	Dict
)

// Disposition is what happens to the value at a place.
type Disposition int

// What happens to values.
const (
	Stays   Disposition = iota
	Taken               // rules read it: it is theirs
	Gone                // nothing in the target is its counterpart
	Through             // an object or list that only the source has: it goes, with what is in it read before
)

// place compiles a place: in and out are what rules own there in the source and at its counterpart in the target, which is at
// path to if there is one. It returns nil where there is nothing to do.
func (b *builder) place(in, out *owned, src, dst binding.Place, to []Step, aligned bool) *Node {
	p := &Node{Src: src, Dst: dst}
	if in != nil {
		p.At = in.at
	}
	switch {
	case in != nil && in.move != nil:
		return b.moved(p, in, to, aligned)
	case in != nil && len(in.rules) > 0:
		p.Disposition, p.Rules = Taken, in.rules
		p.read(in.reads)
		return p
	case in != nil && in.bound:
		p.Disposition, p.Bound = Gone, true
		return p
	case in != nil && in.owner:
		p.Disposition, p.Dropped, p.Computed = Gone, in.dropped, in.computedOnReturn
		return p
	case aligned && !src.Known && !dst.Known:
		return nil
	case aligned && (out == nil || !out.owner) && dst.Known && src.Known && b.fit(src, dst, in):
		if !b.content(p, in, out, to) {
			return nil
		}
		return p
	case in.below():
		p.Disposition = Through
		b.unpaired(p, in)
		return p
	}
	p.Disposition = Gone
	return p
}

// fit reports whether the two places can be one: with rules below, both have to be of a kind that has something below.
func (b *builder) fit(src, dst binding.Place, in *owned) bool {
	return !in.below() || src.MayBeObject() && dst.MayBeObject() || src.MayBeList() && dst.MayBeList()
}

// moved compiles the place of a plain pair, a `use`, or of a list or map whose elements rules go through.
func (b *builder) moved(p *Node, in *owned, to []Step, aligned bool) *Node {
	m := in.move
	l := m.rule
	target := b.out.walk(l.Out[0].Steps)
	p.Src, p.Dst = l.In[0].Place, l.Out[0].Place
	useful := b.inside(p, in, target, m)
	if m.elements != nil && p.Src.MayBeList() && !p.Dst.MayBeList() {
		b.pickedOut(p, in)
	}
	if m.elements != nil && b.elementsOf(p, m.elements) {
		useful = true
		p.Elem.Picked = target != nil && slices.ContainsFunc(target.kids, func(o *owned) bool { return o.at.Kind != ByName })
	}
	if aligned && slices.Equal(to, l.Out[0].Steps) && !l.MayLose {
		if !useful && (l.Syntax == nil || l.Syntax.Default == nil && l.Syntax.HubDefault == nil) {
			return nil
		}
		return p
	}
	l.straight = l.Guard == nil && !l.MayLose
	b.operand(l)
	b.p.Writes = append(b.p.Writes, Write{Rule: l, depth: len(l.Out[0].Steps)})
	if !useful {
		p.Disposition, p.Rules = Taken, append(slices.Clone(in.rules), l)
		p.read(append(slices.Clone(in.reads), input{l, 0}))
		b.p.Rules = append(b.p.Rules, l)
		return p
	}
	p.Move, p.Rules = l, append(slices.Clone(in.rules), l)
	return p
}

// inside compiles what is in a place that moves, and reports whether there is anything to do.
func (b *builder) inside(p *Node, in, target *owned, m *move) bool {
	to := m.rule.Out[0].Steps
	if m.below == nil {
		return b.content(p, in, target, to)
	}
	p.Check = !p.Src.SameValues(p.Dst)
	useful := b.named(p, in, target, to) || p.Check
	if p.Sub = b.c.build(m.below, b.src); p.Sub.trivial() {
		p.Sub = nil
	}
	return useful || p.Sub != nil
}

// branch compiles what is in the copy of a place that another rule moves.
func (b *builder) branch(m move) {
	l := m.rule
	p := &Node{Src: l.In[0].Place, Dst: l.Out[0].Place}
	if b.inside(p, b.in.walk(l.In[0].Steps).without(), b.out.walk(l.Out[0].Steps), &m) {
		l.Branch = p
	}
}

// read has inputs of rules read when the value is taken.
func (p *Node) read(inputs []input) {
	for _, in := range inputs {
		in.rule.In[in.i].Direct = true
		p.Reads = append(p.Reads, in.rule.InAt+in.i)
	}
}

func (p *Program) trivial() bool {
	return !p.building && p.Root == nil && len(p.Rules) == 0 && len(p.Writes) == 0 && len(p.Late) == 0 && len(p.Watch) == 0 && !p.Always
}

// content compiles what is in a place that has a counterpart, and reports whether there is anything to do.
func (b *builder) content(p *Node, in, out *owned, to []Step) bool {
	if !in.below() && !out.below() && p.Src.Same(p.Dst) {
		return false
	}
	useful := false
	if p.Src.MayBeObject() && p.Dst.MayBeObject() {
		useful = b.members(p, in, out, to)
	}
	if p.Src.MayBeList() && p.Dst.MayBeList() {
		useful = b.list(p, in, out, to) || useful
	}
	if !p.Src.SameValues(p.Dst) {
		p.Check, useful = true, true
	}
	return useful
}

func (b *builder) members(p *Node, in, out *owned, to []Step) bool {
	if in != nil && in.move != nil && in.move.elements != nil {
		return b.named(p, in, out, to) // for the others there is a program
	}
	all := slices.Concat(p.Src.Node.Properties(), p.Dst.Node.Properties())
	for _, o := range []*owned{in, out} {
		if o != nil {
			for _, k := range o.kids {
				if k.at.Kind == ByName {
					all = append(all, k.at.Name)
				}
			}
		}
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		s := Step{Name: name}
		if k := b.place(in.kid(s), out.kid(s), p.Src.Member(name), p.Dst.Member(name), Join(to, s), true); k != nil {
			k.At = s
			k.Vanishes = b.whole && len(to) == 1 && to[0].Name == "metadata" && (name == "labels" || name == "annotations")
			p.Kids = append(p.Kids, k)
		} else {
			p.calm = append(p.calm, name)
		}
	}
	if p.Src.Others().Known || p.Dst.Others().Known {
		p.Others = b.place(nil, nil, p.Src.Others(), p.Dst.Others(), nil, true)
	}
	return len(p.Kids) > 0 || p.Others != nil
}

// named compiles the members of an object that rules name, and leaves the others alone.
func (b *builder) named(p *Node, in, out *owned, to []Step) bool {
	if in == nil || !p.Src.MayBeObject() {
		return false
	}
	for _, o := range in.kids {
		if o.at.Kind != ByName {
			continue
		}
		k := b.place(o, out.kid(o.at), p.Src.Member(o.at.Name), p.Dst.Member(o.at.Name), Join(to, o.at), true)
		if k != nil {
			p.Kids = append(p.Kids, k)
		}
	}
	slices.SortFunc(p.Kids, func(a, b *Node) int { return strings.Compare(a.At.Name, b.At.Name) })
	return len(p.Kids) > 0
}

// list compiles the elements of a list that no rule goes through, and those that rules pick.
func (b *builder) list(p *Node, in, out *owned, to []Step) bool {
	b.picks(p, in, out, to)
	grouped := in != nil && in.move != nil && in.move.elements != nil
	if !grouped && p.Src.Items().Known && p.Dst.Items().Known && !p.Src.Items().Same(p.Dst.Items()) {
		rel := b.implicit(p.Src.Items(), p.Dst.Items())
		if elem := b.c.build(rel, b.src); !elem.trivial() {
			p.Elem = &Elements{Program: elem}
		}
	}
	return len(p.Picks) > 0 || p.Shifts || p.Elem != nil
}

// implicit is the binding of elements that no rule is about.
func (b *builder) implicit(src, dst binding.Place) *binding.Binding {
	var base [2]binding.Place
	base[b.src], base[b.dst] = src, dst
	if b.c.implicit[base] == nil {
		b.c.implicit[base] = &binding.Binding{Base: base}
	}
	return b.c.implicit[base]
}

func (b *builder) picks(p *Node, in, out *owned, to []Step) {
	var all []Step
	had := map[Step]bool{}
	for _, o := range []*owned{in, out} {
		if o == nil {
			continue
		}
		for _, k := range o.kids {
			switch {
			case o == out && k.at.Kind == ByFirst:
				p.Shifts = true // a rule puts an element before those of the list
			case k.at.Kind != ByName && !had[k.at]:
				all, had[k.at] = append(all, k.at), true
			}
		}
	}
	for _, s := range all {
		items, target := p.Src.Items(), p.Dst.Items()
		if k := b.place(in.kid(s), out.kid(s), items, target, Join(to, s), p.Dst.Known); k != nil {
			k.At = s
			p.Picks = append(p.Picks, k)
		}
	}
}

// pickedOut compiles the elements that rules pick out of a list before the others become the entries of a map.
func (b *builder) pickedOut(p *Node, in *owned) {
	for _, o := range in.kids {
		if o.at.Kind == ByName {
			continue
		}
		if k := b.place(o, nil, p.Src.Items(), binding.Place{}, nil, false); k != nil {
			k.At = o.at
			p.Picks = append(p.Picks, k)
		}
	}
}

// unpaired compiles what is in a place that has no counterpart, but rules below that do.
func (b *builder) unpaired(p *Node, in *owned) {
	p.Dst = binding.Place{}
	all := slices.Clone(p.Src.Node.Properties())
	for _, k := range in.kids {
		if k.at.Kind == ByName {
			all = append(all, k.at.Name)
		}
	}
	slices.Sort(all)
	for _, name := range slices.Compact(all) {
		s := Step{Name: name}
		if k := b.place(in.kid(s), nil, p.Src.Member(name), binding.Place{}, nil, false); k != nil {
			k.At = s
			p.Kids = append(p.Kids, k)
		}
	}
	b.picks(p, in, nil, nil)
}

// elementsOf compiles the elements that rules go through.
func (b *builder) elementsOf(p *Node, g *binding.Elements) bool {
	from, to := g.By[b.src], g.By[b.dst]
	p.Elem = &Elements{}
	e := p.Elem
	if binding.IsMap(from) {
		e.From = Dict
	}
	if binding.IsMap(to) {
		e.To = Dict
	}
	if !binding.IsMap(from) && binding.IsMap(to) {
		e.Bind = from.Name
	}
	if binding.IsMap(from) && !binding.IsMap(to) {
		e.Name = to.Name
	}
	e.Program = b.c.build(g.Binding, b.src)
	if e.Program.trivial() && e.From == e.To {
		p.Elem = nil
	}
	return p.Elem != nil
}
