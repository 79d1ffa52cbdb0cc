package keep

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Layout says what is known of the places of a version in relation to another version. It is
// immutable while in use, so it is safe for concurrent use.
type Layout struct {
	// Schema and Other are the schemas of the version and of the other version. Any value fits a
	// nil schema.
	Schema, Other *crdschema.Node
	// Root has the places that matter to conversions between the two, or nil.
	Root *Place
	// Opaque says that the conversions are unknown functions: any place may be computed from any
	// other, and schemas may be incomplete.
	Opaque bool
	// Repeats says that elements of lists with keys may repeat: the lists of a third version may
	// have no keys.
	Repeats bool
}

// A Place says what conversions do at a place of a version. A place where that does not matter
// needs none.
type Place struct {
	// Members are the places of an object's members, and Picks those of the elements that rules
	// pick out of a list. Each is that of all other members, of the values of a map and of the
	// other elements of a list.
	Members map[string]*Place
	Picks   []Pick
	Each    *Place
	// RuleSet has the members of a rule set that applies to the object. The paths of their units
	// start there.
	RuleSet *Place
	// Of identifies a list or map in a Trace, if rules go through its elements. Use does so for the
	// object that RuleSet applies to.
	Of, Use any
	// Keys are the fields that identify elements of a list, if the schema names none.
	Keys []string
	// KeysThere are the names of such fields in the other version, if rules go through the list.
	KeysThere map[string]string
	// First says of a list that a rule picks its first element, which is the same one whatever
	// happens to it. Element says of an object that it is such an element in the other version,
	// where another element may become the first; Keys identify it.
	First, Element bool
	// Dropped says that the value is lost on purpose.
	Dropped bool
	// Conditional says that a condition or an expression decides whether the value is there. So if
	// the counterpart once gave nothing, the rules need not have changed since.
	Conditional bool
	// Decided says of an object or list that it goes if rules give nothing in it: a condition or an
	// expression decides that, or what has its place in the other version.
	Decided bool
	// Computed says that an expression makes the value, and so everything in it.
	Computed bool
	// Unit has the places that belong together with this one. Their paths start at the next Scope
	// above.
	Unit *Unit
	// Watch has the units whose expressions read whether the place is there, and Holds those that
	// have places in this one.
	Watch, Holds []*Unit
	// Default is what a rule fills in if the object around the place is there, as JSON, or nil.
	// FilledThere says that a rule fills in its counterpart.
	Default     []byte
	FilledThere bool
	// Scope says that paths of units start here: at the root, an element or a rule set.
	Scope bool
	// Moved says that the counterpart is elsewhere, computed or missing. Counterparts are the
	// places whose value becomes that of this one, usually one. Other is the schema of the
	// counterparts of the elements or values, if rules go through them.
	Moved        bool
	Counterparts []Counterpart
	Other        *crdschema.Node
	// From are the paths, like those of counterparts, of the places that rules make this one of.
	From []annotation.Path
}

// A Counterpart is a place of the other version, by its path from the counterpart of the next Scope
// above.
type Counterpart struct {
	Path   annotation.Path
	Schema *crdschema.Node
}

// A Pick is the place of an element that a rule picks: the one with the keys that At has, or the
// first one.
type Pick struct {
	At annotation.PathElement
	*Place
}

// A Unit has the places of both versions that belong together: an edit of one is an edit of all.
// Own are those of the layout's version, and Other those of the other version.
type Unit struct {
	// Computed says that an expression makes a value of one of the versions.
	Computed bool

	id         any
	own, other []Member
}

// A Member is a place of a unit. With PresenceOnly its value does not matter, and with Shape only
// which parts it has: how many elements, or which names.
type Member struct {
	Path         annotation.Path
	PresenceOnly bool
	Shape        bool
	FromRoot     bool // the path starts at the root, wherever the unit is
	// Schema is the node of the version's schema at the place, or nil if that does not matter.
	Schema *crdschema.Node

	sum  uint64 // of the path
	tags bool   // it is all labels or all annotations
}

// NewUnit returns the unit of the places of the version and of the other version. The units of both
// layouts have the same id.
func NewUnit(id any, own, other []Member) *Unit {
	for _, members := range [][]Member{own, other} {
		for i := range members {
			members[i].sum = members[i].Path.Hash()
			members[i].tags = isTags(members[i].Path)
		}
	}
	return &Unit{id: id, own: own, other: other}
}

func isTags(path annotation.Path) bool {
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

// element returns the place of an element, which may be missing and then has the keys.
func (p *Place) element(e *jsondoc.Node, index int, keys []annotation.Key) *Place {
	if p == nil {
		return nil
	}
	for i := range p.Picks {
		at := &p.Picks[i].At
		if at.First && index == 0 || len(at.Keys) > 0 && (e != nil && hasKeys(e, at.Keys, nil) || e == nil && slices.Contains(keys, at.Keys[0])) {
			return p.Picks[i].Place
		}
	}
	return p.Each
}

// picks reports whether a rule picks the element with some keys.
func (p *Place) picks(keys []annotation.Key) bool {
	return p != nil && slices.ContainsFunc(p.Picks, func(k Pick) bool { return len(k.At.Keys) > 0 && slices.Contains(keys, k.At.Keys[0]) })
}

// hasFirst reports whether rules are about parts of the first element, but not about all of it.
func (p *Place) hasFirst() bool {
	return p != nil && slices.ContainsFunc(p.Picks, func(k Pick) bool { return k.At.First && !k.Moved })
}

// needsFirst reports whether rules map the first element, or its keys: no element that only this
// version has may take its place.
func (p *Place) needsFirst(keys []annotation.Key) bool {
	return keys != nil && p != nil && slices.ContainsFunc(p.Picks, func(k Pick) bool {
		return k.At.First && (k.Moved || slices.ContainsFunc(keys, func(key annotation.Key) bool { return k.Members[key.Name].moved() }))
	})
}

// isBound reports whether rules are about a part of the place.
func (p *Place) isBound() bool {
	return p != nil && (len(p.Members) > 0 || len(p.Picks) > 0 || p.Each != nil || p.RuleSet != nil)
}

func (p *Place) moved() bool   { return p != nil && p.Moved }
func (p *Place) scoped() bool  { return p != nil && p.Scope }
func (p *Place) dropped() bool { return p != nil && p.Dropped }

// keysThere returns the keys that the counterpart of an element has, and whether they are known.
func (p *Place) keysThere(keys []annotation.Key) ([]annotation.Key, bool) {
	if p == nil || p.Of == nil {
		return keys, true
	}
	there := make([]annotation.Key, 0, len(keys))
	for _, k := range keys {
		name := p.KeysThere[k.Name]
		if name == "" {
			return nil, false
		}
		there = append(there, annotation.Key{Name: name, Value: k.Value})
	}
	return there, true
}

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
	return slices.ContainsFunc(p.Picks, func(k Pick) bool { return k.Dropped || k.drops() })
}
