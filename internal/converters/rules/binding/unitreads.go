package binding

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// reads adds what the expressions of a rule read to its unit. What a rule for .status reads
// elsewhere does not count, and the other way round.
func (u *uniter) reads(rule *Rule) {
	for from := OfSpoke; from <= OfHub; from++ {
		keys := [2][2]string{{"toHub", "whenToHub"}, {"toSpoke", "whenToSpoke"}}[from]
		reads := [2][]transform.Read{nil, rule.When[from].Reads()}
		if way := rule.Transform[from]; way != nil {
			reads[0] = way.Reads
		}
		for i := range reads {
			for _, r := range reads[i] {
				if r.Element {
					u.element(rule, from, keys[i], r)
				}
			}
			for _, r := range u.counted(from, reads[i]) {
				if n := u.writer(rule, from.Other(), inStatus(r.Path)); n != nil {
					u.read(n, from, r, Why{Rule: rule.Syntax, Key: keys[i], At: from, Place: r})
				}
			}
		}
	}
}

// writer returns the node of a place, in .status or elsewhere, that the rule writes on a side, or
// nil.
func (u *uniter) writer(rule *Rule, side Side, status bool) *node {
	for _, p := range rule.Ends[side] {
		if u.status(side, p.Segments) == status {
			return u.node(side, p.Segments)
		}
	}
	return nil
}

// element adds what a rule reads of its element to the rule's unit.
func (u *uniter) element(rule *Rule, side Side, key string, r transform.Read) {
	path := slices.Concat(rule.Element[side], r.Path)
	n := u.writer(rule, side.Other(), u.status(side, path))
	if n == nil {
		return
	}
	unit := n.representative().unit
	unit.Why = append(unit.Why, Why{Rule: rule.Syntax, Key: key, At: side, Place: transform.Read{
		Path: slices.Concat(u.scope.base[side], path), Presence: r.Presence,
	}})
	switch {
	case len(path) > 0:
		u.inside(n, side, transform.Read{Path: path, Presence: r.Presence})
	case !r.Presence:
		u.joinAll(n, side)
	}
}

// counted returns the reads of places that users can edit, which fixed fields are not. It replaces
// a read of the whole object, or of all metadata, by reads of these.
func (u *uniter) counted(side Side, reads []transform.Read) []transform.Read {
	var places []transform.Read
	add := func(presence bool, names ...string) {
		p := transform.Read{Presence: presence}
		for _, name := range names {
			p.Path = append(p.Path, syntax.Segment{Kind: syntax.Field, Name: name})
		}
		places = append(places, p)
	}
	for _, r := range reads {
		switch {
		case r.Element:
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
		case !isFixed(r.Path):
			places = append(places, r)
		}
	}
	return places
}

// isFixed reports whether users cannot edit a place: type, name, and what the API server sets.
func isFixed(path []syntax.Segment) bool {
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
func (u *uniter) read(n *node, side Side, p transform.Read, why Why) {
	unit := n.representative().unit
	unit.Why = append(unit.Why, why)
	if own, within := u.relative(side, p.Path); within {
		if len(own) > 0 || u.whole {
			u.inside(n, side, transform.Read{Path: own, Presence: p.Presence})
			return
		}
		if !p.Presence { // the whole binding
			u.joinAll(n, side)
			unit = n.representative().unit
		}
	}
	unit.Outside[side] = append(unit.Outside[side], p)
	for _, there := range u.root.images(side, p.Path, 0) {
		if inStatus(there) == inStatus(p.Path) {
			unit.Outside[side.Other()] = append(unit.Outside[side.Other()], transform.Read{Path: there, Presence: p.Presence})
		}
	}
}

// joinAll joins a node with all places that rules name on a side.
func (u *uniter) joinAll(n *node, side Side) {
	if first := u.allReaders[side]; first != nil {
		n.join(first)
		return
	}
	u.allReaders[side] = n
	for _, rule := range u.binding.Rules {
		for _, path := range rule.Ends[side] {
			n.join(u.node(side, path.Segments))
		}
	}
}

// relative returns the path of a place from the binding on, and whether the place is known to be in
// this binding: it is not if the binding is that of an element. A place that contains the binding
// is all of it.
func (u *uniter) relative(side Side, path []syntax.Segment) ([]syntax.Segment, bool) {
	base := u.scope.base[side]
	n := min(len(base), len(path))
	if u.whole {
		return path, true
	}
	return path[n:], u.scope.fixed && Same(base[:n], path[:n])
}

// inside adds a place of the binding and its images on the other side to the unit of a node. The
// content of the place joins the units of all rules that name it, a part of it, or a place that
// contains it. A part of what a plain pair hands on is separate.
func (u *uniter) inside(n *node, side Side, p transform.Read) {
	if p.Presence {
		unit := n.representative().unit
		unit.Places[side] = append(unit.Places[side], p)
		for _, there := range u.binding.images(side, p.Path, 0) {
			if u.status(side.Other(), there) == u.status(side, p.Path) {
				unit.Places[side.Other()] = append(unit.Places[side.Other()], transform.Read{Path: there, Presence: true})
			}
		}
		return
	}
	key := keyOfNode(side, p.Path)
	if first := u.readers[key]; first != nil {
		n.join(first) // which has joined everything else
		return
	}
	u.readers[key] = n
	owned := false
	join := func(at *indexNode, part bool) {
		if slices.ContainsFunc(at.rules, func(r *Rule) bool { return !part || !r.Hands() }) {
			n.join(u.node(side, at.path))
			owned = owned || part
		}
	}
	u.binding.indexOf(side).along(p.Path, func(at *indexNode, depth int, _ bool) {
		part := depth < len(p.Path)
		join(at, part)
		if !part {
			at.below(func(at *indexNode) { join(at, false) })
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

// images returns where a place is on the other side: where rules put it, or the same path if it is
// copied. There may be none.
func (b *Binding) images(side Side, path []syntax.Segment, depth int) [][]syntax.Segment {
	const deepest = 32 // a rule set may apply itself to its own places
	if depth > deepest {
		return nil
	}
	var found [][]syntax.Segment
	all := false // rules put the whole place somewhere, not only elements that they pick
	var through *Elements
	b.indexOf(side).along(path, func(at *indexNode, n int, exact bool) {
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

// images returns where a rule that names the first n segments of a place puts it.
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

// images returns where the rules of elements put a list or map, or a place in it.
func (e *Elements) images(side Side, path []syntax.Segment, depth int) [][]syntax.Segment {
	n, other := len(e.Ends[side].Segments), e.Ends[side.Other()].Segments
	if n == len(path) {
		return [][]syntax.Segment{other}
	}
	through := plain(e.By[side.Other()])
	var found [][]syntax.Segment
	for _, below := range e.Binding.images(side, path[n+1:], depth+1) {
		found = append(found, slices.Concat(other, []syntax.Segment{through}, below))
	}
	return found
}

// copies reports whether a place that no rule names on a side is copied to the other side.
func (b *Binding) copies(side Side, path []syntax.Segment) bool {
	here, problem := b.Base[side].Find("", path)
	there, problemThere := b.Base[side.Other()].Find("", path)
	if problem != nil || problemThere != nil || here.Kind() != there.Kind() && here.Kind() != crdschema.Any && there.Kind() != crdschema.Any {
		return false
	}
	for i := range len(path) + 1 {
		at := b.indexOf(side.Other()).find(path[:i])
		if len(at.rules) > 0 || slices.ContainsFunc(at.elements, (*Elements).Paired) {
			return false
		}
	}
	return true
}

// mayBe reports whether two segments may lead to the same place.
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
