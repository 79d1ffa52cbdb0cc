package plan

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Program is one direction of a binding: what to do with a value of the source's schema to make it one of the target's.
// It is immutable once it is compiled.
type Program struct {
	Src, Dst binding.Place
	Rules    []*Rule
	Reads    []*Rule  // that have inputs which are not read when they are taken away
	Computes []*Rule  // that do not just hand their value on
	Writes   []Write  // outer places first
	Late     []Write  // what fills places that are still absent: defaults, and values computed from nothing
	Watch    [][]Step // source places whose absence the way back would fill
	Always   bool     // the way back computes something from nothing, so it has to be looked at
	Root     *Node    // nil: there is nothing to take away
	Operands int
	building bool
}

// A Rule is a rule in one direction. Its operands are in the list of the run of its program, from inAt and outAt on.
type Rule struct {
	Syntax      *syntax.Rule
	Transform   transform.Transform // nil: the value moves as it is
	Backward    bool
	Guard       *transform.Guard
	In, Out     []Route
	InAt, OutAt int
	Check       bool  // outputs may be more than the target's schema admits
	MayLose     bool  // the way back may give something else
	straight    bool  // the value moves as it is, whatever it is: the input is the output
	Branch      *Node // of one that moves a value that another rule moves, too: what to do with its own copy
}

// A Route is a path from the root of a program's value. Private tells for each prefix of it that an object made there is gone
// again on the way back.
type Route struct {
	Steps   []Step
	Last    jsondoc.Name // of the last step, if it is one by name
	Place   binding.Place
	Private []bool
	Numbers []bool // for each step, whether it picks by a number
	Direct  bool   // of an input: it is read when it is taken away
	Picks   bool   // it leads to an element of a list
	// Of an output: the API server would remove a null there, though not where it is from; and the other way round.
	NoNull, NewNull bool
	Requires        bool // a value there has to have some field
	Section         Section
}

// A Write is an output of a rule, or a default.
type Write struct {
	Rule  *Rule
	Out   int
	Value jsondoc.Value // of a default
	Fixed bool
	depth int
	// beside: it goes into the object that the one before goes into.
	Beside bool
}

// Route returns where the write goes.
func (w *Write) Route() *Route { return &w.Rule.Out[w.Out] }

// build compiles one direction of a binding.
func (c *compiler) build(of *binding.Binding, src binding.Side) *Program {
	key := direction{of, src}
	if p := c.programs[key]; p != nil {
		return p
	}
	dst := src.Other()
	p := &Program{Src: of.Base[src], Dst: of.Base[dst], building: true}
	c.programs[key] = p
	b := &builder{
		c: c, p: p, src: src, dst: dst, in: &owned{}, out: &owned{},
		whole: of.Base[binding.OfSpoke] == c.spoke.Root.Base[binding.OfSpoke],
	}
	if name := of.Keys[src]; name != "" {
		key := b.in.make(Names(name))
		key.owner, key.bound = true, true
	}
	if name := of.Keys[dst]; name != "" {
		b.out.make(Names(name)).owner = true
	}
	for _, t := range of.Rules {
		if !t.Syntax.Broken {
			b.rule(t)
		}
	}
	for _, g := range of.Elements {
		if g.Paired() {
			b.elements(g)
		}
	}
	p.Root = b.place(b.in, b.out, p.Src, p.Dst, []Step{}, true)
	for _, m := range b.branches {
		b.branch(m)
	}
	b.finish()
	p.building = false
	return p
}

// A builder compiles a program.
type builder struct {
	c        *compiler
	p        *Program
	src, dst binding.Side
	whole    bool // the value is the whole object
	in, out  *owned
	// Of the places that are taken by a move already, what else moves them.
	branches []move
}

// owned is a tree of the places of one side that rules own.
type owned struct {
	kids []*owned
	by   map[Step]*owned // the kids
	at   Step
	// What owns the place: rules that read it, or one that moves it; just a rule; or the key of an element.
	rules            []*Rule
	reads            []input
	move             *move
	owner            bool
	dropped, bound   bool
	computedOnReturn bool
}

// An input is one of a rule.
type input struct {
	rule *Rule
	i    int
}

// A move is a rule that takes a value elsewhere as it is, and what happens to it before.
type move struct {
	rule     *Rule
	elements *binding.Elements
	below    *binding.Binding
}

func (o *owned) kid(s Step) *owned {
	if o == nil {
		return nil
	}
	return o.by[s]
}

func (o *owned) add(k *owned) {
	if o.by == nil {
		o.by = map[Step]*owned{}
	}
	o.kids, o.by[k.at] = append(o.kids, k), k
}

func (o *owned) make(path []Step) *owned {
	for _, s := range path {
		k := o.kid(s)
		if k == nil {
			k = &owned{at: s}
			o.add(k)
		}
		o = k
	}
	return o
}

func (o *owned) walk(path []Step) *owned {
	for _, s := range path {
		o = o.kid(s)
	}
	return o
}

// without returns what rules own below a place as nothing but that: who moves the place takes nothing of it along.
func (o *owned) without() *owned {
	if o == nil {
		return nil
	}
	bare := &owned{at: o.at}
	for _, k := range o.kids {
		if k.owner {
			bare.add(&owned{at: k.at, owner: true, dropped: true})
		} else {
			bare.add(k.without())
		}
	}
	return bare
}

func (o *owned) below() bool { return o != nil && len(o.kids) > 0 }

func routesOf(ends []binding.Path) []Route {
	routes := make([]Route, 0, len(ends))
	for _, e := range ends {
		r := Route{Steps: stepsOf(e.Segments), Place: e.Place, Requires: transform.Requires(e.Place.Node)}
		for i, s := range e.Segments {
			element := e.Base.Walk(e.Segments[:i+1])
			r.Picks = r.Picks || r.Steps[i].Kind != ByName
			r.Numbers = append(r.Numbers, s.Kind == syntax.Pick && element.Member(s.Name).Kind() == crdschema.Integer)
		}
		if last := len(r.Steps) - 1; last >= 0 {
			r.Last = jsondoc.NameOf(r.Steps[last].Name)
		}
		routes = append(routes, r)
	}
	return routes
}

// beside reports whether two routes lead to members of one object.
func (r *Route) beside(other *Route) bool {
	n, toElement := len(r.Steps), func(s Step) bool { return s.Kind != ByName }
	return n > 0 && n == len(other.Steps) && slices.Equal(r.Steps[:n-1], other.Steps[:n-1]) &&
		!slices.ContainsFunc(r.Steps, toElement) && other.Steps[n-1].Kind == ByName
}

// losesNull reports whether the API server removes a null at the end of the route: that of a member whose schema has no null
// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting.PruneNonNullableNullsWithoutDefaults). It looks at no
// elements of lists, and not into metadata.
func (r *Route) losesNull() bool {
	last := len(r.Steps) - 1
	return last >= 0 && r.Steps[last].Kind == ByName && r.Steps[0].Name != "metadata" && r.Place.Node != nil && !r.Place.Node.Nullable()
}

// rule adds a rule to the program.
func (b *builder) rule(t *binding.Rule) {
	in, out := t.Ends[b.src], t.Ends[b.dst]
	expressions := [2]*syntax.Text{t.Syntax.ToHub, t.Syntax.FromHub}
	computes, back, guard, otherGuard := expressions[b.src], expressions[b.dst], t.When[b.src], t.When[b.dst]
	l := &Rule{
		Syntax: t.Syntax, Transform: t.Transform, Backward: b.src == binding.OfHub, Guard: guard, In: routesOf(in), Out: routesOf(out),
	}
	for i := range l.Out {
		there, here := l.Out[i].losesNull(), l.Transform == nil && len(l.In) == 1 && l.In[0].losesNull()
		l.Out[i].NoNull, l.Out[i].NewNull = there && !here, here && !there
	}
	for i, d := range l.In {
		if t.DefaultOf(b.src, i) != nil {
			b.p.Watch = append(b.p.Watch, d.Steps)
		}
	}
	for i := range l.Out {
		if b.whole {
			l.Out[i].Section = SectionOf(l.Out[i].Steps)
		}
		b.out.make(l.Out[i].Steps).owner = true
		if d := t.DefaultOf(b.dst, i); d != nil {
			if v, err := jsondoc.RawValue(d.JSON); err == nil {
				b.p.Late = append(b.p.Late, Write{Rule: l, Out: i, Value: v, Fixed: true, depth: len(l.Out[i].Steps)})
			}
		}
	}
	switch {
	case len(in) == 0: // one-sided, of the target
		if computes != nil && t.How != binding.Drops {
			l.Check = slices.ContainsFunc(l.Out, func(r Route) bool { return r.Section != Elsewhere })
			b.operand(l)
			b.p.Rules = append(b.p.Rules, l)
			for i := range l.Out {
				b.p.Late = append(b.p.Late, Write{Rule: l, Out: i, depth: len(l.Out[i].Steps)})
			}
		}
	case len(out) == 0: // one-sided, of the source
		for i, e := range l.In {
			o := b.in.make(e.Steps)
			o.owner, o.dropped = true, t.How == binding.Drops
			o.computedOnReturn = back != nil || t.DefaultOf(b.src, i) != nil
			b.p.Always = b.p.Always || back != nil
		}
	case t.Hands():
		o := b.in.make(l.In[0].Steps)
		l.MayLose = guard != nil || otherGuard != nil
		if o.move == nil && len(o.rules) == 0 {
			o.owner, o.move = true, &move{rule: l, below: t.Below}
			return
		}
		l.Check = true
		b.compute(l)
		b.branches = append(b.branches, move{rule: l, below: t.Below})
	default:
		l.MayLose = !t.Transform.Injective(l.Backward) || guard != nil || otherGuard != nil ||
			slices.ContainsFunc(l.In, func(e Route) bool { return e.Requires })
		l.Check = true
		b.compute(l)
	}
}

// compute adds a rule that reads its inputs, whose places become its own.
func (b *builder) compute(l *Rule) {
	for i := range l.In {
		o := b.in.make(l.In[i].Steps)
		o.owner = true
		o.rules, o.reads = append(o.rules, l), append(o.reads, input{l, i})
	}
	b.operand(l)
	b.p.Rules = append(b.p.Rules, l)
	for i := range l.Out {
		b.p.Writes = append(b.p.Writes, Write{Rule: l, Out: i, depth: len(l.Out[i].Steps)})
	}
}

func (b *builder) operand(l *Rule) {
	l.InAt, l.OutAt = b.p.Operands, b.p.Operands+len(l.In)
	if l.straight {
		l.OutAt = l.InAt
	}
	b.p.Operands = l.OutAt + len(l.Out)
}

// elements adds the rules that go through elements.
func (b *builder) elements(g *binding.Elements) {
	l := &Rule{Backward: b.src == binding.OfHub, In: routesOf([]binding.Path{g.Ends[b.src]}), Out: routesOf([]binding.Path{g.Ends[b.dst]})}
	o, target := b.in.make(l.In[0].Steps), b.out.make(l.Out[0].Steps)
	if o.move != nil && o.move.elements == nil && slices.Equal(o.move.rule.Out[0].Steps, l.Out[0].Steps) {
		o.move.elements = g // a plain pair of the two lists says no more than they do
		return
	}
	if o.owner {
		return
	}
	o.owner, target.owner = true, true
	o.move = &move{rule: l, elements: g}
}

// finish orders the writes, sorts out the rules and finds the rules that share places.
func (b *builder) finish() {
	for _, w := range [][]Write{b.p.Writes, b.p.Late} {
		slices.SortStableFunc(w, func(a, b Write) int { return cmp.Compare(a.depth, b.depth) })
	}
	for i := 1; i < len(b.p.Writes); i++ {
		b.p.Writes[i].Beside = b.p.Writes[i].Route().beside(b.p.Writes[i-1].Route())
	}
	for _, l := range b.p.Rules {
		if slices.ContainsFunc(l.In, func(in Route) bool { return !in.Direct }) {
			b.p.Reads = append(b.p.Reads, l)
		}
		if len(l.In) > 0 && !l.straight {
			b.p.Computes = append(b.p.Computes, l)
		}
	}
}
