package check

import (
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// sharedNeverApplied reports rules of shared rule sets whose places no kind has that uses the set.
// It adds those kinds to wrong.
func (c *checker) sharedNeverApplied(kinds []*binding.Kind, wrong map[string]bool) {
	spokes := map[*syntax.RuleSet][]*binding.Spoke{}
	for _, k := range kinds {
		for _, set := range k.Conversion.Shared {
			spokes[set] = append(spokes[set], k.Spokes...)
		}
	}
	for _, set := range slices.SortedFunc(maps.Keys(spokes), func(a, b *syntax.RuleSet) int { return strings.Compare(a.Name, b.Name) }) {
		before := len(c.findings)
		c.neverApplied([]*syntax.RuleSet{set}, spokes[set])
		for _, k := range kinds {
			if len(c.findings) > before && slices.Contains(k.Conversion.Shared, set) {
				wrong[k.CRD.Name] = true
			}
		}
	}
}

// sharedAbsences notes each mayBeAbsent of a shared rule that excuses nothing in any kind.
func (c *checker) sharedAbsences(kinds []*binding.Kind) {
	for _, unsure := range []bool{true, false} {
		for _, k := range kinds {
			for _, s := range k.Spokes {
				for _, a := range s.Absences {
					switch {
					case s.Unsure != unsure || k.Conversion.Has(a.Rule.Pos):
					case unsure:
						c.excused[a.Rule.MayBeAbsent] = true // it may have an effect
					default:
						c.excusesNothing(a.Rule.MayBeAbsent, a.Rule.String())
					}
				}
			}
		}
	}
}
