package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// ofObject is the depth of the object as a whole, wherever paths start.
const ofObject = -1

// baseOf returns the digest of what the unit of a place shows: n is what is at the place itself, which the path leads to; scope
// returns the value that a unit's paths start at. Nothing shown gives "". Places that a unit has got since count as long as
// they show something, so that rules may grow.
//
// Without filled, what the schemas fill in counts as nothing.
func baseOf(
	n *jsondoc.Node, w where, filled bool, path Path, scope func(depth int) *jsondoc.Node, note func(error), memo *memo,
) string {
	sum, shown := uint64(0), false
	if n != nil && (filled || !w.filled(n)) {
		sum, shown = mixed(digest(n)), true
	}
	for i := range w.unit.places(true) {
		m := &w.unit.own[i]
		presence := m.PresenceOnly
		own, from := path[w.unitScope:], scope(w.unitScope)
		switch {
		case m.FromRoot:
			from = scope(ofObject)
		case m.Path.within(own):
			continue
		case own.within(m.Path):
			presence = true // it is in there
		}
		other, err := memo.at(from, m)
		note(err)
		if other == nil || !filled && fills(m.Schema, other) {
			continue
		}
		sum, shown = sum+m.digest(other, presence, memo), true
	}
	if !shown {
		return ""
	}
	return digestString(sum)
}

func (m *Member) digest(n *jsondoc.Node, presence bool, memo *memo) uint64 {
	switch {
	case presence:
		return mixed(m.sum)
	case m.tags:
		sum, _ := digestMembers(n, IsOwn) // memo.at has looked at it before
		return mixed(m.sum ^ mixed(sum))
	}
	return mixed(m.sum ^ mixed(memo.digest(n)))
}

// places are the unit's own, or those of the other version.
func (u *Unit) places(own bool) []Member {
	switch {
	case u == nil:
		return nil
	case own:
		return u.own
	}
	return u.other
}

// With returns a unit with the places of others as well. It is the unit itself where there are none.
func (u *Unit) With(others ...*Unit) *Unit {
	if len(others) == 0 {
		return u
	}
	all := &Unit{own: slices.Clone(u.own), other: slices.Clone(u.other)}
	for _, v := range others {
		all.own, all.other = append(all.own, v.own...), append(all.other, v.other...)
	}
	return all
}

// shown returns the digest of what the other version itself shows of the unit at a place: it may show what the way back does not
// say. Of a part of what the way back gives at a place of a unit it is not known which part of the counterpart it is. Without a
// unit that matters only for whether there is anything at the place.
func (w where) shown(presence, filled bool, scope func(depth int) *jsondoc.Node, depth int, memo *memo) string {
	switch {
	case w.unit == nil && presence && w.peer != nil && w.known && !w.oneSided():
		if !filled && !w.otherGiven && fills(w.other, w.peer) {
			return ""
		}
		return digestText(w.peer)
	case w.unit == nil || w.unitAt != depth && scope(w.unitAt) != nil:
		return ""
	}
	sum, shown := uint64(0), false
	for i := range w.unit.other {
		m := &w.unit.other[i]
		from := w.unitPeer
		if m.FromRoot {
			from = w.root
		}
		other, err := memo.at(from, m)
		if err == nil && other != nil && (filled || !fills(m.Schema, other)) {
			sum, shown = sum+m.digest(other, m.PresenceOnly, memo), true
		}
	}
	if !shown {
		return ""
	}
	return digestString(sum)
}

// find returns the value at a path, or nil if there is none.
func find(n *jsondoc.Node, path Path) (*jsondoc.Node, error) {
	for _, s := range path {
		var err error
		switch {
		case s.First:
			n, err = n.Element(0)
		case s.Keys != nil:
			n, err = elementOf(n, s.Keys)
		default:
			n, err = n.Member(s.Name)
		}
		if n == nil || err != nil {
			return nil, err
		}
	}
	return n, nil
}

// elementOf returns the element of a list that has some keys, or nil.
func elementOf(n *jsondoc.Node, keys []Key) (*jsondoc.Node, error) {
	var found *jsondoc.Node
	if n.Kind() != jsondoc.Array {
		return nil, nil //nolint:nilnil // absent
	}
	err := n.Each(func(_ string, e *jsondoc.Node) bool {
		if hasKeys(e, keys) {
			found = e
		}
		return found == nil
	})
	return found, err
}

func hasKeys(e *jsondoc.Node, keys []Key) bool {
	for _, k := range keys {
		value, err := e.Member(k.Name)
		if text, ok := keyText(value); err != nil || !ok || text != k.Value {
			return false
		}
	}
	return true
}
