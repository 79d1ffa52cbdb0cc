package keep

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A cursor is a place of an object on a walk: what both schemas and the rules say of it, and what
// the other version shows of it.
type cursor struct {
	place         *Place
	schema, other *crdschema.Node
	// known says that the schema has the place, or that there is no schema. anything says that the
	// schema allows anything there.
	known, anything bool
	// tracked says that the other version has one counterpart of the place. There is what it has
	// there, or nil. Of opaque conversions, it is what the other version has at the same path.
	tracked bool
	there   *jsondoc.Node
	thereIn *jsondoc.Node // what the counterpart is in
	// thereBy is the path of the counterpart that a rule has for the place, or for one above it at
	// depth thereAt. Without it the counterpart has the path of the place.
	thereBy annotation.Path
	thereAt int
	// given says that this is a value of a map or an element, which no schema fills in.
	given, otherGiven bool
	layout            *Layout
	// computed says that the place is in what an expression makes.
	computed bool
	// conditional says that a condition decides whether the value, or what it is in, is there.
	conditional bool
	inStatus    bool
	level       int // how many objects and lists the place is in
	// around is the depth of the nearest place around this one that the other version shows
	// something of.
	around    int
	scope     scope
	unit      *Unit  // of the nearest place above that has one
	unitPlace *Place // that place, at depth unitAt
	unitAt    int
	unitScope scope // of it
	// outer is a unit with an expression around an element without keys, which is no input of what
	// is in the element.
	outer      *Unit
	outerScope scope
}

// A scope is where paths of units start: the whole object, an element, or the object that a rule
// set applies to.
type scope struct {
	depth int           // of the path
	own   *jsondoc.Node // in the object of the version
	there *jsondoc.Node // in that of the other version
	root  *jsondoc.Node // of the other version
	trace *Trace
}

// root returns the cursor of an object, whose counterpart may be nil.
func (l *Layout) root(own, there *jsondoc.Object, trace *Trace) cursor {
	c := cursor{
		place: l.Root, schema: l.Schema, other: l.Other, known: true, anything: l.Schema == nil, tracked: !l.Opaque, layout: l, computed: l.Opaque,
	}
	if own != nil {
		c.scope.own = own.Node
	}
	if there != nil {
		c.there, c.scope.there, c.scope.root, c.scope.trace = there.Node, there.Node, there.Node, trace
	}
	return c
}

// member moves to a member of an object. Shown is what the conversion back gives for the object,
// and own the object itself, if the two differ.
func (c cursor) member(name string, depth int, shown, own *jsondoc.Node) cursor {
	c.around = c.aroundParts(depth, shown)
	place, inRuleSet := c.place.member(name)
	if inRuleSet {
		c.scope = scope{depth - 1, own, c.there, c.scope.root, c.scope.trace.ruleSet(c.place.Use)}
		c.unit, c.unitPlace = nil, nil
		c.thereBy, c.thereAt = nil, depth-1
	}
	next := c.into(place, depth)
	next.schema, next.known, next.anything = below(c.schema, name, c.anything)
	next.given = c.schema.Property(name) == nil
	switch {
	case c.goesThrough() && place == c.place.Each:
		next.otherGiven, next.tracked, next.other = true, c.tracked, c.place.Other
		next.there, next.scope.trace = c.entry(name)
	case c.layout.Opaque:
		next.there, _ = c.there.Member(name)
	case !place.moved() && c.tracked:
		next.other, next.tracked, _ = below(c.other, name, c.other == nil)
		next.otherGiven = c.other.Property(name) == nil
		next.thereIn = c.there
		next.there, _ = c.there.Member(name)
	}
	next.inStatus = c.inStatus || c.level == 0 && name == "status"
	return next.scoped(depth, nil)
}

// goesThrough reports whether rules go through the elements or values of the place.
func (c cursor) goesThrough() bool { return c.place != nil && c.place.Of != nil }

// aroundParts returns the depth of the nearest place around the parts of the place that the other
// version shows something of.
func (c cursor) aroundParts(depth int, shown *jsondoc.Node) int {
	if c.there != nil || shown != nil && !c.layout.Opaque && (c.computed || c.place != nil && (c.place.Computed || c.place.Decided && !c.tracked)) {
		return depth - 1
	}
	return c.around
}

// entry returns the counterpart of an entry of a map, which may have been made of a list.
func (c cursor) entry(name string) (*jsondoc.Node, *Trace) {
	l := c.scope.trace.list(c.place.Of)
	if l == nil {
		n, _ := c.there.Member(name)
		return n, nil
	}
	n, inner, _ := l.source(c.there, l.named(name))
	return n, inner
}

// An at is an element of a list: its index in what the conversion back gives and its value there,
// or -1 and its counterpart, its keys and its own value.
type at struct {
	index       int
	shown, own  *jsondoc.Node
	counterpart *jsondoc.Node
	keys        []annotation.Key
}

// element moves to an element of a list, of which shown is what the conversion back gives.
func (c cursor) element(depth int, shown *jsondoc.Node, e at) cursor {
	c.around = c.aroundParts(depth, shown)
	place := c.place.element(e.shown, e.index, e.keys)
	next := c.into(place, depth)
	next.schema = c.schema.Items()
	next.anything = c.anything || next.schema == nil
	next.known, next.given, next.otherGiven = true, true, true
	isEach := c.goesThrough() && place == c.place.Each
	switch {
	case isEach:
		next.tracked, next.other = c.tracked, c.place.Other
	case c.layout.Opaque:
	case !place.moved() && c.tracked:
		next.other = c.other.Items()
		next.tracked = c.other == nil || next.other != nil
	default:
		return next.scoped(depth, e.own)
	}
	switch {
	case e.index < 0:
		next.there = e.counterpart
	case isEach:
		next.there, next.scope.trace, _ = c.scope.trace.list(c.place.Of).source(c.there, e.index)
	default:
		next.there, _ = c.there.Element(e.index)
	}
	return next.scoped(depth, e.own)
}

// misses reports whether the other version shows nothing for a key of a missing element that a rule
// picks, so that the element would bring back what someone has removed.
func (c cursor) misses(keys []annotation.Key, depth int) bool {
	return keys != nil && !c.place.scoped() && slices.ContainsFunc(keys, func(k annotation.Key) bool {
		m := c.member(k.Name, depth+1, nil, nil)
		return m.place.moved() && m.tracked && m.there == nil
	})
}

// anyElement moves to an element that is not there.
func (c cursor) anyElement() cursor { return c.element(0, nil, at{index: -1}) }

// into moves to a place below.
func (c cursor) into(p *Place, depth int) cursor {
	next := cursor{
		thereBy: c.thereBy, thereAt: c.thereAt,
		place: p, level: c.level + 1, around: c.around, scope: c.scope, layout: c.layout, computed: c.computed || c.place != nil && c.place.Computed,
		conditional: c.conditional || p != nil && p.Conditional, inStatus: c.inStatus,
		unit: c.unit, unitPlace: c.unitPlace, unitAt: c.unitAt, unitScope: c.unitScope, outer: c.outer, outerScope: c.outerScope,
	}
	if p != nil && p.Unit != nil {
		next.unit, next.unitPlace, next.unitAt, next.unitScope, next.computed = p.Unit, p, depth, c.scope, false
	}
	if p == nil {
		return next
	}
	for i := range p.Counterparts {
		at := &p.Counterparts[i]
		n, _ := find(c.scope.there, at.Path)
		if !next.tracked || next.there == nil && n != nil {
			next.tracked, next.there, next.other, next.thereBy, next.thereAt = true, n, at.Schema, at.Path, depth
			next.thereIn, _ = find(c.scope.there, at.Path[:max(len(at.Path)-1, 0)])
		}
	}
	return next
}

// scoped returns the cursor with its scope, if paths of units start here.
func (c cursor) scoped(depth int, own *jsondoc.Node) cursor {
	if c.place.scoped() {
		c.scope.depth, c.scope.own, c.scope.there = depth, own, c.there
		c.thereBy, c.thereAt = nil, depth
		if c.unitScope = c.scope; c.unitPlace != c.place {
			c.unit, c.unitPlace = nil, nil
		}
	}
	return c
}

// alone returns the cursor with paths starting again.
func (c cursor) alone() cursor {
	c.scope.depth, c.around, c.unitAt, c.thereAt = 0, 0, 0, 0
	if c.unitPlace != c.place {
		if c.unit != nil && c.unit.Computed {
			c.outer, c.outerScope = c.unit, c.unitScope
		}
		c.unit, c.unitPlace = nil, nil
	}
	return c
}

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
func (c cursor) unknown() bool { return !c.known && !c.tracked && !c.hasUnit() }

// unbound reports whether no rule binds the place, or a part of it, to the other version, even if a
// rule did when its value was kept.
func (c cursor) unbound() bool {
	return !c.layout.Opaque && !c.tracked && c.unit == nil && !c.place.isBound()
}

// hasUnit reports whether the place itself belongs to a unit.
func (c cursor) hasUnit() bool { return c.place != nil && c.place.Unit != nil }

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
	if len(keys) > annotation.MaxKeys {
		return nil
	}
	return keys
}

// userNamed reports whether the names of members are user data.
func (c cursor) userNamed(name string) bool {
	return c.schema.Property(name) == nil && (c.place == nil || c.place.Members[name] == nil)
}

// isFilled reports whether a value is what a rule fills in, or else the schema, once the API server
// has stored the object.
func (c cursor) isFilled(n *jsondoc.Node, stored bool) bool {
	if c.place != nil && c.place.Default != nil {
		return isText(n, string(c.place.Default))
	}
	return stored && !c.given && fills(c.schema, n)
}

// otherFills reports whether the other version shows no more than what its schema fills in.
func (c cursor) otherFills() bool {
	_, has := c.other.Default()
	return has && !c.otherGiven && (c.there == nil || fills(c.other, c.there))
}

// isDefaultContainer reports whether a value is an object or a list that the schema may have filled
// in.
func (c cursor) isDefaultContainer(n *jsondoc.Node) bool {
	return isContainer(n) && !c.given && fills(c.schema, n)
}

func isContainer(n *jsondoc.Node) bool { return n.Kind() == jsondoc.Map || n.Kind() == jsondoc.Array }

// fills reports whether a value is what its schema fills in, with the defaults in it or without.
func fills(s *crdschema.Node, n *jsondoc.Node) bool {
	text, has := s.Default()
	if !has || !isContainer(n) {
		return has && isText(n, text)
	}
	return n.Kind() == jsondoc.Kind(text[0]) && effective(n, s) == s.DefaultSum(effectiveOf)
}

// effectiveOf is effective for a text, which is valid JSON.
func effectiveOf(s *crdschema.Node, text string) uint64 {
	n, _ := parsed([]byte(text))
	return effective(n, s)
}

// isText reports whether a value equals a JSON text.
func isText(n *jsondoc.Node, text string) bool {
	switch kind := n.Kind(); {
	case kind == jsondoc.String:
		if text[0] != '"' || strings.IndexByte(text, '\\') < 0 {
			return text[0] == '"' && n.IsStr(text[1:len(text)-1])
		}
		return n.IsStr(jsondoc.Unquote([]byte(text)))
	case !isContainer(n):
		return kind != jsondoc.Invalid && string(n.Text()) == text
	case kind != jsondoc.Kind(text[0]):
		return false
	}
	v, err := parsed([]byte(text))
	return err == nil && same(n, v)
}
