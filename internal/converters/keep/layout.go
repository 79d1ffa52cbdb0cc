package keep

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Layout says what is known of the places of a version, beside another version. It is immutable once it is in use, and so
// safe for concurrent use.
type Layout struct {
	// Schema is that of the version, and Other that of the other version. Nil knows nothing: any value fits.
	Schema, Other *crdschema.Node
	// OtherVersion is the name of the other version.
	OtherVersion string
	// Root has what the conversions between the two do, as far as it matters for what is kept; nil if nothing does.
	Root *Place
	// Opaque says that the conversions are functions that nobody can look into: what is at a place that the other version does not
	// have may be made of anything, and schemas may not know all that a version has.
	Opaque bool
}

// A Place is what conversions do at a place of a version. Places at which that does not matter need none.
type Place struct {
	// Members are those of an object that have a place, Each is that of all others, of the values of a map, and of the
	// elements of a list.
	Members map[string]*Place
	Each    *Place
	// Beside has more members, those of a rule set that is applied to the object. The paths of their units start there.
	Beside *Place
	// Keys are the fields that tell the elements of a list apart, where the schema does not name them.
	Keys []string
	// First says of a list that a rule picks its first element, which is then the same one whatever becomes of it. Element says of
	// an object that it is such an element in the other version, where another one may come to be the first; Keys are those then.
	First, Element bool
	// Dropped says that what is here is lost on purpose.
	Dropped bool
	// OneSided says that the other version has no counterpart. Bridge says so of an object or list that is there for the other
	// version because of something in it that rules make: without that it may still have other parts.
	OneSided, Bridge bool
	// Decided says that a condition or an expression decides whether the object or list is there: it is no bridge.
	Decided bool
	// Unit are the places that belong together with this one. Their paths start at the next Scope above. Below are those of which
	// some are in this place: where there is nothing here, whether there is belongs to them.
	Unit, Below *Unit
	// Fallback is what a rule gives where the other version shows nothing, as JSON, or nil.
	Fallback []byte
	// Scope says that paths of units start here: the root, an element, or where a rule set is applied.
	Scope bool
	// Moved says that the counterpart is elsewhere, or computed. Other is its schema, or nil; Counterpart its path from where the
	// next Scope above has its counterpart, or nil.
	Moved       bool
	Other       *crdschema.Node
	Counterpart Path
}

// A Unit are the places of both versions that belong together: an edit of one of them in the other version is one of all.
type Unit struct{ own, other []Member }

// A Member is a place of a unit. Of one that is only looked at for being there the content does not count.
type Member struct {
	Path         Path
	PresenceOnly bool
	FromRoot     bool // the path starts at the root of the object, wherever the unit is
	// Schema is what the schema of its version has at the place, or nil if that does not matter.
	Schema *crdschema.Node

	sum   uint64 // of the path
	keyed bool   // it leads through the elements of a list
	tags  bool   // it is the labels or the annotations as a whole
}

// NewUnit returns the unit of some places.
func NewUnit(own, other []Member) *Unit {
	for _, members := range [][]Member{own, other} {
		for i := range members {
			members[i].sum = hash(string(members[i].Path.appendJSON(nil)))
			members[i].tags = isTags(members[i].Path)
			members[i].keyed = slices.ContainsFunc(members[i].Path, func(s Step) bool { return s.Keys != nil })
		}
	}
	return &Unit{own: own, other: other}
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

func isTags(path Path) bool {
	return len(path) == 2 && path[0].Name == "metadata" && (path[1].Name == "labels" || path[1].Name == "annotations")
}

// member returns the place of a member, and whether it is one of the rule set beside.
func (p *Place) member(name string) (m *Place, beside bool) {
	if p == nil {
		return nil, false
	}
	if own := p.Members[name]; own != nil {
		return own, false
	}
	if m, _ = p.Beside.member(name); m != nil {
		return m, true
	}
	return p.Each, false
}

// memberNamed returns the place of a member without a copy of its name (BenchmarkKinds in converters/rules).
func (p *Place) memberNamed(name []byte) *Place {
	if p == nil {
		return nil
	}
	return cmp.Or(p.Members[string(name)], p.Beside.memberNamed(name), p.Each)
}

func (p *Place) each() *Place {
	if p == nil {
		return nil
	}
	return p.Each
}

// A where is a place of an object as it is gone through: what its own and the other version's schema have there, and what
// conversions do.
type cursor struct {
	place         *Place
	schema, other *crdschema.Node
	// known says that the schema has the place; without a schema there is nothing that it has not. anything says that the
	// schema has no say about what is here.
	known, anything bool
	// otherKnown is known for the other version.
	otherKnown bool
	// given says that this is an entry of a map, or an element, in the own and in the other version: no schema fills one in.
	given, otherGiven bool
	opaque            bool // as of the layout
	// level is how many objects and lists of the object the place is in.
	level int
	// root is the object of the other version, or nil.
	root *jsondoc.Node
	// scope is where the paths of units start: the depth of the path there.
	scope int
	unit  *Unit // of the nearest place above that has one
	// unitAt is the depth of that place, unitScope that of where its paths start, and unitPeer the counterpart there.
	unitAt, unitScope int
	unitPeer          *jsondoc.Node
	// peer is the counterpart of what is here in the object of the other version, and scopePeer that of the scope; nil for none, and
	// if it is not tracked.
	peer, scopePeer *jsondoc.Node
	tracked         bool
}

// missing says that the other version has a place for what is here, and nothing in it, or that it may be elsewhere: what the way
// back gives is there because of something else.
func (c cursor) missing() bool { return c.tracked && c.peer == nil && (c.otherKnown || c.opaque) }

// root is where an object starts, whose counterpart in the other version is given.
func (l *Layout) root(peer *jsondoc.Object) cursor {
	c := cursor{
		place: l.Root, schema: l.Schema, other: l.Other, known: true, anything: l.Schema == nil, otherKnown: true, opaque: l.Opaque,
	}
	if peer != nil {
		c.root, c.peer, c.scopePeer, c.tracked = peer.Node, peer.Node, peer.Node, true
	}
	return c
}

// member goes on to a member of an object.
func (c cursor) member(name string, depth int) cursor {
	place, beside := c.place.member(name)
	if beside {
		c.scope, c.scopePeer = depth-1, c.peer
	}
	next := c.into(place, depth)
	next.schema, next.known, next.anything = below(c.schema, name, c.anything)
	next.given, next.otherGiven = c.schema.Property(name) == nil, next.place == c.place.each()
	if !next.place.moved() {
		next.other, next.otherKnown, _ = below(c.other, name, c.other == nil && c.otherKnown)
		next.otherGiven = c.other.Property(name) == nil
	}
	if !next.place.moved() || next.place == c.place.Each {
		next.peer, _ = c.peer.Member(name)
		next.tracked = c.tracked && c.peer.Kind() != jsondoc.Array
	}
	return next.scoped(depth)
}

// element goes on to an element of a list. Its index is -1 if the counterpart is not at the same one.
func (c cursor) element(depth, index int) cursor {
	next := c.into(c.place.each(), depth)
	next.schema = c.schema.Items()
	next.anything = c.anything || next.schema == nil
	next.known, next.given, next.otherGiven = true, true, true
	next.peer, next.tracked = nil, false
	if index >= 0 {
		next.peer, _ = c.peer.Element(index)
		next.tracked = c.tracked
	}
	if !next.place.moved() { // the element that a rule picks is elsewhere
		next.other, next.otherKnown = c.other.Items(), c.otherKnown || c.place != nil && c.place.First
	}
	return next.scoped(depth)
}

// scoped is the place with its counterpart, where paths of units may start.
func (c cursor) scoped(depth int) cursor {
	if c.place.scoped() {
		if c.scopePeer = c.peer; c.unitAt == depth {
			c.unitPeer = c.peer
		}
	}
	return c
}

// paired returns the index of an element if its counterpart has the same one, or -1: n elements have n counterparts.
func (c cursor) paired(index, n int) int {
	if index < 0 || c.peer.Kind() != jsondoc.Array || c.peer.Len() != n {
		return -1
	}
	return index
}

func (c cursor) into(p *Place, depth int) cursor {
	next := cursor{
		place: p, level: c.level + 1, root: c.root, scope: c.scope, scopePeer: c.scopePeer, opaque: c.opaque,
		unit: c.unit, unitAt: c.unitAt, unitScope: c.unitScope, unitPeer: c.unitPeer,
	}
	if p.scoped() {
		next.scope, next.unit = depth, nil
	}
	if p != nil && p.Unit != nil {
		next.unit, next.unitAt, next.unitScope, next.unitPeer = p.Unit, depth, next.scope, c.scopePeer
	}
	if p.moved() {
		next.other, next.otherKnown = p.Other, p.Other != nil
		if p.Counterpart != nil {
			next.peer, _ = find(c.scopePeer, p.Counterpart)
			next.tracked = c.scopePeer != nil
		}
	}
	return next
}

func (p *Place) moved() bool { return p != nil && p.Moved }

// below returns what a schema has for a member, whether it has one, and whether that may be anything.
func below(s *crdschema.Node, name string, anything bool) (n *crdschema.Node, known, free bool) {
	switch n = memberOf(s, name); {
	case anything:
		return nil, true, true
	case n != nil:
		return n, true, n.Kind() == crdschema.Any && n.PreservesUnknown() && len(n.Properties()) == 0
	}
	return nil, s.PreservesUnknown(), s.PreservesUnknown()
}

// unknown says that neither version's schema has the place. The copies of the schemas are older than those of the cluster
// then: the API server prunes such a field before anybody sees it.
func (c cursor) unknown() bool {
	return !c.known && !c.otherKnown && !c.hasUnit()
}

// oneSided says that the other version has no place for what is here.
func (c cursor) oneSided() bool {
	if c.place != nil && (c.place.OneSided || c.place.Moved || c.place.Unit != nil) {
		return c.place.OneSided
	}
	return !c.otherKnown && c.unit == nil
}

// unbound says that no rule ties the place to the other version: a base was kept by rules that did, of which these know nothing.
func (c cursor) unbound() bool { return c.oneSided() && c.unit == nil }

// hasUnit says that the place itself is one of a unit.
func (c cursor) hasUnit() bool { return c.place != nil && c.place.Unit != nil }

// required says that what was in the place goes if the other version has the place no more.
func (c cursor) required() bool { return c.place == nil || !c.place.Bridge }

// hasDropped says that something below is lost on purpose.
func (c cursor) hasDropped() bool { return c.place.drops() }

func (p *Place) drops() bool {
	if p == nil {
		return false
	}
	for _, m := range p.Members {
		if m.Dropped || m.drops() {
			return true
		}
	}
	return false
}

// keys returns the fields that tell the elements of a list here apart.
func (c cursor) keys() []string {
	keys := c.schema.ListMapKeys()
	switch {
	case len(keys) > 0:
	case c.place != nil && len(c.place.Keys) > 0:
		keys = c.place.Keys
	default:
		keys = c.other.ListMapKeys()
	}
	if len(keys) > maxKeys {
		return nil
	}
	return keys
}

// userNamed says that the names of the members here are data.
func (c cursor) userNamed(name string) bool {
	return c.schema.Property(name) == nil && (c.place == nil || c.place.Members[name] == nil)
}

// filled reports whether a value is what the schema of either version fills in, or a rule.
func (c cursor) filled(n *jsondoc.Node) bool {
	return c.schemaFills(n) || !c.otherGiven && fills(c.other, n) || c.place != nil && c.place.Fallback != nil && isText(n, string(c.place.Fallback))
}

// schemaFills reports whether a value is what the version's own schema fills in.
func (c cursor) schemaFills(n *jsondoc.Node) bool { return !c.given && fills(c.schema, n) }

func fills(s *crdschema.Node, n *jsondoc.Node) bool {
	text, has := s.Default()
	return has && isText(n, text)
}

// isText reports whether a value is the one that a JSON text is.
func isText(n *jsondoc.Node, text string) bool {
	switch kind := n.Kind(); {
	case kind == jsondoc.Invalid, (text[0] == '{' || text[0] == '[' || text[0] == '"') && kind != jsondoc.Kind(text[0]):
		return false
	case kind != jsondoc.Map && kind != jsondoc.Array && string(n.Text()) == text: // that of an edited object has to be made
		return true
	}
	v, err := parsed([]byte(text))
	return err == nil && same(n, v)
}

// nothing is a place at which there is nothing on the way back: what would be put there makes what it is in.
func (c cursor) nothing(depth int) cursor {
	if c.unit == nil && c.place != nil && c.place.Below != nil {
		c.unit, c.unitAt, c.unitScope, c.unitPeer = c.place.Below, depth, c.scope, c.scopePeer
	}
	return c
}
