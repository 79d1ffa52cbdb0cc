package ruleset

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// RuledKinds are kinds that rules make, and the CRDs that they are made with.
type RuledKinds struct {
	Kinds   []converters.Kind
	CRDs    map[schema.GroupKind]*crdschema.CRD
	digests map[schema.GroupKind]digest
}

// Ruled returns the kinds of a set that no finding is about.
func (s *Set) Ruled() RuledKinds { return s.ruledKinds(s.Sound()) }

// RuledAgain returns the kinds of a set that were served before, if they can be converted. Nothing is wrong with their rules, but
// the schemas may be others now.
func (s *Set) RuledAgain(before RuledKinds) RuledKinds {
	return s.ruledKinds(slices.DeleteFunc(slices.Clone(s.Kinds), func(k converters.Kind) bool { return before.CRDs[k.GroupKind] == nil }))
}

func (s *Set) ruledKinds(kinds []converters.Kind) RuledKinds {
	r := RuledKinds{Kinds: kinds, CRDs: make(map[schema.GroupKind]*crdschema.CRD, len(kinds)), digests: s.digests(kinds)}
	for _, kind := range kinds {
		r.CRDs[kind.GroupKind] = s.CRD(kind.GroupKind)
	}
	return r
}

// With returns r and the kinds that others has besides, whose names it returns as well.
func (r RuledKinds) With(others RuledKinds) (both RuledKinds, added []string) {
	both = RuledKinds{
		slices.Clone(r.Kinds), make(map[schema.GroupKind]*crdschema.CRD, len(r.CRDs)+len(others.CRDs)), maps.Clone(r.digests),
	}
	if both.digests == nil {
		both.digests = map[schema.GroupKind]digest{}
	}
	for _, kind := range others.Kinds {
		if _, has := r.CRDs[kind.GroupKind]; !has {
			both.Kinds, added = append(both.Kinds, kind), append(added, kind.Name())
			both.CRDs[kind.GroupKind] = others.CRDs[kind.GroupKind]
			both.digests[kind.GroupKind] = others.digests[kind.GroupKind]
		}
	}
	for _, kind := range r.Kinds {
		both.CRDs[kind.GroupKind] = r.CRDs[kind.GroupKind]
	}
	return both, added
}
