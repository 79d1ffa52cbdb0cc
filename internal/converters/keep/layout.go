package keep

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Layout says what is known of the places of a version in relation to another version. It is
// immutable while in use, so it is safe for concurrent use.
type Layout struct {
	// Schema and Other are the schemas of the version and of the other version. Any value fits a
	// nil schema.
	Schema, Other *crdschema.Node
	OtherVersion  string
	// Root has the places that matter to conversions between the two, or nil.
	Root *Place
	// Opaque says that the conversions are unknown functions. A place that the other version lacks
	// may be made of anything, and schemas may be incomplete.
	Opaque bool
}

// A Place says what conversions do at a place of a version. A place where that does not matter
// needs none.
type Place struct {
	// Members are the places of an object's members. Each is that of all other members, of the
	// values of a map and of the elements of a list.
	Members map[string]*Place
	Each    *Place
	// RuleSet has the members of a rule set that applies to the object. The paths of their units
	// start there.
	RuleSet *Place
	// Keys are the fields that identify elements of a list, if the schema names none. KeyNames are
	// the names in the other version of such fields, if the list has moved.
	Keys     []string
	KeyNames map[string]string
	// First says of a list that a rule picks its first element, which is the same one whatever
	// happens to it. Element says of an object that it is such an element in the other version,
	// where another element may become the first; Keys identify it.
	First, Element bool
	// Dropped says that the value is lost on purpose.
	Dropped bool
	// OneSided says that the other version has no counterpart. Bridge says so of an object or list
	// that the other version has only for something that rules make in it.
	OneSided, Bridge bool
	// Decided says that a condition or an expression decides whether the value is there, so it is
	// no bridge.
	Decided bool
	// Conditional says that the value also depends on other places than its counterpart. So if the
	// counterpart once gave nothing, the rules need not have grown since.
	Conditional bool
	// Unit has the places that belong together with this one. Their paths start at the next Scope
	// above. Below has the places that are in this one. If this one is missing, that is their
	// concern.
	Unit, Below *Unit
	// Watch has the units of other places whose expressions read whether this one is there.
	Watch []*Unit
	// Fallback is what a rule gives if the other version shows nothing, as JSON, or nil.
	Fallback []byte
	// Scope says that paths of units start here: at the root, an element or a rule set.
	Scope bool
	// Moved says that the counterpart is elsewhere or computed. Other is its schema, or nil.
	// Counterpart is its path from the counterpart of the next Scope above, or nil.
	Moved       bool
	Other       *crdschema.Node
	Counterpart Path
}

// A Unit has the places of both versions that belong together: an edit of one is an edit of all.
type Unit struct{ own, other []Member }

// A Member is a place of a unit. With PresenceOnly its value does not matter.
type Member struct {
	Path         Path
	PresenceOnly bool
	FromRoot     bool // the path starts at the root, wherever the unit is
	// Schema is the node of the version's schema at the place, or nil if that does not matter.
	Schema *crdschema.Node

	sum   uint64 // of the path
	keyed bool   // it leads through elements of a list
	tags  bool   // it is all labels or all annotations
}

// NewUnit returns the unit of the places of the version and of the other version.
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

// places returns the places of the version, or of the other version.
func (u *Unit) places(own bool) []Member {
	switch {
	case u == nil:
		return nil
	case own:
		return u.own
	}
	return u.other
}

// With returns the unit with the places of others.
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

// member returns the place of a member, and whether RuleSet has it.
func (p *Place) member(name string) (m *Place, inRuleSet bool) {
	if p == nil {
		return nil, false
	}
	if own := p.Members[name]; own != nil {
		return own, false
	}
	if m, _ = p.RuleSet.member(name); m != nil {
		return m, true
	}
	return p.Each, false
}

// memberNamed is member without a copy of the name (BenchmarkKinds in converters/rules).
func (p *Place) memberNamed(name []byte) *Place {
	if p == nil {
		return nil
	}
	return cmp.Or(p.Members[string(name)], p.RuleSet.memberNamed(name), p.Each)
}

func (p *Place) each() *Place {
	if p == nil {
		return nil
	}
	return p.Each
}

// A cursor is a place of an object on a walk: its schemas in both versions, and what conversions do
// there.
type cursor struct {
	place         *Place
	schema, other *crdschema.Node
	// known says that the schema has the place, or that there is no schema. anything says that the
	// schema allows anything there.
	known, anything bool
	// otherKnown is known for the other version.
	otherKnown bool
	// given says that this is a value of a map or an element, which no schema fills in.
	given, otherGiven bool
	opaque            bool // as of the layout
	// level is how many objects and lists the place is in.
	level int
	// root is the object of the other version, or nil.
	root *jsondoc.Node
	// scope is the depth of the path at which paths of units start.
	scope int
	unit  *Unit // of the nearest place above that has one
	// unitAt is the depth of that place, unitScope and unitPeer the scope and its counterpart
	// there. UnitBelow says that the unit is what is below that place, which is missing.
	unitAt, unitScope int
	unitBelow         bool
	unitPeer          *jsondoc.Node
	// peer is the counterpart in the object of the other version, and scopePeer that of the scope.
	// Both are nil if there is none, or if it is not tracked.
	peer, scopePeer *jsondoc.Node
	tracked         bool
	// conditional says that the value depends on other places than its counterpart, or that what it
	// is in does.
	conditional bool
	// shownAlone says that only the other version shows the element that the place is in: its list
	// is missing.
	shownAlone bool
}

// missing reports whether the other version has a place for the value and nothing in it. What g has
// is there because of something else.
func (c cursor) missing() bool { return c.tracked && c.peer == nil && (c.otherKnown || c.opaque) }

// root returns the cursor of an object with its counterpart, or nil.
func (l *Layout) root(peer *jsondoc.Object) cursor {
	c := cursor{
		place: l.Root, schema: l.Schema, other: l.Other, known: true, anything: l.Schema == nil, otherKnown: true, opaque: l.Opaque,
	}
	if peer != nil {
		c.root, c.peer, c.scopePeer, c.tracked = peer.Node, peer.Node, peer.Node, true
	}
	return c
}

// member moves to a member of an object.
func (c cursor) member(name string, depth int) cursor {
	place, inRuleSet := c.place.member(name)
	if inRuleSet {
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

// element moves to an element of a list, whose counterpart is nil if there is none or if it is not
// tracked.
func (c cursor) element(depth int, peer *jsondoc.Node, tracked bool) cursor {
	next := c.into(c.place.each(), depth)
	next.schema = c.schema.Items()
	next.anything = c.anything || next.schema == nil
	next.known, next.given, next.otherGiven = true, true, true
	next.peer, next.tracked = peer, tracked
	if !next.place.moved() { // the element that a rule picks is elsewhere
		next.other, next.otherKnown = c.other.Items(), c.otherKnown || c.place != nil && c.place.First
	}
	return next.scoped(depth)
}

// keyedElement is element for one that its keys identify, of a list or of nil.
func (c cursor) keyedElement(depth int, list, peer *jsondoc.Node, tracked bool) cursor {
	next := c.element(depth, peer, tracked)
	next.shownAlone = next.shownAlone || list == nil && peer != nil
	return next
}

// scoped returns the cursor with its counterpart noted if paths of units start here.
func (c cursor) scoped(depth int) cursor {
	if c.place.scoped() {
		if c.scopePeer = c.peer; c.unitAt == depth {
			c.unitPeer = c.peer
		}
	}
	return c
}

// paired returns the counterpart of an element in a list of n, if all have one, and whether it is
// tracked.
func (c cursor) paired(index, n int) (peer *jsondoc.Node, tracked bool) {
	if index < 0 || c.peer.Kind() != jsondoc.Array || c.peer.Len() != n {
		return nil, false
	}
	peer, _ = c.peer.Element(index)
	return peer, c.tracked
}

func (c cursor) into(p *Place, depth int) cursor {
	next := cursor{
		place: p, level: c.level + 1, root: c.root, scope: c.scope, scopePeer: c.scopePeer, opaque: c.opaque,
		unit: c.unit, unitAt: c.unitAt, unitScope: c.unitScope, unitPeer: c.unitPeer, unitBelow: c.unitBelow,
	}
	next.conditional, next.shownAlone = c.conditional || p != nil && p.Conditional, c.shownAlone
	if p.scoped() {
		next.scope, next.unit = depth, nil
	}
	if p != nil && p.Unit != nil {
		next.unit, next.unitAt, next.unitScope, next.unitPeer, next.unitBelow = p.Unit, depth, next.scope, c.scopePeer, false
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

// below returns a schema's node for a member, whether it has one, and whether anything is allowed
// there.
func below(s *crdschema.Node, name string, anything bool) (n *crdschema.Node, known, free bool) {
	switch n = memberOf(s, name); {
	case anything:
		return nil, true, true
	case n != nil:
		return n, true, n.Kind() == crdschema.Any && n.PreservesUnknown() && len(n.Properties()) == 0
	}
	return nil, s.PreservesUnknown(), s.PreservesUnknown()
}

// unknown reports whether neither schema has the place. They must be older than the cluster's,
// since the API server prunes unknown fields before webhookd sees them.
func (c cursor) unknown() bool {
	return !c.known && !c.otherKnown && !c.hasUnit()
}

// oneSided reports whether the other version has no place for the value.
func (c cursor) oneSided() bool {
	if c.place != nil && (c.place.OneSided || c.place.Moved || c.place.Unit != nil) {
		return c.place.OneSided
	}
	return !c.otherKnown && c.unit == nil
}

// unbound reports whether no rule binds the place or a part of it to the other version, even if a
// rule did when its value was kept.
func (c cursor) unbound() bool {
	return !c.opaque && c.oneSided() && c.unit == nil && (c.place == nil || c.place.Below == nil && !c.place.Bridge && !c.place.Decided)
}

// hasUnit reports whether the place itself belongs to a unit.
func (c cursor) hasUnit() bool { return c.place != nil && c.place.Unit != nil }

// required reports whether the contents go if the other version no longer has the place.
func (c cursor) required() bool { return c.place == nil || !c.place.Bridge }

// drops reports whether something below is lost on purpose.
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

// keys returns the fields that identify elements of the list.
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

// userNamed reports whether the names of members are user data.
func (c cursor) userNamed(name string) bool {
	return c.schema.Property(name) == nil && (c.place == nil || c.place.Members[name] == nil)
}

// filled reports whether either schema or a rule fills in the value.
func (c cursor) filled(n *jsondoc.Node) bool {
	return c.schemaFills(n) || !c.otherGiven && fills(c.other, n) || c.fallback(n)
}

// fallback reports whether a rule gives the value if the other version shows nothing.
func (c cursor) fallback(n *jsondoc.Node) bool {
	return c.place != nil && c.place.Fallback != nil && isText(n, string(c.place.Fallback))
}

// schemaFills reports whether the version's own schema fills in the value.
func (c cursor) schemaFills(n *jsondoc.Node) bool { return !c.given && fills(c.schema, n) }

func fills(s *crdschema.Node, n *jsondoc.Node) bool {
	text, has := s.Default()
	return has && isText(n, text)
}

// isText reports whether a value equals a JSON text.
func isText(n *jsondoc.Node, text string) bool {
	switch kind := n.Kind(); {
	case kind == jsondoc.Invalid, (text[0] == '{' || text[0] == '[' || text[0] == '"') && kind != jsondoc.Kind(text[0]):
		return false
	case kind != jsondoc.Map && kind != jsondoc.Array && string(n.Text()) == text: // an edited object has no text yet
		return true
	}
	v, err := parsed([]byte(text))
	return err == nil && same(n, v)
}

// nothing returns the cursor of a place where g has nothing: a value there would make what it is
// in.
func (c cursor) nothing(depth int) cursor {
	if c.unit == nil && c.place != nil && c.place.Below != nil {
		c.unit, c.unitAt, c.unitScope, c.unitPeer, c.unitBelow = c.place.Below, depth, c.scope, c.scopePeer, true
	}
	return c
}
