package suggest

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A place of a version.
type place struct {
	segments []syntax.Segment
	words    [][]string // of each segment
	node     *crdschema.Node
}

func (p place) path() string { return syntax.Path{Segments: p.segments}.String() }

func (p place) field(name string) place {
	return p.with(syntax.Segment{Kind: syntax.Field, Name: name}, p.node.Property(name))
}

func (p place) with(s syntax.Segment, n *crdschema.Node) place {
	return place{append(slices.Clone(p.segments), s), append(slices.Clone(p.words), words(s.Name)), n}
}

// last returns the index of the last field of the path. Every place has one.
func (p place) last() int {
	for i, s := range slices.Backward(p.segments) {
		if s.Kind == syntax.Field {
			return i
		}
	}
	return 0
}

func (p place) name() string { return p.segments[p.last()].Name }

func (p place) nameWords() []string { return p.words[p.last()] }

// fields returns the places of an object's properties.
func (p place) fields() []place {
	all := make([]place, 0, len(p.node.Properties()))
	for _, name := range p.node.Properties() {
		all = append(all, p.field(name))
	}
	return all
}

func (p place) is(q place) bool { return same(p.segments, q.segments) }

// in reports whether a place is another one or below it.
func (p place) in(outer place) bool {
	return len(p.segments) >= len(outer.segments) && same(p.segments[:len(outer.segments)], outer.segments)
}

func same(a, b []syntax.Segment) bool { return slices.EqualFunc(a, b, syntax.Segment.Equal) }

// sameElements reports whether two places are below the same lists and maps.
func sameElements(a, b place) bool {
	return same(syntax.Iteration(a.segments), syntax.Iteration(b.segments))
}

// A pair is a place of the version and one of the hub.
type pair [2]place

const (
	ofVersion = iota
	ofHub
)

// A difference has the places that a rule may have to convert.
type difference struct {
	only    [2][]place // the outermost places that the other side does not have
	clashes []pair     // places of one path that hold different values
}

// compare returns the difference of two schemas.
func compare(version, hub *crdschema.Node) *difference {
	d := &difference{}
	for _, name := range names(version, hub) {
		if name != "apiVersion" && name != "kind" && name != "metadata" {
			d.property(pair{{node: version}, {node: hub}}, name)
		}
	}
	return d
}

func names(a, b *crdschema.Node) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a.Properties(), b.Properties()))))
}

func (d *difference) property(at pair, name string) {
	v, h := at[ofVersion].node, at[ofHub].node
	switch hasV, hasH := v.Property(name) != nil, h.Property(name) != nil; {
	case hasV && hasH:
		d.both(pair{at[ofVersion].field(name), at[ofHub].field(name)})
	case hasV && !h.PreservesUnknown():
		d.only[ofVersion] = append(d.only[ofVersion], at[ofVersion].field(name))
	case hasH && !v.PreservesUnknown():
		d.only[ofHub] = append(d.only[ofHub], at[ofHub].field(name))
	}
}

// both compares two places that are each other's counterparts.
func (d *difference) both(at pair) {
	v, h := at[ofVersion].node, at[ofHub].node
	switch {
	case v.Same(h):
	case v.Kind() != h.Kind():
		if !admits(h, v) || !admits(v, h) {
			d.clashes = append(d.clashes, at)
		}
	case v.Kind() == crdschema.Object:
		for _, name := range names(v, h) {
			d.property(at, name)
		}
	case v.Kind() == crdschema.Array:
		each := syntax.Segment{Kind: syntax.Elements}
		d.both(pair{at[ofVersion].with(each, v.Items()), at[ofHub].with(each, h.Items())})
	case v.Kind() == crdschema.Map:
		each := syntax.Segment{Kind: syntax.Values}
		d.both(pair{at[ofVersion].with(each, v.Values()), at[ofHub].with(each, h.Values())})
	case !slices.Equal(slices.Sorted(slices.Values(v.Enum())), slices.Sorted(slices.Values(h.Enum()))):
		d.clashes = append(d.clashes, at)
	}
}

// admits reports whether every value of b's type is one of a's.
func admits(a, b *crdschema.Node) bool {
	switch a.Kind() {
	case crdschema.Any:
		return true
	case crdschema.Number:
		return b.Kind() == crdschema.Integer
	case crdschema.IntOrString:
		return b.Kind() == crdschema.Integer || b.Kind() == crdschema.String
	case crdschema.None, crdschema.Object, crdschema.Map, crdschema.Array, crdschema.String, crdschema.Integer, crdschema.Boolean:
	}
	return false
}
