package check

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A requirer finds members that the target requires and the source may not give, wherever a
// conversion writes an object.
type requirer struct {
	*direction
	done    map[string]bool // objects that were visited under the same condition
	missing []*missing      // what is to be reported
}

// A need is an object of the target, and the condition under which it is there.
type need struct {
	binding *binding.Binding
	path    []syntax.Segment
	dst     binding.Place
	srcPath []syntax.Segment
	src     binding.Place // unknown: no place of the source is copied to the object
	given   []string      // the optional places of the source that are there then
	ground  []string      // those that are there whenever the nearest copied object around it is
	trigger *binding.Rule // the rule that made the object
	instead bool          // the trigger made it because the source has none, though it could
}

// bound visits the places of a binding.
func (q *requirer) bound(b *binding.Binding) {
	if !q.enter(b) {
		return
	}
	n := need{binding: b, dst: b.Base[q.dst], src: b.Base[q.src]}
	if b.Owner(q.dst, nil) != nil || b.Owner(q.src, nil) != nil {
		n.src = binding.Place{}
	}
	for _, r := range b.RulesAt(q.dst, nil) {
		if r.How == binding.Pairs && !r.Doubtful {
			n.src, n.srcPath = r.Ends[q.src][0].Place, r.Ends[q.src][0].Segments
			n.given = optional(b, q.src, n.srcPath, nil)
			n.ground = n.given
		}
	}
	q.object(n)
}

// certain reports whether a place of the source is there whenever the object is.
func (n need) certain(s binding.Side, path []syntax.Segment) bool {
	return !slices.ContainsFunc(optional(n.binding, s, path, nil), func(place string) bool { return !slices.Contains(n.given, place) })
}

// makers returns the rules that make an object by writing below it.
func (n need) makers(dst binding.Side) []*binding.Rule {
	return slices.DeleteFunc(n.binding.RulesBelow(dst, n.path), func(r *binding.Rule) bool { return len(r.Ends[dst.Other()]) == 0 })
}

// object visits the members of an object, or the elements of a list.
func (q *requirer) object(n need) {
	root := isRoot(n.binding, q.dst, n.path, n.dst.Node)
	for _, name := range n.dst.Node.Properties() {
		p := n.dst.Node.Property(name)
		required := n.dst.Node.IsRequired(name) && !hasDefault(p)
		if (required || p.Requires()) && (!root || !skipped(name)) {
			q.member(n, syntax.Segment{Kind: syntax.Field, Name: name}, required)
		}
	}
	q.picked(n)
	if e := n.binding.ElementsAt(q.dst, n.path); e != nil {
		if len(n.path) == 0 && e.Has[q.src] { // a list in a list
			q.bound(e.Binding)
		}
		return
	}
	if !n.src.Known {
		return
	}
	switch {
	case n.dst.Node.Kind() == crdschema.Array && n.src.MayBeList():
		q.elements(n, syntax.Segment{Kind: syntax.Elements})
	case n.dst.Node.Kind() == crdschema.Map && n.src.MayBeObject():
		q.elements(n, syntax.Segment{Kind: syntax.Values})
	}
}

// again reports whether the objects at a place were visited before in the same way, with as much of
// the source there.
func (q *requirer) again(instead bool, m need) bool {
	key := fmt.Sprintf("%t %p %s %s %t %q", instead, m.binding, syntax.Path{Segments: m.path}, syntax.Path{Segments: m.srcPath}, m.src.Known, m.ground)
	again := q.done[key]
	q.done[key] = true
	return again
}

// picked visits the elements of a list, and the entries of a map, that rules name.
func (q *requirer) picked(n need) {
	if !n.dst.Node.Requires() {
		return
	}
	for _, by := range n.binding.Next(q.dst, n.path) {
		if isPick(by) || by.Kind == syntax.Field && n.dst.Node.Kind() == crdschema.Map {
			q.member(n, by, false)
		}
	}
}

func (q *requirer) elements(n need, by syntax.Segment) {
	q.bound(implicit(n.binding, q.dst, by, n.path, n.srcPath, [2]binding.Place{n.dst, n.src}))
}

// member visits a member: it reports one that is required and may be absent, and goes on below it.
func (q *requirer) member(n need, by syntax.Segment, required bool) {
	if q.ended() != nil {
		return
	}
	m := n
	m.path, m.dst = append(slices.Clone(n.path), by), n.dst.Step(by)
	m.srcPath, m.src = append(slices.Clone(n.srcPath), by), n.src.Step(by)
	if n.src.Known && n.binding.Owner(q.src, m.srcPath) != nil {
		m.src = binding.Place{}
	}
	rules, e := m.binding.RulesAt(q.dst, m.path), m.binding.ElementsAt(q.dst, m.path)
	if by.Kind == syntax.Field && (pickKey(m.binding, q.dst, m.path) || len(m.path) == 1 && m.binding.Keys[q.dst] == by.Name) {
		return // the key of an element is given
	}
	if required {
		q.required(m, rules, e)
	}
	switch {
	case e != nil:
		if e.Has[q.src] { // else all its elements were kept, unchanged
			q.bound(e.Binding)
		}
		m.src = binding.Place{}
		q.picked(m)
	case len(rules) > 0:
		q.below(m, rules)
	case m.src.Known:
		q.copied(m, m.srcPath)
		q.made(m, true)
	default:
		q.made(m, false)
	}
}

// made goes on to an object that rules make by writing below it, once for each rule: one that only
// the target has, or that both versions have, if the source may have none.
func (q *requirer) made(m need, instead bool) {
	if !m.dst.Node.Requires() || q.again(instead, m) {
		return
	}
	for _, t := range q.triggers(m) {
		next := m
		next.trigger, next.given = t.rule, t.given
		if instead && next.certain(q.src, m.srcPath) {
			continue
		}
		if instead {
			next.src, next.instead = binding.Place{}, true
		}
		q.object(next)
	}
	for _, e := range m.binding.ElementsBelow(q.dst, m.path) {
		if e.Has[q.src] && !instead {
			next := m
			next.trigger, next.given = nil, optional(m.binding, q.src, e.Ends[q.src].Segments, m.ground)
			q.object(next)
		}
	}
}

// below goes on to the places that the rules of a place hand on.
func (q *requirer) below(m need, rules []*binding.Rule) {
	for _, r := range rules {
		switch {
		case r.Doubtful:
		case r.How == binding.Uses:
			q.bound(r.Below)
		case r.How == binding.Pairs:
			next := m
			next.src, next.srcPath = r.Ends[q.src][0].Place, r.Ends[q.src][0].Segments
			q.copied(next, next.srcPath)
			q.made(next, true)
		}
	}
}

// copied goes on to an object that is there if a place of the source is.
func (q *requirer) copied(m need, from []syntax.Segment) {
	m.given = optional(m.binding, q.src, from, m.given)
	m.ground, m.trigger = m.given, nil
	q.object(m)
}

// A trigger is a rule that makes an object by writing below it, and the places of the source that
// are there if it does.
type trigger struct {
	rule  *binding.Rule
	given []string
}

// An object that many rules make is not visited for each of them.
const (
	maxAlike    = 8   // of triggers that differ only in the place that the rule reads: a few show all there is to find
	maxTriggers = 500 // more findings than anyone reads
)

// triggers returns the triggers of an object.
func (q *requirer) triggers(m need) []trigger {
	var all []trigger
	alike := map[string]int{}
	add := func(t trigger, from []syntax.Segment) {
		above := fmt.Sprintf("%q", optional(m.binding, q.src, from[:max(0, len(from)-1)], nil))
		if alike[above]++; alike[above] <= maxAlike && len(all) < maxTriggers {
			all = append(all, t)
		}
	}
	for _, r := range m.makers(q.dst) {
		if r.Doubtful {
			continue
		}
		for _, e := range r.Ends[q.src] {
			given := optional(m.binding, q.src, e.Segments, m.ground)
			if m.binding.Prefix[q.src] == "" { // conditions name places of the whole object
				for _, path := range r.When[q.src].Implied() {
					given = optional(m.binding, q.src, path, given)
				}
			}
			add(trigger{rule: r, given: given}, e.Segments)
		}
	}
	return all
}
