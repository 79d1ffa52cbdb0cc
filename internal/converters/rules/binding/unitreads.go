package binding

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// reads adds what the expressions of a rule read to its unit. A rule counts where it writes: what a rule for .status reads elsewhere
// does not count, and the other way round.
func (u *uniter) reads(rule *Rule) {
	for from := OfSpoke; from <= OfHub; from++ {
		to := from.Other()
		keys := [2][2]string{{"toHub", "when"}, {"fromHub", "whenHub"}}[from]
		computed, condition := []transform.Read(nil), rule.When[from].Reads()
		if way := rule.Transform[from]; way != nil {
			computed = way.Reads
		}
		for i, reads := range [2][]transform.Read{computed, condition} {
			for _, r := range u.counted(from, reads) {
				if n := u.writer(rule, to, inStatus(r.Path)); n != nil {
					u.read(n, from, r, Why{Rule: rule.Syntax, Key: keys[i], At: from, Place: r})
				}
			}
		}
	}
}

// writer returns the node of a place that the rule writes on a side, in .status or elsewhere, or nil.
func (u *uniter) writer(rule *Rule, side Side, status bool) *node {
	for _, p := range rule.Ends[side] {
		if u.status(side, p.Segments) == status {
			return u.node(side, p.Segments)
		}
	}
	return nil
}

// counted returns what of some reads can be edited. Names and kinds cannot, and what the API server writes into metadata with
// each update is no edit of anything that rules convert. A read of a whole object, or of all metadata, is of what is left.
func (u *uniter) counted(side Side, reads []transform.Read) []UnitPlace {
	var places []UnitPlace
	add := func(presence bool, names ...string) {
		p := UnitPlace{Presence: presence}
		for _, name := range names {
			p.Path = append(p.Path, syntax.Segment{Kind: syntax.Field, Name: name})
		}
		places = append(places, p)
	}
	for _, r := range reads {
		switch {
		case len(r.Path) == 0:
			for _, name := range u.root.Base[side].Node.Properties() {
				if name != "apiVersion" && name != "kind" && name != "metadata" {
					add(false, name)
				}
			}
			add(false, "metadata", "labels")
			add(false, "metadata", "annotations")
		case len(r.Path) == 1 && r.Path[0].Name == "metadata":
			add(r.Presence, "metadata", "labels")
			add(r.Presence, "metadata", "annotations")
		case fixedName(r.Path):
		default:
			places = append(places, UnitPlace(r))
		}
	}
	return places
}

// fixedName reports whether nobody can edit a place, or only the API server does.
func fixedName(path []syntax.Segment) bool {
	switch path[0].Name {
	case "apiVersion", "kind":
		return true
	case "metadata":
		return slices.Contains([]string{
			"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation", "creationTimestamp", "managedFields",
		}, path[1].Name)
	}
	return false
}

// read adds a place, from the root of the object, to the unit of a node.
func (u *uniter) read(n *node, side Side, p UnitPlace, why Why) {
	unit := n.representative().unit
	unit.Why = append(unit.Why, why)
	if own, within := u.relative(side, p.Path); within {
		if len(own) > 0 || u.whole {
			u.inside(n, side, UnitPlace{own, p.Presence})
			return
		}
		if !p.Presence { // all of the pair of a rule set
			u.joinAll(n, side)
			unit = n.representative().unit
		}
	}
	unit.Outside[side] = append(unit.Outside[side], p)
	for _, there := range u.root.images(side, p.Path, 0) {
		if inStatus(there) == inStatus(p.Path) {
			unit.Outside[side.Other()] = append(unit.Outside[side.Other()], UnitPlace{there, p.Presence})
		}
	}
}

// joinAll makes a node one unit with all that rules name on a side.
func (u *uniter) joinAll(n *node, side Side) {
	if first := u.readers[side]; first != nil {
		n.join(first)
		return
	}
	u.readers[side] = n
	for _, rule := range u.binding.Rules {
		for _, path := range rule.Ends[side] {
			n.join(u.node(side, path.Segments))
		}
	}
}

// relative returns the path of a place from the binding on, if it is known to be there: below an element it may be that of any
// other one. A place that the binding is in is all of it.
func (u *uniter) relative(side Side, path []syntax.Segment) ([]syntax.Segment, bool) {
	base := u.scope.base[side]
	n := min(len(base), len(path))
	if u.whole {
		return path, true
	}
	return path[n:], u.scope.fixed && Same(base[:n], path[:n])
}

// inside adds a place of the binding to the unit of a node, and what it is on the other side. By its content, the unit is that of
// all rules that name the place, a part of it, or what it is a part of; but for a part of what a plain pair hands on, which is a
// place by itself.
func (u *uniter) inside(n *node, side Side, p UnitPlace) {
	if p.Presence {
		unit := n.representative().unit
		unit.Places[side] = append(unit.Places[side], p)
		for _, there := range u.binding.images(side, p.Path, 0) {
			if u.status(side.Other(), there) == u.status(side, p.Path) {
				unit.Places[side.Other()] = append(unit.Places[side.Other()], UnitPlace{there, true})
			}
		}
		return
	}
	key := keyOfNode(side, p.Path)
	if first := u.insides[key]; first != nil {
		n.join(first) // which is one with all that this would be one with
		return
	}
	u.insides[key] = n
	owned := false
	join := func(at *indexed, part bool) {
		if slices.ContainsFunc(at.rules, func(r *Rule) bool { return !part || !r.Hands() }) {
			n.join(u.node(side, at.path))
			owned = owned || part
		}
	}
	u.binding.indexOf(side).along(p.Path, func(at *indexed, depth int, _ bool) {
		part := depth < len(p.Path)
		join(at, part)
		if !part {
			at.below(func(at *indexed) { join(at, false) })
		}
	})
	if owned {
		return
	}
	n.join(u.node(side, p.Path))
	for _, there := range u.binding.images(side, p.Path, 0) {
		if u.status(side.Other(), there) == u.status(side, p.Path) {
			n.join(u.node(side.Other(), there))
		}
	}
}

// images returns what a place is on the other side: where rules put it, or the same path if it is copied. There may be none.
func (b *Binding) images(side Side, path []syntax.Segment, depth int) [][]syntax.Segment {
	const deepest = 32 // a rule set that applies itself to its own places
	if depth > deepest {
		return nil
	}
	var found [][]syntax.Segment
	all := false // what rules pick out of a list is not all that is there
	var through *Elements
	b.indexOf(side).along(path, func(at *indexed, n int, exact bool) {
		for _, rule := range at.rules {
			all = all || exact
			found = append(found, rule.images(side, path, n, depth)...)
		}
		for _, e := range at.elements {
			if exact && e.Paired() && (through == nil || e.order < through.order) {
				through = e
			}
		}
	})
	switch {
	case all:
		return found
	case through != nil:
		return append(found, through.images(side, path, depth)...)
	}
	if b.copies(side, path) {
		found = append(found, path)
	}
	return found
}

// images returns what a place is on the other side, by a rule that names it or the first n segments of its path.
func (r *Rule) images(side Side, path []syntax.Segment, n, depth int) [][]syntax.Segment {
	var found [][]syntax.Segment
	for _, other := range r.Ends[side.Other()] {
		switch {
		case !r.Hands() || n == len(path):
			found = append(found, other.Segments)
		case r.Below == nil:
			found = append(found, slices.Concat(other.Segments, path[n:]))
		default:
			for _, below := range r.Below.images(side, path[n:], depth+1) {
				found = append(found, slices.Concat(other.Segments, below))
			}
		}
	}
	return found
}

// images is that of a rule for the list or map of a place, or a place in it.
func (e *Elements) images(side Side, path []syntax.Segment, depth int) [][]syntax.Segment {
	n, other := len(e.Ends[side].Segments), e.Ends[side.Other()].Segments
	if n == len(path) {
		return [][]syntax.Segment{other}
	}
	through := syntax.Segment{Kind: syntax.Elements}
	if IsMap(e.By[side.Other()]) {
		through.Kind = syntax.Values
	}
	var found [][]syntax.Segment
	for _, below := range e.Binding.images(side, path[n+1:], depth+1) {
		found = append(found, slices.Concat(other, []syntax.Segment{through}, below))
	}
	return found
}

// copies reports whether a place that no rule names on a side is the same place on the other one.
func (b *Binding) copies(side Side, path []syntax.Segment) bool {
	here, problem := b.Base[side].Find("", path)
	there, problemThere := b.Base[side.Other()].Find("", path)
	if problem != nil || problemThere != nil || here.Kind() != there.Kind() && here.Kind() != crdschema.Any && there.Kind() != crdschema.Any {
		return false
	}
	at := b.indexOf(side.Other())
	for i := 0; at != nil; i++ {
		if len(at.rules) > 0 || slices.ContainsFunc(at.elements, (*Elements).Paired) {
			return false
		}
		if i == len(path) {
			break
		}
		at = at.step(path[i])
	}
	return true
}

// meet reports whether one path may be the other one, or lead to a part of it.
func meet(a, b []syntax.Segment) bool {
	for i := range min(len(a), len(b)) {
		if !mayBe(a[i], b[i]) {
			return false
		}
	}
	return true
}

// mayBe reports whether two segments may lead to one place.
func mayBe(a, b syntax.Segment) bool {
	if a.Equal(b) {
		return true
	}
	inMap := func(s syntax.Segment) bool { return s.Kind == syntax.Field || IsMap(s) }
	switch {
	case a.Kind == syntax.Field && b.Kind == syntax.Field:
		return false
	case a.Kind == syntax.Pick && b.Kind == syntax.Pick:
		return a.Name != b.Name
	}
	return inMap(a) == inMap(b)
}
