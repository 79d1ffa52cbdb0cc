package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Node is what a program does at a place of the source. Places that stay untouched have none.
type Node struct {
	At          Step
	Disposition Disposition
	Src, Dst    binding.Place // Dst is unknown unless the place stays or is moved
	ByRule      bool          // a value that goes is not kept
	Refilled    bool          // of a value that goes, the program's Refills say whether it is lost
	Bound       bool          // the place is the key of an element, which goes when a map is made of a list
	DropIfEmpty bool          // it goes if it becomes empty
	Check       bool          // the target's schema may not allow the value
	Reads       []int         // the operands that get the value when it is moved
	Move        *Rule         // takes the value along after everything else
	Children    []*Node       // the members, in the order of their names
	Others      *Node         // any member that index does not have
	index       map[string]int
	Picks       []*Node
	picked      map[Step]*Node // Picks, for the compiler
	Shifts      bool           // the elements of the list may move up by one place in the target
	Elem        *Elements
	Sub         *Program
	Use         *binding.Rule // the rule that applies the rule set of Sub
}

// Elements says how to go through a list or map.
type Elements struct {
	Program  *Program
	Of       *binding.Elements
	From, To jsondoc.Kind
	Picked   bool   // rules pick elements of the target's list, so the way back may not put them all into the map
	Key      string // the key field of a list that becomes a map or is made from one
}

// Disposition is what happens to the value at a place.
type Disposition int

// What happens to values.
const (
	Keep   Disposition = iota
	Move               // rules read it and own it
	Drop               // the target has no counterpart
	Unwrap             // an object or list that only the source has: it goes once rules have read what is in it
)

// Member returns the node of a member, or nil. Calls for the members of an object share next, which
// starts at 0: the API server writes members in the order of their names, so the next node is
// usually the right one (BenchmarkConvert).
func (p *Node) Member(name []byte, next *int) *Node {
	if i := *next; i < len(p.Children) && p.Children[i].At.Name == string(name) {
		*next++
		return p.Children[i]
	}
	return p.member(name, next)
}

func (p *Node) member(name []byte, next *int) *Node {
	i, named := p.index[string(name)]
	switch {
	case !named:
		return p.Others
	case i == untouched:
		return nil
	}
	*next = i + 1
	return p.Children[i]
}

// untouched is the index of a member that stays as it is.
const untouched = -1

// node compiles a place. In and out are what rules own there in the source and at its counterpart,
// which is at path to of the target if the two are aligned. It returns nil if there is nothing to
// do.
func (b *builder) node(in, out *claims, src, dst binding.Place, to []Step, aligned bool) *Node {
	p := &Node{Src: src, Dst: dst}
	if in != nil {
		p.At = in.at
	}
	switch {
	case in != nil && in.move != nil:
		return b.moved(p, in, to, aligned)
	case in != nil && len(in.rules) > 0:
		p.Disposition = Move
		p.read(in.reads)
		return p
	case in != nil && in.claimed:
		p.Disposition, p.ByRule, p.Bound, p.Refilled = Drop, in.byRule, in.bound, in.refilled
		return p
	case aligned && !src.Known && !dst.Known:
		return nil
	case aligned && (out == nil || !out.claimed) && dst.Known && src.Known && fit(src, dst, in):
		if !b.content(p, in, out, to) {
			return nil
		}
		return p
	case in.below():
		p.Disposition, p.Dst = Unwrap, binding.Place{}
		b.membersNamed(p, in, nil, nil, in.names(slices.Clone(src.Node.Properties())), false)
		b.picks(p, in, nil, nil, false)
		return p
	}
	p.Disposition = Drop
	return p
}

// fit reports whether one place can become the other. If there are rules below, both must be of a
// kind that has something below.
func fit(src, dst binding.Place, in *claims) bool {
	return !in.below() || src.MayBeObject() && dst.MayBeObject() || src.MayBeList() && dst.MayBeList()
}

// moved compiles the place of a plain pair, a `use`, or of a list or map whose elements have rules.
func (b *builder) moved(p *Node, in *claims, to []Step, aligned bool) *Node {
	m := in.move
	r := m.rule
	target := b.out.walk(r.Out[0].Steps)
	p.Src, p.Dst = r.In[0].Place, r.Out[0].Place
	useful := b.inside(p, in, target, m)
	if m.elements != nil && p.Src.MayBeList() && !p.Dst.MayBeList() {
		b.picks(p, in, nil, nil, false) // before the other elements become the entries of a map
	}
	if m.elements != nil && b.elementsOf(p, m.elements) {
		useful = true
		p.Elem.Picked = len(target.picks()) > 0
	}
	if aligned && slices.Equal(to, r.Out[0].Steps) && !r.MayLose {
		if !useful && !r.defaults {
			return nil
		}
		return p
	}
	r.passthrough = r.Guard == nil && !r.MayLose
	b.operand(r)
	b.p.Writes = append(b.p.Writes, Write{Rule: r})
	if !useful {
		p.Disposition = Move
		p.read(append(slices.Clone(in.reads), input{r, 0}))
		b.p.rules = append(b.p.rules, r)
		return p
	}
	p.Move = r
	return p
}

// inside compiles what is in a place that moves, and reports whether there is anything to do.
func (b *builder) inside(p *Node, in, target *claims, m *move) bool {
	to := m.rule.Out[0].Steps
	if m.below == nil {
		return b.content(p, in, target, to)
	}
	p.Check = !p.Src.SameValues(p.Dst)
	useful := b.named(p, in, target, to) || p.Check
	if p.Sub, p.Use = b.c.build(m.below, b.src), m.rule.Of; p.Sub.trivial() {
		p.Sub = nil
	}
	return useful || p.Sub != nil
}

// branch compiles what is in a second copy of a place, which another rule moves.
func (b *builder) branch(m move) {
	r := m.rule
	p := &Node{Src: r.In[0].Place, Dst: r.Out[0].Place}
	if b.inside(p, b.in.walk(r.In[0].Steps).without(), b.out.walk(r.Out[0].Steps), &m) {
		r.Branch = p
	}
}

// read sets inputs of rules when the value is moved.
func (p *Node) read(inputs []input) {
	for _, in := range inputs {
		in.rule.In[in.i].Direct = true
		p.Reads = append(p.Reads, in.rule.InAt+in.i)
	}
}

func (p *Program) trivial() bool {
	return !p.building && p.Root == nil && len(p.rules) == 0 && len(p.Writes) == 0 && len(p.Late) == 0 && len(p.Watch) == 0 && len(p.Refills) == 0 && !p.Always
}

// content compiles what is in a place that has a counterpart, and reports whether there is anything
// to do.
func (b *builder) content(p *Node, in, out *claims, to []Step) bool {
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

// grouped reports whether rules go through the elements of the place.
func (o *claims) grouped() bool { return o != nil && o.move != nil && o.move.elements != nil }

func (b *builder) members(p *Node, in, out *claims, to []Step) bool {
	if in.grouped() {
		return b.named(p, in, out, to) // the program of the elements is for the others
	}
	b.membersNamed(p, in, out, to, out.names(in.names(slices.Concat(p.Src.Node.Properties(), p.Dst.Node.Properties()))), true)
	if p.Src.Others().Known || p.Dst.Others().Known {
		p.Others = b.node(nil, nil, p.Src.Others(), p.Dst.Others(), nil, true)
	}
	return len(p.Children) > 0 || p.Others != nil
}

// named compiles only the members of an object that rules name.
func (b *builder) named(p *Node, in, out *claims, to []Step) bool {
	if p.Src.MayBeObject() {
		b.membersNamed(p, in, out, to, in.names(nil), true)
	}
	return len(p.Children) > 0
}

// membersNamed compiles the members of an object that have some names.
func (b *builder) membersNamed(p *Node, in, out *claims, to []Step, names []string, aligned bool) {
	slices.Sort(names)
	p.index = make(map[string]int, len(names))
	tags := b.whole && aligned && len(to) == 1 && to[0].Name == "metadata"
	for _, name := range slices.Compact(names) {
		s := Step{Name: name}
		k := b.node(in.child(s), out.child(s), p.Src.Member(name), p.Dst.Member(name), join(to, s), aligned)
		if k == nil {
			p.index[name] = untouched
			continue
		}
		k.At, k.DropIfEmpty = s, tags && (name == "labels" || name == "annotations")
		p.index[name] = len(p.Children)
		p.Children = append(p.Children, k)
	}
}

// list compiles a list: the elements that rules pick, and the others if no rule goes through them.
func (b *builder) list(p *Node, in, out *claims, to []Step) bool {
	b.picks(p, in, out, to, p.Dst.Known)
	if !in.grouped() && p.Src.Items().Known && p.Dst.Items().Known && !p.Src.Items().Same(p.Dst.Items()) {
		if elem := b.c.build(b.implicit(p.Src.Items(), p.Dst.Items()), b.src); !elem.trivial() {
			p.Elem = &Elements{Program: elem, From: jsondoc.Array, To: jsondoc.Array}
		}
	}
	return len(p.Picks) > 0 || p.Shifts || p.Elem != nil
}

// implicit returns the binding of elements that have no rules.
func (b *builder) implicit(src, dst binding.Place) *binding.Binding {
	var base [2]binding.Place
	base[b.src], base[b.dst] = src, dst
	if b.c.implicit[base] == nil {
		b.c.implicit[base] = &binding.Binding{Base: base}
	}
	return b.c.implicit[base]
}

// picks compiles the elements that rules pick on either side.
func (b *builder) picks(p *Node, in, out *claims, to []Step, aligned bool) {
	var all []Step
	had := map[Step]bool{}
	add := func(s Step) {
		if !had[s] {
			all, had[s] = append(all, s), true
		}
	}
	for _, k := range in.picks() {
		add(k.at)
	}
	for _, k := range out.picks() {
		if k.at.Kind == ByFirst {
			p.Shifts = true // a rule puts an element before those of the list
		} else {
			add(k.at)
		}
	}
	for _, s := range all {
		if k := b.node(in.child(s), out.child(s), p.Src.Items(), p.Dst.Items(), join(to, s), aligned); k != nil {
			k.At = s
			p.Picks = append(p.Picks, k)
		}
	}
}

// elementsOf compiles the rules of elements, and reports whether there is anything to do.
func (b *builder) elementsOf(p *Node, of *binding.Elements) bool {
	kind := func(by binding.Side) jsondoc.Kind {
		if binding.IsMap(of.By[by]) {
			return jsondoc.Map
		}
		return jsondoc.Array
	}
	e := &Elements{Program: b.c.build(of.Binding, b.src), Of: of, From: kind(b.src), To: kind(b.dst)}
	if e.From == e.To && e.Program.trivial() {
		return false
	}
	if e.Key = of.By[b.src].Name; e.From == jsondoc.Map {
		e.Key = of.By[b.dst].Name
	}
	p.Elem = e
	return true
}
