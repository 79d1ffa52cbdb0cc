package suggest

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A place of a version.
type place struct {
	segments []syntax.Segment
	words    [][]string // of each segment
	node     *crdschema.Node
	above    []*crdschema.Node // the objects and lists that each segment is in
	clashes  bool              // the other side has something else at its path
	scope    int               // which pair of lists or maps it is in, 0 for none
	doubtful bool              // that pair, or the object that it is in, is not a sure guess
	under    int               // the innermost guess that it is below, 0 for none
	base     int               // how many segments lead to the place of that guess
}

func (p place) path() string { return syntax.Path{Segments: p.segments}.String() }

// outer returns the path of the object or list that the place is in.
func (p place) outer() string { return syntax.Path{Segments: p.segments[:len(p.segments)-1]}.String() }

func (p place) field(name string) place {
	return p.with(syntax.Segment{Kind: syntax.Field, Name: name}, p.node.Property(name))
}

func (p place) with(s syntax.Segment, n *crdschema.Node) place {
	p.segments = append(slices.Clone(p.segments), s)
	p.words = append(slices.Clone(p.words), words(s.Name))
	p.above, p.node = append(slices.Clone(p.above), p.node), n
	return p
}

// step goes on by one segment.
func (p place) step(s syntax.Segment) place {
	switch s.Kind {
	case syntax.Field:
		return p.field(s.Name)
	case syntax.Values, syntax.KeyedValues:
		return p.with(s, p.node.Values())
	case syntax.Elements, syntax.KeyedElements, syntax.Pick, syntax.First:
	}
	return p.with(s, p.node.Items())
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

func (p place) inStatus() bool { return strings.EqualFold(p.segments[0].Name, "status") }

func same(a, b []syntax.Segment) bool { return slices.EqualFunc(a, b, syntax.Segment.Equal) }

// A pair is a place of the version and one of the hub.
type pair [2]place

const (
	ofVersion = iota
	ofHub
)

func (p pair) sameName() bool { return p[ofVersion].name() == p[ofHub].name() }

func (p pair) samePath() bool { return p[ofVersion].is(p[ofHub]) }

// mayBe reports whether two places can be the same at all: not if one contains the other.
func (p pair) mayBe() bool {
	v, h := p[ofVersion], p[ofHub]
	return v.scope == h.scope && (v.under == h.under || v.under*h.under == 0) && (v.inStatus() == h.inStatus() || p.otherRoot()) && (v.is(h) || !v.in(h) && !h.in(v))
}

// otherRoot reports whether only the first field of the paths differs: a field has moved from the
// spec to the status as it is.
func (p pair) otherRoot() bool {
	v, h := p[ofVersion], p[ofHub]
	return same(v.segments[1:], h.segments[1:]) && v.node.Same(h.node) && !v.clashes && !h.clashes
}

// apart reports whether no place is in one of another pair, or around it.
func (p pair) apart(other pair) bool {
	for side, q := range other {
		if p[side].in(q) || q.in(p[side]) {
			return false
		}
	}
	return true
}

// relative returns the pair as seen from the guess that both places are below, if there is one.
func (p pair) relative() pair {
	if p[ofVersion].under != p[ofHub].under {
		return p
	}
	for side, q := range p {
		p[side].segments, p[side].words, p[side].above = q.segments[q.base:], q.words[q.base:], q.above[q.base:]
		p[side].under, p[side].base = 0, 0
	}
	return p
}

// common returns how many segments the paths of the objects around two places have in common.
func (p pair) common() int {
	n := 0
	for n < min(len(p[ofVersion].segments), len(p[ofHub].segments))-1 && p[ofVersion].segments[n].Equal(p[ofHub].segments[n]) {
		n++
	}
	return n
}

// siblings reports whether two places are in one object.
func (p pair) siblings() bool {
	p = p.relative()
	return p.common() == max(len(p[ofVersion].segments), len(p[ofHub].segments))-1
}

// own returns the words of the two paths without those of the objects that they share.
func (p pair) own() (version, hub []string) {
	p = p.relative()
	n := p.common()
	return slices.Concat(p[ofVersion].words[n:]...), slices.Concat(p[ofHub].words[n:]...)
}

// walk returns the places at the suffixes of a how.
func (p pair) walk(suffix [2][]syntax.Segment) pair {
	for side := range p {
		for _, s := range suffix[side] {
			p[side] = p[side].step(s)
		}
	}
	return p
}
