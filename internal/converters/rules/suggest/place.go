package suggest

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A place of a version.
type place struct {
	path  []syntax.Segment
	words [][]string // of each segment
	node  *crdschema.Node
	above []*crdschema.Node // what each segment is in
	scope int               // the pair of lists or maps that it is in; 0: none. No rule leads out of it
	under int               // the innermost guess that it is below; 0: none
	base  int               // how many segments lead to the place of that guess
	doubt bool              // that guess is not sure, or the other version has another type at the path
}

func (p place) step(path ...syntax.Segment) place {
	for _, by := range path {
		p.words = append(slices.Clone(p.words), didyoumean.Words(map[syntax.SegmentKind]string{syntax.Field: by.Name}[by.Kind]))
		p.path, p.above = append(slices.Clone(p.path), by), append(slices.Clone(p.above), p.node)
		p.node = binding.Place{Node: p.node, Known: true}.Step(by).Node
	}
	return p
}

func (p place) field(name string) place { return p.step(field(name)) }

func field(name string) syntax.Segment { return syntax.Segment{Kind: syntax.Field, Name: name} }

func (p place) fields() []place {
	all := make([]place, 0, len(p.node.Properties()))
	for _, name := range p.node.Properties() {
		all = append(all, p.field(name))
	}
	return all
}

func (p place) String() string { return syntax.Path{Segments: p.path}.String() }

// outer returns the path of what the place is in.
func (p place) outer() string { return p.up().String() }

func (p place) up() place { return place{path: p.path[:max(0, len(p.path)-1)]} }

// last returns the index of the last field of the path.
func (p place) last() int {
	i := len(p.path) - 1
	for i > 0 && p.path[i].Kind != syntax.Field {
		i--
	}
	return i
}

func (p place) name() string { return p.path[p.last()].Name }

func (p place) nameWords() []string { return p.words[p.last()] }

// in reports whether a place is another one or below it.
func (p place) in(outer place) bool {
	return len(p.path) >= len(outer.path) && same(p.path[:len(outer.path)], outer.path)
}

func same(a, b []syntax.Segment) bool { return slices.EqualFunc(a, b, syntax.Segment.Equal) }

// A pair is a place of a version and one of the hub.
type pair [2]place

const (
	ofVersion = iota
	ofHub
)

func (p pair) step(by [2][]syntax.Segment) pair {
	return pair{p[ofVersion].step(by[ofVersion]...), p[ofHub].step(by[ofHub]...)}
}

func (p pair) nodes() (version, hub *crdschema.Node) { return p[ofVersion].node, p[ofHub].node }

func (p pair) String() string { return p[ofVersion].String() + " " + p[ofHub].String() }

func (p pair) sameName() bool { return p[ofVersion].name() == p[ofHub].name() }

func (p pair) samePath() bool { return same(p[ofVersion].path, p[ofHub].path) }

// own returns where the paths from the innermost objects that are counterparts begin.
func (p pair) own() (at [2]int) {
	v, h := p[ofVersion].path, p[ofHub].path
	if p[ofVersion].under == p[ofHub].under {
		at = [2]int{p[ofVersion].base, p[ofHub].base}
	}
	for at[0] < len(v)-1 && at[1] < len(h)-1 && v[at[0]].Equal(h[at[1]]) {
		at[0], at[1] = at[0]+1, at[1]+1
	}
	return at
}

// ownWords returns the words from there.
func (p pair) ownWords() (version, hub []string) {
	at := p.own()
	return slices.Concat(p[ofVersion].words[at[ofVersion]:]...), slices.Concat(p[ofHub].words[at[ofHub]:]...)
}

// steps returns how many objects a place has left and entered.
func (p pair) steps() (left, entered int) {
	at := p.own()
	return len(p[ofVersion].path) - at[ofVersion] - 1, len(p[ofHub].path) - at[ofHub] - 1
}
