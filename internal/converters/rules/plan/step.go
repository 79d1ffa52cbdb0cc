package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A Step goes from a value to a part of it.
type Step struct {
	Kind        StepKind
	Name, Value string // the member; the key field and its text
}

// A StepKind says how a step finds its part.
type StepKind int

// The kinds of steps.
const (
	ByName  StepKind = iota // a member of an object
	ByPick                  // the element whose field name has a value
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

// Names returns the steps to a member of a member, and so on.
func Names(list ...string) []Step {
	steps := make([]Step, 0, len(list))
	for _, name := range list {
		steps = append(steps, Step{Name: name})
	}
	return steps
}

// Join returns a path that goes on by some steps.
func Join(base []Step, more ...Step) []Step { return slices.Concat(base, more) }
