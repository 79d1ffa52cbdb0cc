package binding

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// opened replaces each rule of a whole subtree, which other rules name places of, by rules for the
// rest of it:
//
//   - A rule that applies a rule set becomes a plain pair, and the rules of the set.
//   - A rule that keeps or drops becomes one rule for each place that no other rule names.
func (b *binder) opened(r *Binding, rules []pending) []pending {
	for at := 0; at < len(rules); at++ {
		p := rules[at]
		how := howOf(p.rule)
		switch {
		case how != Uses && how != Keeps && how != Drops, p.opened, p.paired, p.rule.Broken, !p.isWhole(),
			p.rule.Guarded(), // its condition is that of everything below
			how == Keeps && (p.rule.DefaultInSpoke != nil || p.rule.DefaultInHub != nil || p.rule.DefaultFrom != nil):
			continue // in the last case, the default is that of the whole place
		}
		inner := within(p, rules)
		if len(inner) == 0 || !p.found && !b.find(r, &p) {
			continue
		}
		p.found = true
		var instead []pending
		if how == Uses {
			instead = b.withSet(r, p)
		} else {
			instead = rest(r, p, inner)
		}
		rules = slices.Concat(rules[:at], instead, rules[at+1:])
		at--
	}
	return rules
}

// isWhole reports whether each side of the rule is one place that is no element.
func (p *pending) isWhole() bool {
	return iterating(p.paths[0]) < 0 && iterating(p.paths[1]) < 0 && len(p.paths[0]) <= 1 && len(p.paths[1]) <= 1
}

// within returns the paths of other rules that are below the places of a rule, by their sides.
func within(p pending, rules []pending) (inner [][]syntax.Segment) {
	for s, paths := range p.paths {
		for i := range rules {
			if rules[i].rule == p.rule || rules[i].rule.OnlyMayBeAbsent() {
				continue
			}
			for _, other := range rules[i].paths[s] {
				if len(paths) > 0 && Within(other.Segments, paths[0].Segments) {
					inner = append(inner, other.Segments)
				}
			}
		}
	}
	return inner
}

// withSet returns a rule that applies a rule set as a pair, followed by the rules of the set.
func (b *binder) withSet(r *Binding, p pending) []pending {
	below := &Binding{}
	var prefix [2][]syntax.Segment
	for s := range p.paths {
		prefix[s] = p.paths[s][0].Segments
		below.Base[s], below.Prefix[s] = p.paths[s][0].Place, r.Text(Side(s), prefix[s])
	}
	p.paired = true
	all := []pending{p}
	set := b.ruleSet(below, p.rule)
	if set == nil {
		return all
	}
	for _, q := range b.spliced(below, pendingOf(set.Rules)) {
		for s := range q.paths {
			for i := range q.paths[s] {
				q.paths[s][i].Segments = slices.Concat(prefix[s], q.paths[s][i].Segments)
			}
		}
		q.prefix = prefix
		all = append(all, q)
	}
	return all
}

// others returns the segment to the elements or entries that no other segment picks, if there may
// be any.
func others(at Place, next []syntax.Segment) []syntax.Segment {
	if slices.ContainsFunc(next, syntax.Segment.Iterates) {
		return nil
	}
	switch at.Node.Kind() {
	case crdschema.Map:
		return []syntax.Segment{{Kind: syntax.Values}}
	case crdschema.Array:
		return []syntax.Segment{{Kind: syntax.Elements}}
	default:
		return nil
	}
}

// rest returns the rules for the places below that of a one-sided rule that no inner path leads to.
func rest(r *Binding, p pending, inner [][]syntax.Segment) []pending {
	s := p.side()
	var all []pending
	var open func(path []syntax.Segment, at Place)
	keep := func(path []syntax.Segment, at Place) {
		q := p
		q.opened = true
		q.paths[s] = []Path{{Segments: path, Place: at, Name: p.paths[s][0].Name}}
		all = append(all, q)
	}
	open = func(path []syntax.Segment, at Place) {
		var next []syntax.Segment
		for _, to := range inner {
			switch {
			case Same(to, path):
				return // another rule has it
			case Within(to, path) && !slices.ContainsFunc(next, to[len(path)].Equal):
				next = append(next, to[len(path)])
			}
		}
		if len(next) == 0 {
			keep(path, at)
			return
		}
		for _, name := range at.Node.Properties() {
			by := syntax.Segment{Kind: syntax.Field, Name: name}
			if !slices.ContainsFunc(next, by.Equal) {
				next = append(next, by)
			}
		}
		for _, by := range append(next, others(at, next)...) {
			open(append(slices.Clip(path), by), at.Step(by))
		}
	}
	open(p.paths[s][0].Segments, r.Base[s].Walk(p.paths[s][0].Segments))
	return all
}
