// Package plan makes programs of rules that are bound to schemas (package binding): one for each direction, which says what to
// do with the text of an object. A program is data, and is not changed once it is compiled. Package exec runs it.
package plan

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
)

// A compiler makes the programs of one version and the hub.
type compiler struct {
	spoke    *binding.Spoke
	programs map[direction]*Program
	implicit map[[2]binding.Place]*binding.Binding // of elements that no rule is about
}

// A direction is one of a binding.
type direction struct {
	of  *binding.Binding
	src binding.Side
}

// Compile compiles both directions of a version.
func Compile(s *binding.Spoke) (toHub, fromHub *Program) {
	c := &compiler{spoke: s, programs: make(map[direction]*Program), implicit: make(map[[2]binding.Place]*binding.Binding)}
	toHub, fromHub = c.build(s.Root, binding.OfSpoke), c.build(s.Root, binding.OfHub)
	for d, p := range c.programs {
		if back := c.programs[direction{d.of, d.src.Other()}]; back != nil {
			p.foresee(back)
		}
	}
	return toHub, fromHub
}

// foresee notes which objects that the program may make are gone again on the way back.
func (p *Program) foresee(back *Program) {
	for i := range p.Writes {
		path := &p.Writes[i].Rule.Out[p.Writes[i].Out]
		path.Private = make([]bool, len(path.Steps))
		at := back.Root
		for j := range path.Steps {
			at = at.step(path.Steps[j])
			path.Private[j] = at != nil && (at.Disposition == Through || at.Vanishes)
		}
	}
}

// step returns the place of a member or of a picked element, or nil.
func (p *Node) step(s Step) *Node {
	if p == nil || s.Kind == ByName {
		return p.Kid(s.Name)
	}
	if p.picked == nil {
		p.picked = make(map[Step]*Node, len(p.Picks))
		for _, k := range p.Picks {
			p.picked[k.At] = k
		}
	}
	return p.picked[s]
}
