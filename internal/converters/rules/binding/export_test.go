package binding

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// UnitsAt returns the units that a place belongs to by its content: the one that has it, or the
// nearest place above it; if there is none, those that have places below it. It is empty for a
// place that is a unit of its own. A path that does not say which element it is of may be in the
// units of several, such as rules pick.
func (b *Binding) UnitsAt(side Side, path []syntax.Segment) []*Unit {
	var above, below []*Unit
	longest := -1
	for _, u := range b.Units {
		inside := false
		for _, p := range u.Places[side] {
			switch n := len(p.Path); {
			case p.Presence:
			case n <= len(path) && n >= longest && meet(p.Path, path[:n]):
				if n > longest {
					above, longest = nil, n
				}
				above = append(above, u)
			case n > len(path) && meet(p.Path, path):
				inside = true
			}
		}
		if inside {
			below = append(below, u)
		}
	}
	if above != nil {
		return slices.Compact(above)
	}
	return below
}

// UnitsOf returns the units of a rule of the binding: one, or two if it names places in .status and
// others.
func (b *Binding) UnitsOf(rule *Rule) []*Unit {
	var units []*Unit
	for _, u := range b.Units {
		if slices.Contains(u.Rules, rule) {
			units = append(units, u)
		}
	}
	return units
}

// meet reports whether one path may be the other one, or lead to a part of it.
func meet(a, b []syntax.Segment) bool {
	for i := range min(len(a), len(b)) {
		if !mayBe(a[i], b[i]) {
			return false
		}
	}
	return true
}
