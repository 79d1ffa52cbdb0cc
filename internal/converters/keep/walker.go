package keep

import (
	"context"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// lookEvery is how often a deadline looks at its context, in values.
const lookEvery = 256

// A deadline looks at the context of a call now and then, since each look takes a lock. All walkers
// through one object share it.
type deadline struct {
	ctx  context.Context //nolint:containedctx // lives as long as one call
	done int             // values since the last look
}

func newDeadline(ctx context.Context) *deadline { return &deadline{ctx, lookEvery} }

// passed counts values. When a look is due, it returns the error of the context.
func (d *deadline) passed(values int) error {
	if d.done += values; d.done < lookEvery {
		return nil
	}
	d.done = 0
	return d.ctx.Err()
}

// A walker goes through an object, for a differ or a restorer. Paths start at the root of the
// object, or again at an element of a list without keys.
type walker struct {
	deadline     *deadline
	memo         *memo
	otherVersion string // as annotations name it
	object       *jsondoc.Node
	path         Path
	scopes       []*jsondoc.Node // the values on the path, from its start to its end; nil for none
	watched      []watched       // the missing places on the path that units watch
	err          error           // the first error, which ends the walk
}

func newWalker(ctx context.Context, obj *jsondoc.Object, l *Layout) walker {
	w := walker{deadline: newDeadline(ctx), memo: &memo{}, otherVersion: label(l.OtherVersion), object: obj.Node}
	return w.startingAt(obj.Node)
}

const usualLevels = 8

// startingAt returns a walker for a value where paths start again.
func (w *walker) startingAt(n *jsondoc.Node) walker {
	sub := *w
	sub.path, sub.scopes, sub.watched, sub.err = nil, append(make([]*jsondoc.Node, 0, usualLevels), n), nil, nil
	return sub
}

func (w *walker) note(err error) {
	if w.err == nil {
		w.err = err
	}
}

// stopped counts one value, and reports whether the walk has ended.
func (w *walker) stopped() bool {
	if w.err == nil {
		w.err = w.deadline.passed(1)
	}
	return w.err != nil
}

func (w *walker) elements(list *jsondoc.Node) []*jsondoc.Node {
	all, err := list.Elements()
	w.note(err)
	return all
}

// push moves to a part of the value, and pop back.
func (w *walker) push(s Step, part *jsondoc.Node) {
	if w.path == nil {
		w.path = make(Path, 0, usualLevels)
	}
	w.path, w.scopes = append(w.path, s), append(w.scopes, part)
}

func (w *walker) pop() {
	if last := len(w.watched) - 1; last >= 0 && w.watched[last].depth == len(w.path) {
		w.watched = w.watched[:last]
	}
	w.path, w.scopes = w.path[:len(w.path)-1], w.scopes[:len(w.scopes)-1]
}

// base returns the digest of what the unit of a place shows; n is the value at the place. Unless
// filled, values that the schemas fill in count as nothing. Places that the unit has got since then
// count only if they show something, so that rules may grow.
func (w *walker) base(n *jsondoc.Node, c cursor, filled bool) stamp {
	var all stamp
	if n != nil && (filled || !c.filled(n)) {
		all.add(mixed(digest(n)))
	}
	for i := range c.unit.places(true) {
		m, own := &c.unit.own[i], w.path[c.unitScope:]
		switch {
		case m.FromRoot:
			w.addMember(&all, m, w.object, m.PresenceOnly, filled)
		case !m.Path.within(own):
			w.addMember(&all, m, w.scopes[c.unitScope], m.PresenceOnly || own.within(m.Path), filled)
		}
	}
	return all
}

// lacks reports whether nothing is at the place, which may be seen in the other version. Of an
// element, In says whether that has it.
func (w *walker) lacks(n *jsondoc.Node) bool { return n == nil && lastKeys(w.path) == nil }

// shown returns the digest of what the other version itself shows of a unit, which may be more than
// g. Outside units only presence matters. Below a place of a unit nothing counts, since it is
// unknown which part of the counterpart belongs here.
func (w *walker) shown(c cursor, presence, filled bool) stamp {
	all := w.peerShown(c, presence, filled)
	if c.unit == nil || c.unitAt != len(w.path) && w.scopes[c.unitAt] != nil {
		return all
	}
	for i := range c.unit.other {
		m := &c.unit.other[i]
		from := c.unitPeer
		if m.FromRoot {
			from = c.root
		}
		w.addMember(&all, m, from, m.PresenceOnly, filled)
	}
	return all
}

// peerShown returns the digest of what is at the counterpart of a place where nothing is.
func (w *walker) peerShown(c cursor, presence, filled bool) stamp {
	var all stamp
	if c.shownAlone {
		all.add(mixed(hash("element")))
	}
	if (c.unit == nil || c.unitBelow) && presence && c.peer != nil && c.known && !c.oneSided() &&
		(filled || c.otherGiven || !fills(c.other, c.peer)) {
		all.add(digestUnfilled(c.peer, c.other))
	}
	return all
}

func (w *walker) addMember(all *stamp, m *Member, from *jsondoc.Node, presence, filled bool) {
	n, err := w.memo.at(from, m)
	w.note(err)
	switch {
	case n == nil || !filled && fills(m.Schema, n):
	case presence:
		all.add(mixed(m.sum))
	case m.tags:
		sum, err := digestMembers(n, IsOwn)
		w.note(err)
		all.add(mixed(m.sum ^ mixed(sum)))
	default:
		all.add(mixed(m.sum ^ mixed(w.memo.digest(n))))
	}
}

// A watched place is one of the path whose presence units read.
type watched struct {
	by           []*Unit
	scope, depth int
}

// missing notes that nothing is at the place, until the walk leaves it.
func (w *walker) missing(c cursor) {
	if c.place != nil && c.place.Watch != nil {
		w.watched = append(w.watched, watched{c.place.Watch, c.scope, len(w.path)})
	}
}

// watch returns the digest of what the units show that read whether something is at a place, or
// above it, where nothing is. A value that returned there would change that. Absent says that the
// place is to have nothing.
func (w *walker) watch(c cursor, absent, filled bool) stamp {
	var all stamp
	for _, p := range w.watched {
		if c.unit == nil || !c.unitBelow || c.unitAt > p.depth { // else the base has it
			w.addWatched(&all, p, c.unit, filled)
		}
	}
	if absent && c.place != nil && c.place.Watch != nil {
		w.addWatched(&all, watched{c.place.Watch, c.scope, len(w.path)}, c.unit, filled)
	}
	return all
}

// addWatched adds the units except own, which the base has.
func (w *walker) addWatched(all *stamp, p watched, own *Unit, filled bool) {
	place := w.path[p.scope:p.depth]
	for _, unit := range p.by {
		if unit == own {
			continue
		}
		for i := range unit.own {
			switch m := &unit.own[i]; {
			case m.FromRoot:
				w.addMember(all, m, w.object, m.PresenceOnly, filled)
			case !m.Path.within(place) && !place.within(m.Path):
				w.addMember(all, m, w.scopes[p.scope], m.PresenceOnly, filled)
			}
		}
	}
}
