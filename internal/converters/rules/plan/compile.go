// Package plan makes programs of rules that are bound to schemas (package binding): one for each direction, which says what to
// do with the text of an object. A program is data, and is not changed once it is compiled. Package exec runs it.
package plan

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
)

// A compiler makes the programs of one version and the hub.
type compiler struct {
	binder   *binding.Binder
	programs map[direction]*Program
}

// A direction is one of a binding.
type direction struct {
	rel   *binding.Binding
	toHub bool
}

// Compile compiles both directions of a binding of whole objects.
func Compile(b *binding.Binder, rel *binding.Binding) (toHub, fromHub *Program) {
	c := &compiler{binder: b, programs: make(map[direction]*Program)}
	toHub, fromHub = c.build(rel, true), c.build(rel, false)
	for to, p := range c.programs {
		if back := c.programs[direction{to.rel, !to.toHub}]; back != nil {
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
	for _, k := range p.Picks {
		if k.At == s {
			return k
		}
	}
	return nil
}
