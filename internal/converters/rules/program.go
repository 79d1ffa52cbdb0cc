package rules

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A program is one direction of a relation: what to do with a value of the source's schema to make it one of the target's.
// It is immutable once it is compiled.
type program struct {
	src, dst spot
	links    []*link
	reads    []*link  // that have inputs which are not read when they are taken away
	computes []*link  // that do not just hand their value on
	writes   []write  // outer places first
	late     []write  // what fills places that are still absent: defaults, and values computed from nothing
	watch    [][]step // source places whose absence the way back would fill
	always   bool     // the way back computes something from nothing, so it has to be looked at
	root     *place   // nil: there is nothing to take away
	operands int
	building bool
}

// A link is a rule in one direction. Its operands are in the list of the run of its program, from inAt and outAt on.
type link struct {
	rule        *syntax.Rule
	t           transform.Transform // nil: the value moves as it is
	backward    bool
	guard       transform.Guard
	in, out     []route
	inAt, outAt int
	check       bool   // outputs may be more than the target's schema admits
	doubtful    bool   // the way back may give something else
	straight    bool   // the value moves as it is, whatever it is: the input is the output
	first       *first // where the only output is
	branch      *place // of one that moves a value that another link moves, too: what to do with its own copy
	unit        *unit
}

// A route is a path from the root of a program's value. Private tells for each prefix of it that an object made there is gone
// again on the way back.
type route struct {
	steps   []step
	last    jsondoc.Name // of the last step, if it is one by name
	spot    spot
	private []bool
	numbers []bool // for each step, whether it picks by a number
	direct  bool   // of an input: it is read when it is taken away
	picks   bool   // it leads to an element of a list
	// Of an output: the API server would remove a null there, though not where it is from; and the other way round.
	noNull, newNull bool
	requires        bool // a value there has to have some field
	section         section
}

// A unit is the rules that share places: their values are restored together or not at all.
type unit struct{ outs [][]step }

// A write is an output of a link, or a default.
type write struct {
	link  *link
	out   int
	value jsondoc.Value // of a default
	fixed bool
	depth int
	// beside: it goes into the object that the one before goes into.
	beside bool
}

func (w *write) route() *route { return &w.link.out[w.out] }

// build compiles one direction of a relation.
func (c *compiler) build(rel *relation, toHub bool) *program {
	slot := &rel.fromHub
	if toHub {
		slot = &rel.toHub
	}
	if *slot != nil {
		return *slot
	}
	p := &program{src: rel.hub, dst: rel.field, building: true}
	inKey, outKey := rel.hubKey, rel.fieldKey
	if toHub {
		p.src, p.dst, inKey, outKey = rel.field, rel.hub, rel.fieldKey, rel.hubKey
	}
	*slot = p
	b := &builder{c: c, p: p, rel: rel, toHub: toHub, in: &owned{}, out: &owned{}, whole: rel.field.node == c.fieldRoot && rel.field.known}
	if inKey != "" {
		key := b.in.make(names(inKey))
		key.owner, key.bound = true, true
	}
	if outKey != "" {
		b.out.make(names(outKey)).owner = true
	}
	for _, t := range rel.links {
		b.tie(t)
	}
	for _, g := range rel.groups {
		b.group(g)
	}
	p.root = b.place(b.in, b.out, p.src, p.dst, []step{}, true)
	for _, m := range b.branches {
		b.branch(m)
	}
	b.finish()
	p.building = false
	return p
}

// A builder compiles a program.
type builder struct {
	c       *compiler
	p       *program
	rel     *relation
	toHub   bool
	whole   bool // the value is the whole object
	in, out *owned
	moves   []*link
	// Of the places that are taken by a move already, what else moves them.
	branches []move
}

// owned is a tree of the places of one side that rules own.
type owned struct {
	kids []*owned
	at   step
	// What owns the place: links that read it, or one that moves it; just a rule; or the key of an element.
	links            []*link
	reads            []input
	move             *move
	owner            bool
	dropped, bound   bool
	computedOnReturn bool
}

// An input is one of a link.
type input struct {
	link *link
	i    int
}

// A move is a link that takes a value elsewhere as it is, and what happens to it before.
type move struct {
	link  *link
	group *group
	below *relation
}

func (o *owned) kid(s step) *owned {
	if o == nil {
		return nil
	}
	for _, k := range o.kids {
		if k.at == s {
			return k
		}
	}
	return nil
}

func (o *owned) make(path []step) *owned {
	for _, s := range path {
		k := o.kid(s)
		if k == nil {
			k = &owned{at: s}
			o.kids = append(o.kids, k)
		}
		o = k
	}
	return o
}

func (o *owned) walk(path []step) *owned {
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
			bare.kids = append(bare.kids, &owned{at: k.at, owner: true, dropped: true})
		} else {
			bare.kids = append(bare.kids, k.without())
		}
	}
	return bare
}

func (o *owned) below() bool { return o != nil && len(o.kids) > 0 }

// all lists the links that read the place or a part of it.
func (o *owned) all() []*link {
	if o == nil {
		return nil
	}
	list := slices.Clone(o.links)
	if o.move != nil && o.move.link != nil {
		list = append(list, o.move.link)
	}
	for _, k := range o.kids {
		list = append(list, k.all()...)
	}
	return list
}

func routesOf(ends []end) []route {
	routes := make([]route, 0, len(ends))
	for _, e := range ends {
		r := route{steps: stepsOf(e.path), spot: e.spot, requires: transform.Requires(e.spot.node)}
		for i, s := range e.path {
			element, _ := e.base.at(e.path[:i+1])
			r.picks = r.picks || r.steps[i].kind != byName
			r.numbers = append(r.numbers, s.Kind == syntax.Pick && element.member(s.Name).kind() == crdschema.Integer)
		}
		if last := len(r.steps) - 1; last >= 0 {
			r.last = jsondoc.NameOf(r.steps[last].name)
		}
		routes = append(routes, r)
	}
	return routes
}

// beside reports whether two routes lead to members of one object.
func (r *route) beside(other *route) bool {
	n, toElement := len(r.steps), func(s step) bool { return s.kind != byName }
	return n > 0 && n == len(other.steps) && slices.Equal(r.steps[:n-1], other.steps[:n-1]) &&
		!slices.ContainsFunc(r.steps, toElement) && other.steps[n-1].kind == byName
}

// losesNull reports whether the API server removes a null at the end of the route: that of a member whose schema has no null
// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting.PruneNonNullableNullsWithoutDefaults). It looks at no
// elements of lists, and not into metadata.
func (r *route) losesNull() bool {
	last := len(r.steps) - 1
	return last >= 0 && r.steps[last].kind == byName && r.steps[0].name != "metadata" && r.spot.node != nil && !r.spot.node.Nullable()
}

// tie adds a rule to the program.
func (b *builder) tie(t *tie) {
	in, out, r := t.hub, t.field, t.rule
	computes, back, guard, otherGuard := r.FromHub, r.ToHub, t.when[1], t.when[0]
	inDefault, outDefault := r.HubDefault, r.Default
	inPlace, outPlace := r.Hub, r.Field
	if b.toHub {
		in, out, computes, back, guard, otherGuard = out, in, back, computes, otherGuard, guard
		inDefault, outDefault, inPlace, outPlace = outDefault, inDefault, outPlace, inPlace
	}
	l := &link{rule: r, t: t.t, backward: !b.toHub, guard: guard, in: routesOf(in), out: routesOf(out)}
	for i := range l.out {
		there, here := l.out[i].losesNull(), l.t == nil && len(l.in) == 1 && l.in[0].losesNull()
		l.out[i].noNull, l.out[i].newNull = there && !here, here && !there
	}
	for i, d := range l.in {
		if fallback(inPlace, inDefault, i) != nil {
			b.p.watch = append(b.p.watch, d.steps)
		}
	}
	for i := range l.out {
		if b.whole {
			l.out[i].section = sectionOf(l.out[i].steps)
		}
		b.out.make(l.out[i].steps).owner = true
		if d := fallback(outPlace, outDefault, i); d != nil {
			if v, err := jsondoc.RawValue(d); err == nil {
				b.p.late = append(b.p.late, write{link: l, out: i, value: v, fixed: true, depth: len(l.out[i].steps)})
			}
		}
	}
	switch {
	case len(in) == 0: // one-sided, of the target
		if computes != nil && r.Drop == nil {
			l.check = slices.ContainsFunc(l.out, func(r route) bool { return r.section != elsewhere })
			b.operand(l)
			b.p.links = append(b.p.links, l)
			for i := range l.out {
				b.p.late = append(b.p.late, write{link: l, out: i, depth: len(l.out[i].steps)})
			}
		}
	case len(out) == 0: // one-sided, of the source
		for i, e := range l.in {
			o := b.in.make(e.steps)
			o.owner, o.dropped = true, r.Drop != nil
			o.computedOnReturn = back != nil || fallback(inPlace, inDefault, i) != nil
			b.p.always = b.p.always || back != nil
		}
	case t.plain:
		o := b.in.make(l.in[0].steps)
		l.doubtful, l.first = guard != nil || otherGuard != nil, firstOf(out[0])
		if o.move == nil && len(o.links) == 0 {
			o.owner, o.move = true, &move{link: l, below: t.below}
			return
		}
		l.check = true
		b.compute(l)
		b.branches = append(b.branches, move{link: l, below: t.below})
	default:
		l.doubtful = !t.t.Injective(l.backward) || guard != nil || otherGuard != nil ||
			slices.ContainsFunc(l.in, func(e route) bool { return e.requires })
		l.check = true
		b.compute(l)
	}
}

// compute adds a link that reads its inputs, whose places become its own.
func (b *builder) compute(l *link) {
	for i := range l.in {
		o := b.in.make(l.in[i].steps)
		o.owner = true
		o.links, o.reads = append(o.links, l), append(o.reads, input{l, i})
	}
	b.operand(l)
	b.p.links = append(b.p.links, l)
	for i := range l.out {
		b.p.writes = append(b.p.writes, write{link: l, out: i, depth: len(l.out[i].steps)})
	}
}

func (b *builder) operand(l *link) {
	l.inAt, l.outAt = b.p.operands, b.p.operands+len(l.in)
	if l.straight {
		l.outAt = l.inAt
	}
	b.p.operands = l.outAt + len(l.out)
}

// fallback returns the default of a path, as JSON, or nil.
func fallback(place *syntax.Place, d *syntax.Literal, i int) []byte {
	switch {
	case place == nil || d == nil:
		return nil
	case !place.Named:
		return d.JSON
	}
	if m := d.Member(place.Paths[i].Name); m != nil {
		return m.JSON
	}
	return nil
}

// group adds the rules that go through elements.
func (b *builder) group(g *group) {
	in, out := g.hub, g.field
	if b.toHub {
		in, out = out, in
	}
	l := &link{backward: !b.toHub, in: routesOf([]end{in}), out: routesOf([]end{out})}
	o, target := b.in.make(l.in[0].steps), b.out.make(l.out[0].steps)
	if o.move != nil && o.move.group == nil && slices.Equal(o.move.link.out[0].steps, l.out[0].steps) {
		o.move.group = g // a plain pair of the two lists says no more than the group
		return
	}
	if o.owner {
		return
	}
	o.owner, target.owner = true, true
	o.move = &move{link: l, group: g}
}

// finish orders the writes, sorts out the links and finds the rules that share places.
func (b *builder) finish() {
	for _, w := range [][]write{b.p.writes, b.p.late} {
		slices.SortStableFunc(w, func(a, b write) int { return cmp.Compare(a.depth, b.depth) })
	}
	for i := 1; i < len(b.p.writes); i++ {
		b.p.writes[i].beside = b.p.writes[i].route().beside(b.p.writes[i-1].route())
	}
	for _, l := range b.p.links {
		if slices.ContainsFunc(l.in, func(in route) bool { return !in.direct }) {
			b.p.reads = append(b.p.reads, l)
		}
		if len(l.in) > 0 && !l.straight {
			b.p.computes = append(b.p.computes, l)
		}
	}
	links := slices.Concat(b.p.links, b.moves)
	for _, l := range links {
		l.unit = &unit{}
	}
	for changed := true; changed; {
		changed = false
		for i, l := range links {
			for _, m := range links[:i] {
				if l.unit != m.unit && share(l, m) {
					l.unit, changed = m.unit, true
				}
			}
		}
	}
	for _, l := range links {
		for _, out := range l.out {
			if !slices.ContainsFunc(l.unit.outs, func(o []step) bool { return slices.Equal(o, out.steps) }) {
				l.unit.outs = append(l.unit.outs, out.steps)
			}
		}
	}
}

func share(l, m *link) bool {
	meet := func(a, b []route) bool {
		return slices.ContainsFunc(a, func(x route) bool {
			return slices.ContainsFunc(b, func(y route) bool { return slices.Equal(x.steps, y.steps) })
		})
	}
	return meet(l.in, m.in) || meet(l.out, m.out)
}
