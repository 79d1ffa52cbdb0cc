// Package plan compiles rules that are bound to schemas (package binding) into programs: one for
// each direction, which says what to do with the text of an object. A program is immutable data;
// package exec runs it.
package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A Step goes from a value to a part of it.
type Step struct {
	Kind        StepKind
	Name, Value string // the member; or the key field of an element and its text
}

// A StepKind says how a step finds its part.
type StepKind int

// The kinds of steps.
const (
	ByName  StepKind = iota // the member with a name
	ByPick                  // the element whose key field has a value
	ByFirst                 // the first element
)

func stepsOf(path []syntax.Segment) []Step {
	steps := make([]Step, 0, len(path))
	for _, s := range path {
		switch s.Kind {
		case syntax.Pick:
			steps = append(steps, Step{Kind: ByPick, Name: s.Name, Value: s.Value})
		case syntax.First:
			steps = append(steps, Step{Kind: ByFirst})
		case syntax.Field, syntax.Elements, syntax.Values, syntax.KeyedElements, syntax.KeyedValues:
			steps = append(steps, Step{Name: s.Name})
		}
	}
	return steps
}

func join(path []Step, s Step) []Step { return append(slices.Clip(path), s) }

// A compiler makes the programs of one version and the hub.
type compiler struct {
	spoke    *binding.Spoke
	local    bool // as of isLocal
	programs map[direction]*Program
	implicit map[[2]binding.Place]*binding.Binding // of elements without rules
}

// A direction is one of the two directions of a binding.
type direction struct {
	of  *binding.Binding
	src binding.Side
}

// Compile compiles both directions of a version.
func Compile(s *binding.Spoke) (toHub, toSpoke *Program) {
	c := &compiler{
		spoke: s, local: isLocal(s.Root), programs: make(map[direction]*Program), implicit: make(map[[2]binding.Place]*binding.Binding),
	}
	toHub, toSpoke = c.build(s.Root, binding.OfSpoke), c.build(s.Root, binding.OfHub)
	for d, p := range c.programs {
		if back := c.programs[direction{d.of, d.src.Other()}]; back != nil {
			p.analyse(back, c.local && d.of != s.Root)
		}
	}
	return toHub, toSpoke
}

// analyse notes which of the objects and fields that the program may create the way back removes
// again. Local says that such a field changes nothing else.
func (p *Program) analyse(back *Program, local bool) {
	for i := range p.Late {
		w := &p.Late[i]
		if local && w.Route().isField() {
			at := back.Root.step(w.Route().Steps[0])
			w.Dropped = at != nil && at.Disposition == Drop
		}
	}
	for i := range p.Writes {
		path := p.Writes[i].Route()
		path.Private = make([]bool, len(path.Steps))
		at := back.Root
		for j := range path.Steps {
			at = at.step(path.Steps[j])
			path.Private[j] = at != nil && (at.Disposition == Unwrap || at.DropIfEmpty)
		}
	}
}

// step returns the node of a member or of a picked element, or nil.
func (p *Node) step(s Step) *Node {
	if p == nil {
		return nil
	}
	if s.Kind == ByName {
		return p.member([]byte(s.Name), new(int))
	}
	if p.picked == nil {
		p.picked = make(map[Step]*Node, len(p.Picks))
		for _, k := range p.Picks {
			p.picked[k.At] = k
		}
	}
	return p.picked[s]
}
