package binding

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// A Unit is a smallest set of places of both versions that belong together: an edit of one
// invalidates what was kept of the others. Rules that share a place are one unit, and so is a rule
// with the places that its expressions read. An expression that only reads the presence of a place
// does not join the unit of its content.
//
// All places of a unit are in .status, or none is: reads across that line do not count. Below []
// and {}, each element has its own units.
type Unit struct {
	Rules []*Rule
	// Places are those of each side, from the binding on, in the order of their texts: those of the
	// rules, those that expressions read, and what those are on the other side.
	Places [2][]transform.Read
	// Outside are the places, from the root of the object on, that expressions read outside of the
	// element or of the pair of a rule set. They belong to units of other bindings, which stay
	// separate.
	Outside [2][]transform.Read
	// Why says what joins the unit, other than that its rules name several places.
	Why []Why
}

// A Why is a place that two rules share, or that an expression of a rule reads.
type Why struct {
	Rule, Other *syntax.Rule // Other shares the place; nil for a read
	Key         string       // of the expression
	At          Side
	Place       transform.Read // from the binding on if rules share it, else from the root of the object
}

// Single reports whether a unit has at most one place on each side and reads nothing else.
func (u *Unit) Single() bool {
	return len(u.Places[OfSpoke]) < 2 && len(u.Places[OfHub]) < 2 && len(u.Outside[OfSpoke])+len(u.Outside[OfHub]) == 0
}

// A scope is where a binding is in the object.
type scope struct {
	base   [2][]syntax.Segment
	fixed  bool // it is a single place: not each element, and not a rule set that is applied in several
	status [2]bool
}

// unite finds the units of the binding of whole objects and of all bindings below it.
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
		default: // a rule set that has one binding in two places, or within itself
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
		u := &uniter{ended: ended, root: root, binding: r, scope: scopes[r], whole: r == root, nodes: map[nodeKey]*node{}, readers: map[nodeKey]*node{}}
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
	readers       map[nodeKey]*node // the first node that reads a place
	allReaders    [2]*node          // the first node that reads the whole binding
}

type nodeKey struct {
	side Side
	path string
}

// A node is the content of a place of one side. Nodes of one unit have one representative.
type node struct {
	side  Side
	path  []syntax.Segment
	rules []*Rule // that name it
	up    *node
	unit  *Unit // of the representative
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

// join joins the units of two nodes.
func (n *node) join(m *node) {
	if n, m = n.representative(), m.representative(); n != m {
		if n.unit.size() < m.unit.size() {
			n, m = m, n
		}
		m.up = n
		n.unit.Why = append(n.unit.Why, m.unit.Why...)
		for side := range n.unit.Places {
			n.unit.Places[side] = append(n.unit.Places[side], m.unit.Places[side]...)
			n.unit.Outside[side] = append(n.unit.Outside[side], m.unit.Outside[side]...)
		}
	}
}

// size returns the cost of adding a unit to another.
func (u *Unit) size() int {
	return len(u.Why) + len(u.Places[OfSpoke]) + len(u.Places[OfHub]) + len(u.Outside[OfSpoke]) + len(u.Outside[OfHub])
}

func keyOfNode(side Side, path []syntax.Segment) nodeKey {
	return nodeKey{side, syntax.Path{Segments: path}.String()}
}

func (u *uniter) node(side Side, path []syntax.Segment) *node {
	key := keyOfNode(side, path)
	n := u.nodes[key]
	if n == nil {
		n = &node{side: side, path: path, unit: &Unit{}}
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
		unit.Places[n.side] = append(unit.Places[n.side], transform.Read{Path: n.path})
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

// joinFree joins places that expressions read and no rule names, if one may contain the other.
func (u *uniter) joinFree() {
	type section struct {
		side   Side
		status bool
	}
	trees := map[section]*indexNode{}
	treeOf := func(n *node) *indexNode {
		key := section{n.side, u.status(n.side, n.path)}
		if trees[key] == nil {
			trees[key] = &indexNode{}
		}
		return trees[key]
	}
	free := slices.DeleteFunc(slices.Clone(u.all), func(n *node) bool { return n.rules != nil })
	for _, n := range free {
		treeOf(n).make(n.path).free = n
	}
	for _, n := range free {
		treeOf(n).along(n.path, func(at *indexNode, depth int, _ bool) {
			if depth == len(n.path) {
				n.joinBelow(at)
			} else if at.free != nil {
				n.join(at.free)
			}
		})
	}
}

// joinBelow joins a node with all nodes at and below a place.
func (n *node) joinBelow(at *indexNode) {
	if at.reader != nil {
		n.join(at.reader) // which has joined them
		return
	}
	at.reader = n
	if at.free != nil {
		n.join(at.free)
	}
	for _, k := range at.kids {
		n.joinBelow(k)
	}
}

// maxSharers bounds the rules that a further rule of a place is reported to share it with.
const maxSharers = 10

// rule joins the places that a rule names, those in .status and the others separately.
func (u *uniter) rule(rule *Rule) {
	first := map[bool]*node{} // by whether it is in .status
	for side := OfSpoke; side <= OfHub; side++ {
		for _, p := range rule.Ends[side] {
			n := u.node(side, p.Segments)
			for _, other := range n.rules[:min(len(n.rules), maxSharers)] {
				n.representative().unit.Why = append(n.representative().unit.Why,
					Why{Rule: other.Syntax, Other: rule.Syntax, At: side, Place: transform.Read{Path: p.Segments}})
			}
			n.rules = append(n.rules, rule)
			status := u.status(side, p.Segments)
			if first[status] == nil {
				first[status] = n
			}
			first[status].join(n)
		}
	}
}

// tidy sorts a unit and removes duplicates.
func (u *Unit) tidy(order map[*syntax.Rule]int) {
	u.Rules = inOrder(u.Rules)
	for side := range u.Places {
		u.Places[side], u.Outside[side] = tidied(u.Places[side]), tidied(u.Outside[side])
	}
	slices.SortStableFunc(u.Why, func(a, b Why) int {
		return cmp.Or(min(len(a.Key), 1)-min(len(b.Key), 1), cmp.Compare(order[a.Rule], order[b.Rule]),
			strings.Compare(a.Key, b.Key), strings.Compare(a.Place.String(), b.Place.String()))
	})
	u.Why = slices.CompactFunc(u.Why, func(a, b Why) bool {
		return a.Rule == b.Rule && a.Other == b.Other && a.Key == b.Key && a.At == b.At && a.Place.String() == b.Place.String()
	})
}

// tidied sorts places by their texts and removes duplicates, and the presence of places whose
// content is there.
func tidied(places []transform.Read) []transform.Read {
	slices.SortFunc(places, func(a, b transform.Read) int { return strings.Compare(a.String(), b.String()) })
	places = slices.CompactFunc(places, func(a, b transform.Read) bool { return a.String() == b.String() })
	whole := make(map[string]bool, len(places))
	for _, p := range places {
		whole[p.String()] = !p.Presence
	}
	return slices.DeleteFunc(slices.Clone(places), func(p transform.Read) bool {
		for n := len(p.Path); p.Presence && n >= 0; n-- {
			if whole[transform.Read{Path: p.Path[:n]}.String()] {
				return true
			}
		}
		return false
	})
}
