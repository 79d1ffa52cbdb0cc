package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// The inputs of a kept value are what the other version shows of the places that the value is
// computed from. Their digest has each place with its effective value, in no order: a place that is
// absent adds nothing. The schema's default, which the API server would fill in, adds 0, unless it
// is absent together with the object around it. So places that rules or schemas get later do not
// count while they show nothing.

// inputs returns the digest of the inputs of the value at a place, where the conversion back gives
// n.
func (w *walker) inputs(n *jsondoc.Node, c cursor, e *Entry) stamp {
	var all stamp
	switch inUnit := c.unit != nil && len(c.unit.other) > 0 && !c.computed; {
	case inUnit && c.unitAt == len(w.path):
		if w.addUnit(&all, c, nil); !c.unitPlace.Moved {
			w.addCounterpart(&all, c, e)
		}
	case inUnit: // below a place that is handed on
		w.addUnit(&all, c, c.unitPlace.Counterparts)
		w.addCounterpart(&all, c, e)
	case c.tracked:
		w.addCounterpart(&all, c, e)
	case n != nil && !isContainer(n) && !c.isFilled(n, true):
		all.add(mixed(effective(n, c.schema)))
	}
	if isContainer(n) && !c.isDefaultContainer(n) { // it may be of several places
		all.add(mixed(effective(n, c.schema)))
	}
	for _, p := range w.watched {
		w.addWatched(&all, p, c)
	}
	if e.kind == isAbsent && c.place != nil {
		w.addWatched(&all, watched{c.place.Watch, c.scope}, c)
	}
	if (e.kind == isAbsent || e.isPresence()) && c.place != nil {
		w.addWatched(&all, watched{c.place.Holds, c.scope}, c)
	}
	return all
}

// listInputs is inputs for the elements of a list without keys that the conversion back does not
// give, although the other version may show something of them.
func (w *walker) listInputs(c cursor, length int) stamp {
	var all stamp
	if c.hasUnit() {
		w.addUnit(&all, c, nil)
	}
	if c.there.Kind() == jsondoc.Array && c.there.Len() != length {
		all.add(mixed(effective(c.there, c.other)))
	}
	return all
}

// addCounterpart adds what the other version has at the place.
func (w *walker) addCounterpart(all *stamp, c cursor, e *Entry) {
	filled := c.otherFills()
	if c.there == nil && !filled {
		return
	}
	switch at := append(slices.Clip(c.thereBy), w.path[c.thereAt:]...).hash(); {
	case c.there == nil || filled && !e.isPresence():
		all.addDefault(c.thereIn, at)
	case e.isPresence():
		all.add(mixed(at))
	default:
		all.add(mixed(at ^ mixed(effective(c.there, c.other))))
	}
}

// addUnit adds the other version's places of a unit. Of some only their presence counts.
func (w *walker) addUnit(all *stamp, c cursor, presence []Counterpart) {
	for i := range c.unit.other {
		m := &c.unit.other[i]
		w.addMember(all, m, c.unitScope, m.PresenceOnly || slices.ContainsFunc(presence, func(p Counterpart) bool { return m.Path.equal(p.Path) }))
	}
}

func (w *walker) addMember(all *stamp, m *Member, at scope, presence bool) {
	from := at.there
	if m.FromRoot {
		from = at.root
	}
	n, err := find(from, m.Path)
	w.note(err)
	_, filled := m.Schema.Default()
	switch {
	case filled && (n == nil || fills(m.Schema, n)):
		in, err := find(from, m.Path[:len(m.Path)-1])
		w.note(err)
		all.addDefault(in, m.sum)
	case n == nil || m.tags && !hasTags(n):
	case m.Shape:
		sum, err := sumMembers(n, func([]byte, *jsondoc.Node) (uint64, bool) { return 0, true })
		w.note(err)
		all.add(mixed(m.sum ^ mixed(sum)))
	case presence:
		all.add(mixed(m.sum))
	case m.tags:
		sum, err := digestMembers(n, IsOwn)
		w.note(err)
		all.add(mixed(m.sum ^ mixed(sum)))
	default:
		all.add(mixed(m.sum ^ mixed(effective(n, m.Schema))))
	}
}

// hasTags reports whether there is a label or an annotation that expressions see. They see neither
// webhookd's own nor an empty object.
func hasTags(n *jsondoc.Node) bool {
	has := false
	return n.Kind() == jsondoc.Map && n.Filter(func(name []byte, _ jsondoc.Member) bool {
		has = has || !IsOwn(name)
		return true
	}) == nil && has
}

// ofObject adds the object that inputs of status are of. A copy of the object under another name
// has none of its status.
func (s stamp) ofObject(c cursor) stamp {
	if !c.inStatus {
		return s
	}
	if uid, err := find(c.scope.root, Path{{Name: "metadata"}, {Name: "uid"}}); err == nil && uid.Kind() == jsondoc.String {
		s.add(mixed(hash("uid") ^ digest(uid)))
	}
	return s
}

// A watched place is one of the path where nothing is, with the units that read whether something
// is there: a value that returned below it would change that.
type watched struct {
	by []*Unit
	scope
}

// addWatched adds the units, except that of the value, which is added already.
func (w *walker) addWatched(all *stamp, p watched, c cursor) {
	for _, unit := range p.by {
		if unit == c.unit && !c.computed && c.unitAt == len(w.path) {
			continue
		}
		for i := range unit.other {
			w.addMember(all, &unit.other[i], p.scope, unit.other[i].PresenceOnly)
		}
	}
}

// effective is the digest of a value without what its schema fills in.
func effective(n *jsondoc.Node, s *crdschema.Node) uint64 {
	switch {
	case s == nil || !isContainer(n):
		return digest(n)
	case n.Kind() == jsondoc.Array:
		return digestElements(n, func(e *jsondoc.Node) uint64 { return effective(e, s.Items()) })
	}
	sum, err := sumMembers(n, func(name []byte, m *jsondoc.Node) (uint64, bool) {
		if fills(s.PropertyNamed(name), m) {
			return 0, false
		}
		return effective(m, memberNamed(s, name)), true
	})
	if err != nil {
		return digest(n) // too many members
	}
	return sum
}
