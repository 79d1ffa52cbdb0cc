package hints

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
)

// MayBeAbsent returns whether the rules of a kind say that a place of the version to may stay
// absent in an object that was converted from another version.
func MayBeAbsent(k *binding.Kind) func(from, to, path string) bool {
	return func(from, to, path string) bool {
		return slices.ContainsFunc(k.Spokes, func(s *binding.Spoke) bool {
			version := s.Names[binding.OfSpoke]
			if s.Version == nil || version != from && version != to {
				return false
			}
			return s.Version.MayBeAbsent != nil || slices.ContainsFunc(s.Absences, func(a *binding.Subtree) bool {
				return s.Names[a.Side] == to && a.Has(a.Side, path)
			})
		})
	}
}
