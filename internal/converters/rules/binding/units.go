package binding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// A Unit is the smallest set of places of both versions that belong together. An edit of one of them is an edit of all: what
// was kept of any other one counts no more. Rules that share a place are of one unit, and so is a rule
// whose expressions read what another one names. A place whose presence alone is read is of the unit by that, and may be
// of another unit by its content.
//
// All places of a unit are in .status, or none is: reads across that line do not count. Under [] and {} each element has
// units of its own.
type Unit struct {
	Rules []*Rule
	// Places are those of each side, from the binding on, in the order of their texts. There are more than the rules have: what
	// expressions read, and what that is on the other side.
	Places [2][]UnitPlace
	// Outside are the places that expressions read outside of an element or of the pair of a rule set, from the root of the object
	// on. Those are in a unit of another binding, which is not joined with this one.
	Outside [2][]UnitPlace
	// Why says what the unit is held together by, beside that a rule has its places.
	Why []Why
}

// A UnitPlace is a place of a unit, with all that is below it, or whether there is a value at a place. A path that goes through []
// or {} is of each element or entry: see [transform.Read].
type UnitPlace struct {
	Path     []syntax.Segment
	Presence bool
}

// String writes the place as `.spec.type`, or as `has(.spec.type)`.
func (p UnitPlace) String() string { return transform.Read(p).String() }

// A Why is a place that two rules share, or that an expression of a rule reads.
type Why struct {
	Rule, Other *syntax.Rule // Other: which shares the place; nil where an expression reads it
	Key         string       // of the expression
	At          Side
	// Place is from the binding on, or from the root of the object where an expression reads it.
	Place UnitPlace
}

// UnitsAt returns the units that a place belongs to by its content: the one that has it, or the nearest place above it; if there
// is none, those that have places below it. It is empty for a place that is a unit of its own. A path that does not say
// which element it is of may be in the units of several, such as rules pick.
func (b *Binding) UnitsAt(side Side, path []syntax.Segment) []*Unit {
	var above, below []*Unit
	longest := -1
	for _, u := range b.Units {
		inside := false
		for _, p := range u.Places[side] {
			switch n := len(p.Path); {
			case p.Presence:
			case n <= len(path) && n >= longest && meet(p.Path, path[:n]):
				if n > longest {
					above, longest = nil, n
				}
				above = append(above, u)
			case n > len(path) && meet(p.Path, path):
				inside = true
			}
		}
		if inside {
			below = append(below, u)
		}
	}
	if above != nil {
		return slices.Compact(above)
	}
	return below
}

// UnitsOf returns the units of a rule of the binding: one, or two if it names places in .status and others.
func (b *Binding) UnitsOf(rule *Rule) []*Unit {
	var units []*Unit
	for _, u := range b.Units {
		if slices.Contains(u.Rules, rule) {
			units = append(units, u)
		}
	}
	return units
}

// Single reports whether a unit is one place on each side at most, and nothing else.
func (u *Unit) Single() bool {
	return len(u.Places[OfSpoke]) < 2 && len(u.Places[OfHub]) < 2 && len(u.Outside[OfSpoke])+len(u.Outside[OfHub]) == 0
}

// A scope is where a binding is: what its paths go on from.
type scope struct {
	base   [2][]syntax.Segment
	fixed  bool // it is one place, not each element, and not the pairs of many rules
	status [2]bool
}

// unite finds the units of a binding of whole objects and of all below it.
func unite(ended func() error, root *Binding) {
	scopes := map[*Binding]*scope{}
	var order []*Binding
	var visit func(r *Binding, at scope)
	visit = func(r *Binding, at scope) {
		before := scopes[r]
		switch {
		case before == nil:
			for side := range at.base {
				at.status[side] = inStatus(at.base[side])
			}
			scopes[r], order = &at, append(order, r)
		case !before.fixed:
			return
		default: // a rule set that has one binding at two places, or in itself
			before.fixed, at.fixed = false, false
		}
		for _, rule := range r.Rules {
			if rule.Below != nil {
				visit(rule.Below, scope{base: at.below(rule.Ends[OfSpoke][0].Segments, rule.Ends[OfHub][0].Segments), fixed: at.fixed})
			}
		}
		for _, e := range r.Elements {
			if e.Paired() {
				visit(e.Binding, scope{base: at.below(e.Whole(OfSpoke), e.Whole(OfHub))})
			}
		}
	}
	visit(root, scope{fixed: true})
	for _, r := range order {
		if ended() != nil {
			return
		}
		u := &uniter{ended: ended, root: root, binding: r, scope: scopes[r], whole: r == root, nodes: map[nodeKey]*node{}, insides: map[nodeKey]*node{}}
		r.Units = u.units()
	}
}

func (s *scope) below(field, hub []syntax.Segment) [2][]syntax.Segment {
	return [2][]syntax.Segment{slices.Concat(s.base[OfSpoke], field), slices.Concat(s.base[OfHub], hub)}
}

// inStatus reports whether a path from the root leads into .status.
func inStatus(path []syntax.Segment) bool {
	return len(path) > 0 && path[0].Kind == syntax.Field && path[0].Name == "status"
}

// A uniter finds the units of a binding.
type uniter struct {
	ended         func() error // Err of the context
	root, binding *Binding
	scope         *scope
	whole         bool // the binding is that of whole objects
	nodes         map[nodeKey]*node
	all           []*node
	insides       map[nodeKey]*node // what has read a place before
	readers       [2]*node          // what has read all before
}

type nodeKey struct {
	side Side
	path string
}

// A node is a place of one side by its content. Nodes of one unit have one representative.
type node struct {
	side  Side
	path  []syntax.Segment
	rules []*Rule // that name it
	up    *node
	unit  *Unit // of the representative
	free  bool  // it is an expression's, not a rule's
}

func (n *node) representative() *node {
	top := n
	for top.up != nil {
		top = top.up
	}
	for n.up != nil {
		n, n.up = n.up, top
	}
	return top
}

// join makes two nodes, and all that are joined with them, one unit.
func (n *node) join(m *node) {
	if n, m = n.representative(), m.representative(); n != m {
		if n.unit.size() < m.unit.size() {
			n, m = m, n
		}
		m.up = n
		n.unit.add(m.unit)
	}
}

// size tells how much it takes to add a unit to another one.
func (u *Unit) size() int {
	size := len(u.Why)
	for side := range u.Places {
		size += len(u.Places[side]) + len(u.Outside[side])
	}
	return size
}

// add adds what was found of another unit. Its nodes have its places and rules.
func (u *Unit) add(v *Unit) {
	u.Why = append(u.Why, v.Why...)
	for side := range u.Places {
		u.Places[side] = append(u.Places[side], v.Places[side]...)
		u.Outside[side] = append(u.Outside[side], v.Outside[side]...)
	}
}

func keyOfNode(side Side, path []syntax.Segment) nodeKey {
	return nodeKey{side, syntax.Path{Segments: path}.String()}
}

func (u *uniter) node(side Side, path []syntax.Segment) *node {
	key := keyOfNode(side, path)
	n := u.nodes[key]
	if n == nil {
		n = &node{side: side, path: path, unit: &Unit{}, free: true}
		u.nodes[key], u.all = n, append(u.all, n)
	}
	return n
}

// status reports whether a place of the binding is in .status.
func (u *uniter) status(side Side, path []syntax.Segment) bool {
	return u.scope.status[side] || u.whole && inStatus(path)
}

func (u *uniter) units() []*Unit {
	for _, rule := range u.binding.Rules {
		u.rule(rule)
	}
	for _, rule := range u.binding.Rules {
		if u.ended() != nil {
			return nil
		}
		u.reads(rule)
	}
	u.joinFree()
	var units []*Unit
	has := map[*Unit]map[*Rule]bool{}
	for _, n := range u.all {
		unit := n.representative().unit
		unit.Places[n.side] = append(unit.Places[n.side], UnitPlace{Path: n.path})
		for _, rule := range n.rules {
			if has[unit] == nil {
				has[unit], units = map[*Rule]bool{}, append(units, unit)
			}
			if !has[unit][rule] {
				has[unit][rule], unit.Rules = true, append(unit.Rules, rule)
			}
		}
	}
	order := make(map[*syntax.Rule]int, len(u.binding.Rules))
	for i, rule := range slices.Backward(u.binding.Rules) {
		order[rule.Syntax] = i
	}
	for _, unit := range units {
		unit.tidy(order)
	}
	return units
}

// A readTree has the places that expressions read and no rule names, by their paths.
type readTree struct {
	indexed map[*indexed]*node
	root    indexed
	joined  map[*indexed]*node // all at and below the place is one unit with it
}

// joinFree makes places that expressions read one unit where one may be a part of the other, or be the other.
func (u *uniter) joinFree() {
	type section struct {
		side   Side
		status bool
	}
	trees := map[section]*readTree{}
	of := func(n *node) *readTree {
		key := section{n.side, u.status(n.side, n.path)}
		if trees[key] == nil {
			trees[key] = &readTree{indexed: map[*indexed]*node{}, joined: map[*indexed]*node{}}
		}
		return trees[key]
	}
	for _, n := range u.all {
		if n.free {
			t := of(n)
			t.indexed[t.root.place(n.path, func(*indexed, syntax.Segment) {})] = n
		}
	}
	for _, n := range u.all {
		if !n.free {
			continue
		}
		t := of(n)
		t.root.along(n.path, func(at *indexed, depth int, _ bool) {
			if depth == len(n.path) {
				t.join(n, at)
			} else if m := t.indexed[at]; m != nil {
				n.join(m)
			}
		})
	}
}

// join makes a node one unit with all nodes at and below a place.
func (t *readTree) join(n *node, at *indexed) {
	if first := t.joined[at]; first != nil {
		n.join(first)
		return
	}
	t.joined[at] = n
	if m := t.indexed[at]; m != nil {
		n.join(m)
	}
	for _, k := range at.members {
		t.join(n, k)
	}
	for i := range at.others {
		for _, k := range at.others[i].all {
			t.join(n, k)
		}
	}
}

// maxSharers bounds the rules that each further rule of a place is told to share it with: the others follow.
const maxSharers = 10

// rule makes the places that a rule names one unit, or one in .status and one elsewhere.
func (u *uniter) rule(rule *Rule) {
	var first [2]*node // not in .status, and in it
	for side := OfSpoke; side <= OfHub; side++ {
		for _, p := range rule.Ends[side] {
			n := u.node(side, p.Segments)
			for _, other := range n.rules[:min(len(n.rules), maxSharers)] {
				n.representative().unit.Why = append(n.representative().unit.Why,
					Why{Rule: other.Syntax, Other: rule.Syntax, At: side, Place: UnitPlace{Path: p.Segments}})
			}
			n.free, n.rules = false, append(n.rules, rule)
			of := sectionOf(u.status(side, p.Segments))
			if first[of] == nil {
				first[of] = n
			}
			first[of].join(n)
		}
	}
}

func sectionOf(second bool) int {
	if second {
		return 1
	}
	return 0
}

// tidy puts a unit in order, and removes what it says twice.
func (u *Unit) tidy(order map[*syntax.Rule]int) {
	slices.SortFunc(u.Rules, func(a, b *Rule) int { return cmp.Compare(a.order, b.order) })
	for side := range u.Places {
		u.Places[side], u.Outside[side] = tidied(u.Places[side]), tidied(u.Outside[side])
	}
	slices.SortStableFunc(u.Why, func(a, b Why) int {
		return cmp.Or(cmp.Compare(sectionOf(a.Key != ""), sectionOf(b.Key != "")), cmp.Compare(order[a.Rule], order[b.Rule]),
			strings.Compare(a.Key, b.Key), strings.Compare(a.Place.String(), b.Place.String()))
	})
	same := func(a, b Why) bool {
		return a.Rule == b.Rule && a.Other == b.Other && a.Key == b.Key && a.At == b.At && a.Place.String() == b.Place.String()
	}
	u.Why = slices.CompactFunc(u.Why, same)
}

// tidied orders places by their texts, each once, and leaves out the presence of what is there by its content.
func tidied(places []UnitPlace) []UnitPlace {
	slices.SortFunc(places, func(a, b UnitPlace) int {
		return cmp.Or(cmp.Compare(sectionOf(a.Presence), sectionOf(b.Presence)), strings.Compare(a.String(), b.String()))
	})
	places = slices.CompactFunc(places, func(a, b UnitPlace) bool { return a.String() == b.String() })
	whole := make(map[string]bool, len(places))
	for _, p := range places {
		if !p.Presence {
			whole[syntax.Path{Segments: p.Path}.String()] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(places), func(p UnitPlace) bool {
		for n := len(p.Path); p.Presence && n >= 0; n-- {
			if whole[syntax.Path{Segments: p.Path[:n]}.String()] {
				return true
			}
		}
		return false
	})
}
