package suggest

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A place is the root of a region on one side, or a field of it, at any depth.
type place struct {
	path  string
	names []string // of the fields that lead to it from the root
	node  *crdschema.Node
}

// A pair is a place of a version and one of the hub.
type pair [2]place

const (
	ofVersion = iota
	ofHub
)

// step returns the place of the elements of a list, or of the values of a map.
func (p place) step(kind syntax.SegmentKind, key string) place {
	path := p.path + syntax.Segment{Kind: kind, Name: key}.String()
	return place{path: path, node: cmp.Or(p.node.Items(), p.node.Values())}
}

func (p place) field(name string) place {
	path := p.path + syntax.Segment{Kind: syntax.Field, Name: name}.String()
	return place{path, append(slices.Clone(p.names), name), p.node.Property(name)}
}

// at returns a field at some depth.
func (p place) at(names []string) place {
	for _, name := range names {
		p = p.field(name)
	}
	return p
}

func (p place) fields() (all []place) {
	for _, name := range p.node.Properties() {
		all = append(all, p.field(name))
	}
	return all
}

// below returns a place and its fields at any depth.
func (p place) below() []place {
	all := []place{p}
	for _, f := range p.fields() {
		all = append(all, f.below()...)
	}
	return all
}

func (p place) outer() []string { return p.names[:max(0, len(p.names)-1)] }

// name returns the name of the field, none of a root.
func (p place) name() string { return strings.Join(p.names[len(p.outer()):], "") }

func (p place) words() []string { return didyoumean.Words(p.name()) }

// in reports whether a place is another one or below it.
func (p place) in(outer place) bool {
	return len(p.names) >= len(outer.names) && slices.Equal(p.names[:len(outer.names)], outer.names)
}

// elements are the elements of two lists, or the values of two maps; else the places themselves.
func (p pair) elements() pair {
	kind := map[crdschema.Kind]syntax.SegmentKind{crdschema.Array: syntax.Elements, crdschema.Map: syntax.Values}[p[ofVersion].node.Kind()]
	if kind == syntax.Field {
		return p
	}
	return pair{p[ofVersion].step(kind, ""), p[ofHub].step(kind, "")}
}

func (p pair) sameName() bool { return p[ofVersion].name() == p[ofHub].name() }

func (p pair) samePath() bool { return slices.Equal(p[ofVersion].names, p[ofHub].names) }

// own returns at which field the two paths part.
func (p pair) own() (at int) {
	v, h := p[ofVersion].outer(), p[ofHub].outer()
	for at < min(len(v), len(h)) && v[at] == h[at] {
		at++
	}
	return at
}

// distance returns how many objects a place has left and entered.
func (p pair) distance() int {
	return len(p[ofVersion].outer()) + len(p[ofHub].outer()) - 2*p.own()
}
