package suggest

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A place is one of a version, by its path.
type place struct {
	segments []syntax.Segment
	words    [][]string // of each segment
	node     *crdschema.Node
}

func (p place) path() string { return syntax.Path{Segments: p.segments}.String() }

func (p place) field(name string, n *crdschema.Node) place {
	return p.with(syntax.Segment{Kind: syntax.Field, Name: name}, n)
}

func (p place) with(s syntax.Segment, n *crdschema.Node) place {
	return place{append(slices.Clone(p.segments), s), append(slices.Clone(p.words), words(s.Name)), n}
}

// last is the index of the last field of the path. Every place has one.
func (p place) last() int {
	for i, s := range slices.Backward(p.segments) {
		if s.Kind == syntax.Field {
			return i
		}
	}
	return 0
}

// name is the last field of the path.
func (p place) name() string { return p.segments[p.last()].Name }

// nameWords are the words of the name.
func (p place) nameWords() []string { return p.words[p.last()] }

// fields returns the places of an object's properties.
func (p place) fields() []place {
	all := make([]place, 0, len(p.node.Properties()))
	for _, name := range p.node.Properties() {
		all = append(all, p.field(name, p.node.Property(name)))
	}
	return all
}

func (p place) is(q place) bool {
	return slices.EqualFunc(p.segments, q.segments, syntax.Segment.Equal)
}

// iteration is the part of the path up to its last segment that stands for any number of places.
func (p place) iteration() []syntax.Segment {
	for i := range slices.Backward(p.segments) {
		if p.segments[i].Iterates() {
			return p.segments[:i+1]
		}
	}
	return nil
}

// A difference is what has no counterpart of the same path, or one that cannot hold the same values.
type difference struct {
	field, hub []place    // the outermost places of each that the other has not
	clashes    [][2]place // the same path, and other values
}

// compare goes through what both schemas have.
func compare(field, hub *crdschema.Node) *difference {
	d := &difference{}
	for _, name := range names(field, hub) {
		if name == "apiVersion" || name == "kind" || name == "metadata" {
			continue
		}
		d.property(place{node: field}, place{node: hub}, name)
	}
	return d
}

func names(a, b *crdschema.Node) []string {
	all := append(slices.Clone(a.Properties()), b.Properties()...)
	slices.Sort(all)
	return slices.Compact(all)
}

func (d *difference) property(field, hub place, name string) {
	f, h := field.node.Property(name), hub.node.Property(name)
	switch {
	case f == nil && field.node.PreservesUnknown(), h == nil && hub.node.PreservesUnknown(): // kept as it is
	case f == nil:
		d.hub = append(d.hub, hub.field(name, h))
	case h == nil:
		d.field = append(d.field, field.field(name, f))
	default:
		d.both(field.field(name, f), hub.field(name, h))
	}
}

// both compares two places that are each other's counterparts.
func (d *difference) both(field, hub place) {
	f, h := field.node, hub.node
	switch {
	case f.Same(h):
	case f.Kind() != h.Kind():
		if !admits(h, f) || !admits(f, h) {
			d.clashes = append(d.clashes, [2]place{field, hub})
		}
	case f.Kind() == crdschema.Object:
		for _, name := range names(f, h) {
			d.property(field, hub, name)
		}
	case f.Kind() == crdschema.Array:
		each := syntax.Segment{Kind: syntax.Elements}
		d.both(field.with(each, f.Items()), hub.with(each, h.Items()))
	case f.Kind() == crdschema.Map:
		each := syntax.Segment{Kind: syntax.Values}
		d.both(field.with(each, f.Values()), hub.with(each, h.Values()))
	case !sameEnum(f, h):
		d.clashes = append(d.clashes, [2]place{field, hub})
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

func sameEnum(a, b *crdschema.Node) bool {
	left, right := slices.Clone(a.Enum()), slices.Clone(b.Enum())
	slices.Sort(left)
	slices.Sort(right)
	return slices.Equal(left, right)
}
