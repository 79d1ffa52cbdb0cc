package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// An object of one version may be the first element of a list of the other one. When that element goes there, another one is the
// first, and what was kept beside the visible part of the object is none of its. So it is kept with what tells the object from
// others: {"": {"name": "x"}, "hidden": 1}, by the keys of the list, or else by what is visible, of which half has to be the same
// still. Where the list may have no second element there is nothing to tell.

// A First says that a place moves to the first element of a list that may have others.
type First struct{ Keys []string } // of the list

// firstOf returns what an end of a rule says, or nil if it leads to no such element.
func firstOf(e binding.Path) *First {
	i := slices.IndexFunc(e.Segments, func(s syntax.Segment) bool { return s.Kind == syntax.First })
	if i < 0 {
		return nil
	}
	all := e.Base.Walk(e.Segments[:i])
	if single(all.Node) {
		return nil
	}
	if i < len(e.Segments)-1 {
		return &First{} // the keys are not in the object
	}
	return &First{Keys: all.Node.ListMapKeys()}
}

func single(n *crdschema.Node) bool {
	if n == nil || n.Structural().ValueValidation == nil {
		return false
	}
	most := n.Structural().ValueValidation.MaxItems
	return most != nil && *most <= 1
}
