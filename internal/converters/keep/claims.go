package keep

import (
	"strconv"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Claims are units in scopes of the object that is converted. An edit of one place of a unit is an
// edit of all.
type Claims map[claim]bool

// A claim is a unit of an object, in one scope of the version that is converted from.
type claim struct {
	unit any
	in   *jsondoc.Node
}

// Claims returns the units to which values returned in what an expression makes. Their inputs are
// not known one by one, so they may contradict the object that is converted.
func (r *Restored) Claims() Claims {
	if r == nil || len(r.inside) == 0 {
		return nil
	}
	all := make(Claims, 1)
	for _, e := range r.inside {
		all[e.of] = true
	}
	return all
}

// Disputed returns the claims to which an entry belongs that has no counterpart among others.
func (c Claims) Disputed(entries, others []*Entry) Claims {
	known := map[string]bool{}
	eachPlace(others, "", func(place string, _ *Entry) { known[place] = true })
	disputed := Claims{}
	eachPlace(entries, "", func(place string, e *Entry) {
		if c[e.of] && !known[place] {
			disputed[e.of] = true
		}
	})
	return disputed
}

// eachPlace visits all entries, also those of elements, with texts that identify their places.
func eachPlace(entries []*Entry, in string, visit func(place string, e *Entry)) {
	for _, e := range entries {
		place := in + string(e.path.appendJSON(nil))
		visit(place, e)
		if e.list == nil {
			continue
		}
		for _, k := range e.list.elements {
			eachPlace(k.kept, place+strconv.Itoa(k.index), visit)
		}
	}
}

// Without returns the entries that belong to none of the claims.
func (c Claims) Without(entries []*Entry) []*Entry {
	var left []*Entry
	for _, e := range entries {
		switch {
		case c[e.of]:
		case e.list != nil:
			left = append(left, e.without(c))
		default:
			left = append(left, e)
		}
	}
	return left
}

// without returns a copy of an entry without those of its elements that belong to claims.
func (e *Entry) without(claims Claims) *Entry {
	list := *e.list
	list.elements = make([]*keptElement, 0, len(e.list.elements))
	for _, k := range e.list.elements {
		left := *k
		left.kept = claims.Without(k.kept)
		list.elements = append(list.elements, &left)
	}
	left := *e
	left.list = &list
	return &left
}
