package suggest

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// compare looks for differences between two versions.
func (m *matcher) compare(root pair) {
	for _, name := range names(root) {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			m.versioned(root, name)
			m.property(root, name)
		}
	}
}

// names returns the names of the properties of two places.
func names(p pair) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(p[ofVersion].node.Properties(), p[ofHub].node.Properties()))))
}

// property compares the properties of one name of two objects. A place that a guess has already is
// not compared.
func (m *matcher) property(at pair, name string) {
	var p pair
	var has [2]bool
	for side := range p {
		p[side] = at[side].field(name)
		has[side] = p[side].node != nil && !m.taken[side][p[side].path()]
	}
	switch {
	case has[ofVersion] && has[ofHub]:
		m.both(p)
	case has[ofVersion] && !at[ofHub].node.PreservesUnknown():
		m.places[ofVersion] = append(m.places[ofVersion], p[ofVersion])
	case has[ofHub] && !at[ofVersion].node.PreservesUnknown():
		m.places[ofHub] = append(m.places[ofHub], p[ofHub])
	}
}

// both compares two places that are each other's counterparts.
func (m *matcher) both(at pair) {
	v, h := at[ofVersion].node, at[ofHub].node
	switch {
	case v.Same(h), v.Kind() == crdschema.Any, h.Kind() == crdschema.Any: // a value that is copied if it fits
	case v.Kind() != h.Kind(), v.Kind() == crdschema.Object && len(at[ofVersion].segments) > 1 && !shareName(v, h):
		m.clash(at)
	case v.Kind() == crdschema.Object:
		for _, name := range names(at) {
			m.property(at, name)
		}
	case v.Kind() == crdschema.Array:
		m.both(m.elements(at, syntax.Segment{Kind: syntax.Elements}))
	case v.Kind() == crdschema.Map:
		m.both(m.elements(at, syntax.Segment{Kind: syntax.Values}))
	case !sameEnum(v, h) && !slices.ContainsFunc(v.Enum(), func(value string) bool { return slices.Contains(h.Enum(), value) }):
		m.clash(at)
	}
}

// elements returns the elements of two lists or the values of two maps. Only places in one scope
// can be a pair.
func (m *matcher) elements(at pair, each syntax.Segment) pair {
	m.scopes++
	for side := range at {
		at[side] = at[side].step(each)
		at[side].scope = m.scopes
	}
	return at
}

// clash makes a guess of two places of one path with different values, if there is one way to
// convert them. Else they may be the same as other places.
func (m *matcher) clash(at pair) {
	if h, fit, ok := between(at); ok && !h.plain() && (!h.doubtful || h.codec == "YAML") {
		m.accept([]guess{{pair: at, how: h, score: fit, clear: true}})
		return
	}
	for side, p := range at {
		p.clashes = true
		m.places[side] = append(m.places[side], p)
	}
}

// versioned pairs the fields of an object that is named after the other version with the fields
// around it: Cluster API's .status.v1beta2.conditions of v1beta1 are .status.conditions of v1beta2,
// and .status.conditions of v1beta1 are .status.deprecated.v1beta1.conditions there.
func (m *matcher) versioned(at pair, name string) {
	around := pair{at[ofVersion].field(name), at[ofHub].field(name)}
	if around[ofVersion].node.Kind() != crdschema.Object || around[ofHub].node.Kind() != crdschema.Object {
		return
	}
	inside := [2]place{}
	for side := range around {
		inside[side] = around[side].named(m.names[1-side])
	}
	for side, other := range []int{ofHub, ofVersion} {
		for _, f := range inside[side].fields() {
			var p pair
			p[side], p[other] = f, around[other].field(f.name())
			old := around[side].field(f.name()).node
			displaced := old == nil || inside[other].node.Property(f.name()) != nil || closeness(f.node, p[other].node) > closeness(old, p[other].node)
			if f.node.Kind() == p[other].node.Kind() && displaced {
				m.accept([]guess{{pair: p, score: 1, clear: true, why: "in an object that is named after the other version"}})
			}
		}
	}
}

// closeness says how much two nodes have in common.
func closeness(a, b *crdschema.Node) float64 {
	const all = 2
	if a.Same(b) {
		return all
	}
	if a, b := content(a), content(b); a != nil && b != nil {
		return part(a, b)
	}
	return 0
}

// named returns the object of a name in an object, or in one of its objects.
func (p place) named(name string) place {
	for _, f := range append([]place{p}, p.fields()...) {
		if found := f.field(name); found.node.Kind() == crdschema.Object {
			return found
		}
	}
	return place{}
}
