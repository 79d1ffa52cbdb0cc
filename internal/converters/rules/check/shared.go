package check

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// sharedNeverApplied reports shared rules whose places no kind has that uses them. It adds those
// kinds to wrong.
func (c *checker) sharedNeverApplied(kinds []*binding.Kind, wrong map[string]bool) {
	applied := map[*syntax.Rule]bool{}
	for _, k := range kinds {
		for _, s := range k.Spokes {
			for rule := range s.Applied {
				applied[rule] = true
			}
		}
	}
	said := map[*syntax.Rule]bool{}
	for _, k := range kinds {
		for _, s := range k.Spokes {
			for rule := range s.Lacking {
				if applied[rule] || k.Conversion.Has(rule.Pos) {
					continue
				}
				wrong[k.CRD.Name] = true
				if !said[rule] {
					said[rule] = true
					c.neverApplies(rule)
				}
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
