package plan

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Program is one direction of a binding: how to convert a value of the source's schema to one of
// the target's. It is immutable once compiled.
type Program struct {
	Reads    []*Rule  // with inputs that are read before anything is moved
	Computes []*Rule  // that do not just hand on their value
	Writes   []Write  // outer places first
	Late     []Write  // to places that are still absent: defaults, and values computed from nothing
	Elements []*Rule  // whose expressions read the element that they are in
	Watch    [][]Step // source places that the way back would fill if they are absent
	Refills  []Refill // of these, the fields that are known
	Always   bool     // the way back computes something from nothing, so it always has to run
	Root     *Node    // nil: there is nothing to take away
	Operands int
	rules    []*Rule
	building bool
}

// A Rule is a rule in one direction. Its inputs and outputs are operands of its program's run,
// starting at InAt and OutAt.
type Rule struct {
	Transform   *transform.Way // nil: the value moves as it is
	Guard       *transform.Guard
	In, Out     []Route
	InAt, OutAt int
	Check       bool // the target's schema may not allow the outputs
	MayLose     bool // the way back may give something else
	// Undo is the way back, which gives something else only if it does so for the outputs alone.
	// Nil if nothing has to be undone, or more than the outputs decides.
	Undo *transform.Way
	// Element leads from the program's value to what expressions read as element, if Elements of
	// the program has the rule. ElementAt is its operand.
	Element     []Step
	ElementAt   int
	Branch      *Node // what to do with the value if another rule has moved the original
	Of          *binding.Rule
	passthrough bool // the input is the output
	defaults    bool // it has a default on either side
}

// A Route is a path from the root of a program's value.
type Route struct {
	Steps   []Step
	Last    jsondoc.Name // the name of the last step, if any
	Place   binding.Place
	Private []bool   // of the objects created at each step, those that the way back removes again
	Keys    [][]byte // the keys of the steps that pick, as JSON
	Direct  bool     // an input that is read when it is moved
	Picks   bool     // it leads to an element of a list
	// Of an output: the API server removes a null here, but not at the source; and the other way
	// round.
	NoNull, NewNull bool
	Requires        bool // a value here has required fields
	Section         Section
}

// A Write is an output of a rule, or a default.
type Write struct {
	Rule       *Rule
	Out        int
	Value      jsondoc.Value // the default
	Fixed      bool          // it is a default
	SameObject bool          // it goes into the same object as the write before it
	Dropped    bool          // the way back drops it, and nothing depends on it
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
	p := &Program{building: true}
	c.programs[key] = p
	b := &builder{
		c: c, p: p, src: src, dst: dst, in: &claims{}, out: &claims{},
		whole: of.Base[binding.OfSpoke] == c.spoke.Root.Base[binding.OfSpoke],
	}
	if name := of.Keys[src]; name != "" {
		key := b.in.make([]Step{{Name: name}})
		key.claimed, key.bound = true, true
	}
	if name := of.Keys[dst]; name != "" {
		b.out.make([]Step{{Name: name}}).claimed = true
	}
	for _, r := range of.Rules {
		if !r.Syntax.Broken {
			b.rule(r)
		}
	}
	for _, e := range of.Elements {
		if e.Paired() {
			b.elements(e)
		}
	}
	p.Root = b.node(b.in, b.out, of.Base[src], of.Base[dst], []Step{}, true)
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
	in, out  *claims
	branches []move // further moves of places that are moved already
}

// claims is a tree of the places of one side that rules own.
type claims struct {
	children []*claims
	by       map[Step]*claims // the children
	at       Step

	claimed       bool // a rule, or the key of an element, owns the place
	rules         []*Rule
	reads         []input // of the rules
	move          *move
	byRule, bound bool
	refilled      bool // as of Program.Refills
}

// An input is one of a rule.
type input struct {
	rule *Rule
	i    int
}

// A move is a rule that takes a value elsewhere, and what converts it on the way.
type move struct {
	rule     *Rule
	elements *binding.Elements
	below    *binding.Binding
}

func (o *claims) child(s Step) *claims {
	if o == nil {
		return nil
	}
	return o.by[s]
}

func (o *claims) add(k *claims) {
	if o.by == nil {
		o.by = map[Step]*claims{}
	}
	o.children, o.by[k.at] = append(o.children, k), k
}

func (o *claims) make(path []Step) *claims {
	for _, s := range path {
		k := o.child(s)
		if k == nil {
			k = &claims{at: s}
			o.add(k)
		}
		o = k
	}
	return o
}

func (o *claims) walk(path []Step) *claims {
	for _, s := range path {
		o = o.child(s)
	}
	return o
}

// without returns a copy in which everything that rules own is dropped: a second move of the place
// takes none of it along.
func (o *claims) without() *claims {
	if o == nil {
		return nil
	}
	bare := &claims{at: o.at}
	for _, k := range o.children {
		if k.claimed {
			bare.add(&claims{at: k.at, claimed: true, byRule: true})
		} else {
			bare.add(k.without())
		}
	}
	return bare
}

func (o *claims) below() bool { return o != nil && len(o.children) > 0 }

// picks returns the children that are elements of a list.
func (o *claims) picks() (picks []*claims) {
	if o == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(o.children), func(k *claims) bool { return k.at.Kind == ByName })
}

// names appends the names of the children that are members of an object.
func (o *claims) names(names []string) []string {
	if o == nil {
		return names
	}
	for _, k := range o.children {
		if k.at.Kind == ByName {
			names = append(names, k.at.Name)
		}
	}
	return names
}

func routesOf(paths []binding.Path) []Route {
	routes := make([]Route, 0, len(paths))
	for _, p := range paths {
		r := Route{
			Steps: stepsOf(p.Segments), Place: p.Place, Requires: p.Place.Node.Requires(), Keys: make([][]byte, len(p.Segments)),
		}
		for i, s := range p.Segments {
			r.Picks = r.Picks || r.Steps[i].Kind != ByName
			if s.Kind == syntax.Pick {
				r.Keys[i] = keyText(p.Base.Walk(p.Segments[:i+1]), s)
			}
		}
		if last := len(r.Steps) - 1; last >= 0 {
			r.Last = jsondoc.NameOf(r.Steps[last].Name)
		}
		routes = append(routes, r)
	}
	return routes
}

// keyText returns the key that a segment picks an element by, as JSON: a number or a string.
func keyText(element binding.Place, s syntax.Segment) []byte {
	if element.Member(s.Name).Kind() == crdschema.Integer {
		return []byte(s.Value)
	}
	return jsondoc.StringValue(s.Value).Text()
}

// sameObject reports whether two routes lead to members of the same object.
func (r *Route) sameObject(other *Route) bool {
	n := len(r.Steps)
	return n > 0 && n == len(other.Steps) && slices.Equal(r.Steps[:n-1], other.Steps[:n-1]) && !r.Picks && !other.Picks
}

// losesNull reports whether the API server removes a null at the end of the route, as it does from
// objects outside metadata whose schema does not allow null
// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting.PruneNonNullableNullsWithoutDefaults).
func (r *Route) losesNull() bool {
	last := len(r.Steps) - 1
	return last >= 0 && r.Steps[last].Kind == ByName && r.Steps[0].Name != "metadata" && r.Place.Node != nil && !r.Place.Node.Nullable()
}

// rule adds a rule to the program.
func (b *builder) rule(of *binding.Rule) {
	computed := [2]bool{of.Syntax.ToHub != nil, of.Syntax.ToSpoke != nil}
	guarded := of.When[b.src] != nil || of.When[b.dst] != nil
	r := &Rule{
		Of: of, Transform: of.Transform[b.src], Guard: of.When[b.src], In: routesOf(of.Ends[b.src]), Out: routesOf(of.Ends[b.dst]),
		defaults: of.HasDefault(binding.OfSpoke) || of.HasDefault(binding.OfHub),
	}
	if of.ReadsElement(b.src) {
		r.Element, r.ElementAt = stepsOf(of.Element[b.src]), b.p.Operands
		b.p.Operands++
		b.p.Elements = append(b.p.Elements, r)
	}
	refill := b.refill(of, r)
	for i := range r.In {
		if refill == nil && of.DefaultOf(b.src, i) != nil {
			b.p.Watch = append(b.p.Watch, r.In[i].Steps)
		}
	}
	for i := range r.Out {
		out := &r.Out[i]
		there, here := out.losesNull(), r.Transform == nil && len(r.In) == 1 && r.In[0].losesNull()
		out.NoNull, out.NewNull = there && !here, here && !there
		if b.whole {
			out.Section = sectionOf(out.Steps)
		}
		b.out.make(out.Steps).claimed = true
		if d := of.DefaultOf(b.dst, i); d != nil {
			if v, err := jsondoc.RawValue(d.JSON); err == nil {
				b.p.Late = append(b.p.Late, Write{Rule: r, Out: i, Value: v, Fixed: true})
			}
		}
	}
	switch {
	case len(r.In) == 0: // one-sided, of the target
		if computed[b.src] && of.How != binding.Drops {
			r.Check = slices.ContainsFunc(r.Out, func(r Route) bool { return r.Section != Elsewhere })
			b.operand(r)
			b.p.rules = append(b.p.rules, r)
			for i := range r.Out {
				b.p.Late = append(b.p.Late, Write{Rule: r, Out: i})
			}
		}
	case len(r.Out) == 0: // one-sided, of the source
		for i := range r.In {
			o := b.in.make(r.In[i].Steps)
			o.claimed, o.byRule, o.refilled = true, of.How == binding.Drops, refill != nil
		}
		if refill != nil {
			b.p.Refills = append(b.p.Refills, *refill)
		}
		b.p.Always = b.p.Always || computed[b.dst] && refill == nil
	case of.Hands():
		r.MayLose = guarded
		o := b.in.make(r.In[0].Steps)
		if o.move == nil && len(o.rules) == 0 {
			o.claimed, o.move = true, &move{rule: r, below: of.Below}
			return
		}
		b.compute(r)
		b.branches = append(b.branches, move{rule: r, below: of.Below})
	default:
		r.MayLose = guarded || slices.ContainsFunc(r.In, func(in Route) bool { return in.Requires })
		if back := of.Transform[b.dst]; !r.Transform.Injective && (back == nil || len(back.Reads) > 0) {
			r.MayLose = true
		} else if !r.Transform.Injective {
			r.Undo = back
		}
		b.compute(r)
	}
}

// compute adds a rule that reads its inputs and so owns their places.
func (b *builder) compute(r *Rule) {
	r.Check = true
	for i := range r.In {
		o := b.in.make(r.In[i].Steps)
		o.claimed = true
		o.rules, o.reads = append(o.rules, r), append(o.reads, input{r, i})
	}
	b.operand(r)
	b.p.rules = append(b.p.rules, r)
	for i := range r.Out {
		b.p.Writes = append(b.p.Writes, Write{Rule: r, Out: i})
	}
}

func (b *builder) operand(r *Rule) {
	r.InAt, r.OutAt = b.p.Operands, b.p.Operands+len(r.In)
	if r.passthrough {
		r.OutAt = r.InAt
	}
	b.p.Operands = r.OutAt + len(r.Out)
}

// elements adds the rules that go through elements.
func (b *builder) elements(e *binding.Elements) {
	r := &Rule{In: routesOf(e.Ends[b.src : b.src+1]), Out: routesOf(e.Ends[b.dst : b.dst+1])}
	o, target := b.in.make(r.In[0].Steps), b.out.make(r.Out[0].Steps)
	if o.move != nil && o.move.elements == nil && slices.Equal(o.move.rule.Out[0].Steps, r.Out[0].Steps) {
		o.move.elements = e // a plain pair of the two lists adds nothing
		return
	}
	if o.claimed {
		return
	}
	o.claimed, target.claimed = true, true
	o.move = &move{rule: r, elements: e}
}

// finish sorts the writes and the rules.
func (b *builder) finish() {
	for _, w := range [][]Write{b.p.Writes, b.p.Late} {
		slices.SortStableFunc(w, func(a, b Write) int { return cmp.Compare(len(a.Route().Steps), len(b.Route().Steps)) })
	}
	for i := 1; i < len(b.p.Writes); i++ {
		b.p.Writes[i].SameObject = b.p.Writes[i].Route().sameObject(b.p.Writes[i-1].Route())
	}
	for _, r := range b.p.rules {
		if slices.ContainsFunc(r.In, func(in Route) bool { return !in.Direct }) {
			b.p.Reads = append(b.p.Reads, r)
		}
		if len(r.In) > 0 && !r.passthrough {
			b.p.Computes = append(b.p.Computes, r)
		}
	}
}
