package binding

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// UnitsAt returns the units that the content of a place belongs to: those that have it or the
// nearest place above it; if there are none, those with places below it. It returns none for a
// place that is a unit of its own. A path into unspecified elements may be in several units, such
// as those of elements that rules pick.
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

// UnitsOf returns the units of a rule: one, or two if it names places in .status and elsewhere.
func (b *Binding) UnitsOf(rule *Rule) []*Unit {
	var units []*Unit
	for _, u := range b.Units {
		if slices.Contains(u.Rules, rule) {
			units = append(units, u)
		}
	}
	return units
}

// meet reports whether one path may contain the other.
func meet(a, b []syntax.Segment) bool {
	for i := range min(len(a), len(b)) {
		if !mayBe(a[i], b[i]) {
			return false
		}
	}
	return true
}
