package main

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// ruledKinds are kinds that rules make, and the CRDs that they are made with.
type ruledKinds struct {
	kinds   []converters.Kind
	crds    map[schema.GroupKind]*crdschema.CRD
	digests map[schema.GroupKind]digest
}

// ruled returns the kinds of a set that no finding is about.
func (s *ruleSet) ruled() ruledKinds { return s.ruledKinds(s.sound()) }

// ruledAgain returns the kinds of a set that were served before, if they can be converted. Nothing is wrong with their rules, but
// the schemas may be others now.
func (s *ruleSet) ruledAgain(before ruledKinds) ruledKinds {
	return s.ruledKinds(slices.DeleteFunc(slices.Clone(s.kinds), func(k converters.Kind) bool { return before.crds[k.GroupKind] == nil }))
}

func (s *ruleSet) ruledKinds(kinds []converters.Kind) ruledKinds {
	r := ruledKinds{kinds: kinds, crds: make(map[schema.GroupKind]*crdschema.CRD, len(kinds)), digests: s.digests(kinds)}
	for _, kind := range kinds {
		r.crds[kind.GroupKind] = s.crd(kind.GroupKind)
	}
	return r
}

// with returns r and the kinds that others has besides, whose names it returns as well.
func (r ruledKinds) with(others ruledKinds) (both ruledKinds, added []string) {
	both = ruledKinds{
		slices.Clone(r.kinds), make(map[schema.GroupKind]*crdschema.CRD, len(r.crds)+len(others.crds)), maps.Clone(r.digests),
	}
	if both.digests == nil {
		both.digests = map[schema.GroupKind]digest{}
	}
	for _, kind := range others.kinds {
		if _, has := r.crds[kind.GroupKind]; !has {
			both.kinds, added = append(both.kinds, kind), append(added, kind.Name())
			both.crds[kind.GroupKind] = others.crds[kind.GroupKind]
			both.digests[kind.GroupKind] = others.digests[kind.GroupKind]
		}
	}
	for _, kind := range r.kinds {
		both.crds[kind.GroupKind] = r.crds[kind.GroupKind]
	}
	return both, added
}
