package binding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A binder binds the rules of one version.
type binder struct {
	*Spoke
	*collector
	made  map[string]*Binding
	count int // of the rules bound so far, each at each place
}

// A pending rule is to be bound below a place, with what is left of its paths from there on.
type pending struct {
	rule  *syntax.Rule
	paths [2][]Path
	found bool // its places exist
	// Of rules that opened has made:
	prefix [2][]syntax.Segment // which a rule of a rule set has before its own paths
	opened bool                // it is for the rest of a subtree
	paired bool                // it pairs the places that its rule applies a rule set to
}

func pendingOf(rules []*syntax.Rule) []pending {
	all := make([]pending, 0, len(rules))
	for _, rule := range rules {
		p := pending{rule: rule}
		for s := range p.paths {
			place := Side(s).In(rule)
			if place == nil {
				continue
			}
			for i := range place.Paths {
				p.paths[s] = append(p.paths[s], Path{Segments: place.Paths[i].Path.Segments, Name: &place.Paths[i]})
			}
		}
		all = append(all, p)
	}
	return all
}

// isHere reports whether a rule applies a rule set to the bases themselves.
func (p *pending) isHere() bool {
	return p.rule.Use != nil && len(p.paths[0]) == 1 && len(p.paths[0][0].Segments) == 0 &&
		len(p.paths[1]) == 1 && len(p.paths[1][0].Segments) == 0
}

// side returns the side on which a rule of one side names a place.
func (p *pending) side() Side {
	if len(p.paths[OfSpoke]) == 0 {
		return OfHub
	}
	return OfSpoke
}

// iterating returns the index of the first segment that goes through elements, which all paths of a
// side share, or -1.
func iterating(paths []Path) int {
	if len(paths) == 0 {
		return -1
	}
	return slices.IndexFunc(paths[0].Segments, syntax.Segment.Iterates)
}

func (b *binder) say(pos syntax.Position, code, hint, format string, args ...any) {
	b.warn(finding.Finding{Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// bind binds rules to the bases of r. It returns an existing binding of the same places and rules
// if there is one, which ends recursion.
func (b *binder) bind(r *Binding, rules []pending) *Binding {
	if rules = b.spliced(r, rules); b.tooMany(rules) {
		return r
	}
	key := keyOf(r, rules)
	if made := b.made[key]; made != nil {
		return made
	}
	b.made[key] = r
	b.Bindings = append(b.Bindings, r)
	var oneSided []pending
	for _, p := range b.opened(r, rules) {
		switch {
		case b.ended() != nil:
			return r
		case !p.found && !b.find(r, &p):
		case p.rule.OnlyMayBeAbsent() && isSaid(r, &p, rules):
		case iterating(p.paths[0]) < 0 && iterating(p.paths[1]) < 0:
			r.Rules = append(r.Rules, b.rule(r, p))
		case len(p.paths[0]) == 0 || len(p.paths[1]) == 0:
			oneSided = append(oneSided, p)
		default:
			b.elements(r, p)
		}
	}
	for _, p := range oneSided {
		b.elements(r, b.paired(r, p))
	}
	for _, e := range r.Elements {
		e.Binding = b.bind(e.Binding, e.rules)
		e.rules = nil
	}
	return r
}

// tooMany counts rules, and reports once that there are too many.
func (b *binder) tooMany(rules []pending) bool {
	before := b.count
	b.count += len(rules)
	if b.count <= b.opts.MaxRules {
		return false
	}
	b.Unsure = true
	if before <= b.opts.MaxRules {
		b.refuse(finding.Finding{
			Pos: rules[0].rule.Pos, Code: "too-many-rules",
			Message: fmt.Sprintf("%s has more than %d rules, those of rule sets counted at each place that they are applied to",
				b.Names[OfSpoke], b.opts.MaxRules),
			Hint: "apply large rule sets in fewer places",
		})
	}
	return true
}

// keyOf returns a text that identifies a binding.
func keyOf(r *Binding, rules []pending) string {
	var key strings.Builder
	for s, base := range r.Base {
		fmt.Fprintf(&key, "%p %t %q %q ", base.Node, base.Known, r.Keys[s], r.Picked[s])
	}
	fmt.Fprintf(&key, "%t", r.Covered)
	for _, p := range rules {
		fmt.Fprintf(&key, " %p", p.rule)
		for _, ends := range p.paths {
			for _, e := range ends {
				fmt.Fprintf(&key, ",%d", len(e.Segments))
			}
			key.WriteByte('/')
		}
	}
	return key.String()
}

// spliced replaces each `use` between the bases themselves by the rules of the set. One with a
// condition stays, as the condition is that of the whole element.
func (b *binder) spliced(r *Binding, rules []pending) []pending {
	done := map[*syntax.RuleSet]bool{} // a set may apply itself to its own places
	var all []pending
	var add func(rules []pending)
	add = func(rules []pending) {
		for i := range rules {
			if !rules[i].isHere() || rules[i].rule.Guarded() {
				all = append(all, rules[i])
			} else if set := b.ruleSet(r, rules[i].rule); set != nil && !done[set] {
				done[set] = true
				add(pendingOf(set.Rules))
			}
		}
	}
	add(rules)
	return all
}

// ruleSet returns the rule set that a rule applies to the bases of a binding, or nil.
func (b *binder) ruleSet(r *Binding, rule *syntax.Rule) *syntax.RuleSet {
	set := rule.Uses
	if set == nil {
		b.Unsure = true
		return nil
	}
	for s, base := range r.Base {
		if !base.MayBeObject() && !base.MayBeList() {
			b.say(rule.Use.Pos, "use-of-a-value", "apply it to objects, or to each element with []",
				"%s: %s is %s, which has no fields for the rule set %s", rule, r.Text(Side(s), nil), base.Node.Kind(), set.Name)
			b.Unsure = true
			return nil
		}
	}
	return set
}

// find finds the places of a rule below the bases of a binding, and reports whether the rule can be
// bound.
func (b *binder) find(r *Binding, p *pending) bool {
	rule := p.rule
	if rule.Spoke == nil && rule.Hub == nil {
		b.Unsure = true
		return false
	}
	if rule.Set != "" && lacks(r.Base[OfSpoke].Walk(p.prefix[OfSpoke]), rule.Spoke) && lacks(r.Base[OfHub].Walk(p.prefix[OfHub]), rule.Hub) {
		b.Lacking[rule] = true // the end of a recursive type: there is nothing to convert
		return false
	}
	b.Applied[rule] = true
	for s := range p.paths {
		if !b.findPaths(r, Side(s), p) {
			b.Unsure = true // what the rule would cover on this side is not known
			return false
		}
		if rule.Broken && Side(s).In(rule) == nil {
			b.Unsure = b.Unsure || rule.Drop == nil
			return false
		}
	}
	b.subtrees(r, p)
	if rule.Broken && (iterating(p.paths[0]) >= 0 || iterating(p.paths[1]) >= 0) {
		b.Unsure = true // its elements may not pair
		return false
	}
	return true
}

// findPaths finds the places of a rule's paths on a side, and reports missing ones.
func (b *binder) findPaths(r *Binding, s Side, p *pending) bool {
	all, rule, paths := true, p.rule, p.paths[s]
	for i := range paths {
		e := &paths[i]
		var problem *Problem
		if r == b.Root {
			problem = reserved(e.Segments)
		}
		if problem == nil {
			e.Place, problem = r.Base[s].Find(b.Names[s], e.Segments)
		}
		if problem == nil {
			continue
		}
		all = false
		at, end := e.Name.Span(e.Segments[problem.Segment])
		message := fmt.Sprintf("%s path %s: %s", s.Key(), e.Name.Path.Text, problem.Text)
		if rule.Set != "" {
			message = fmt.Sprintf("%s, applied below %s %s: %s", rule, b.Names[s], cmp.Or(r.Prefix[s]+syntax.Path{Segments: p.prefix[s]}.String(), "the root"), message)
		}
		b.warn(finding.Finding{Pos: at, EndColumn: end, Code: problem.Code, Message: message, Hint: problem.Hint})
	}
	return all
}

// lacks reports whether all paths of a place start with a field that the base lacks. This is the
// end of a recursive type, where the rules of a rule set have nothing to do.
func lacks(base Place, place *syntax.Place) bool {
	return place == nil || !slices.ContainsFunc(place.Paths, func(p syntax.NamedPath) bool {
		_, problem := base.Find("", p.Path.Segments)
		return problem == nil || !problem.Missing || problem.Segment != 0
	})
}

// rule binds a rule that goes through no elements.
func (b *binder) rule(r *Binding, p pending) *Rule {
	t := &Rule{Syntax: p.rule, How: howOf(p.rule), Ends: p.paths, Element: p.prefix, Doubtful: p.rule.Broken}
	for s := range t.Ends {
		for i := range t.Ends[s] {
			t.Ends[s][i].Base = r.Base[s]
		}
	}
	if t.Doubtful {
		return t
	}
	if p.paired {
		t.How = Pairs
	}
	if t.How == Uses {
		b.use(r, t)
	}
	if t.How != Drops {
		b.compile(r, t)
	}
	return t
}

// use binds the rule set that a rule applies.
func (b *binder) use(r *Binding, t *Rule) {
	t.Below = &Binding{Covered: true}
	for s := range t.Ends {
		path := t.Ends[s][0].Segments
		t.Below.Base[s], t.Below.Prefix[s] = t.Ends[s][0].Place, r.Text(Side(s), path)
		if last := len(path) - 1; last >= 0 && path[last].Kind == syntax.Pick {
			t.Below.Picked[s] = path[last].Name
		}
	}
	if p := t.Ends; len(p[OfSpoke][0].Segments)+len(p[OfHub][0].Segments) == 0 {
		t.Below.Keys, t.Below.KeyBy = r.Keys, r.KeyBy // it applies to the elements themselves
	}
	if set := b.ruleSet(t.Below, t.Syntax); set != nil {
		t.Below = b.bind(t.Below, pendingOf(set.Rules))
	} else {
		t.Doubtful = true
	}
}

// compile type-checks and compiles what a rule computes, and its guards. A pair whose values do not
// fit is only a warning, as they are kept.
func (b *binder) compile(r *Binding, t *Rule) {
	var nodes [2][]*crdschema.Node
	for s, ends := range t.Ends {
		for _, e := range ends {
			nodes[s] = append(nodes[s], e.Place.Node)
		}
	}
	var element [2]*transform.Element
	for s := range element {
		if r != b.Root || len(t.Element[s]) > 0 {
			element[s] = &transform.Element{Node: r.Base[s].Walk(t.Element[s]).Node}
		}
	}
	report := func(found []finding.Finding, to func(...finding.Finding)) {
		t.Doubtful = t.Doubtful || len(found) > 0
		to(found...)
	}
	switch t.How {
	case Pairs, Converts, Computes:
		roots := [2]*crdschema.Node{b.Root.Base[OfSpoke].Node, b.Root.Base[OfHub].Node}
		compiled, found := transform.Compile(b.opts.Env, t.Syntax, nodes, roots, element)
		if t.How == Pairs {
			report(found, b.warn)
			break
		}
		t.Transform = compiled
		report(found, b.refuse)
	case Uses, Keeps, Drops:
	}
	for s := range t.Ends {
		guard, found := transform.CompileGuard(b.opts.Env, t.Syntax, Side(s) == OfHub, nodes[s], b.Root.Base[s].Node, element[s])
		t.When[s] = guard
		report(found, b.refuse)
	}
}
