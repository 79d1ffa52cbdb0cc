package ruleset

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// RuledKinds are kinds that rules convert, with their CRDs.
type RuledKinds struct {
	Kinds []converters.Kind
	CRDs  map[schema.GroupKind]*crdschema.CRD
}

// Ruled returns the kinds of a set without findings.
func (s *Set) Ruled() RuledKinds { return s.ruledKinds(s.Sound()) }

// RuledAgain returns the kinds of a set that were served before, even if they have findings now.
// Their rules were sound, but the schemas may have changed.
func (s *Set) RuledAgain(before RuledKinds) RuledKinds {
	return s.ruledKinds(slices.DeleteFunc(slices.Clone(s.Kinds), func(k converters.Kind) bool { return before.CRDs[k.GroupKind] == nil }))
}

func (s *Set) ruledKinds(kinds []converters.Kind) RuledKinds {
	r := RuledKinds{Kinds: kinds, CRDs: make(map[schema.GroupKind]*crdschema.CRD, len(kinds))}
	for _, kind := range kinds {
		r.CRDs[kind.GroupKind] = s.CRD(kind.GroupKind)
	}
	return r
}

// With returns r together with the kinds that only others has, and the names of those.
func (r RuledKinds) With(others RuledKinds) (both RuledKinds, added []string) {
	both = RuledKinds{slices.Clone(r.Kinds), maps.Clone(r.CRDs)}
	for _, kind := range others.Kinds {
		if _, has := r.CRDs[kind.GroupKind]; !has {
			both.Kinds, added = append(both.Kinds, kind), append(added, kind.Name())
			both.CRDs[kind.GroupKind] = others.CRDs[kind.GroupKind]
		}
	}
	return both, added
}
