package rules

import (
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/exec"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Earlier returns the Conversions with transitional rules as they are without those, or nil if
// there are none.
func (s *Set) Earlier() *Set { return s.earlier }

// findEarlier compiles the Conversions with transitional rules without those.
func (s *Set) findEarlier(ctx context.Context, bind func([]*syntax.Conversion) *binding.Set) {
	var earlier []*syntax.Conversion
	for _, c := range s.conversions {
		if was := c.Earlier(); was != nil {
			earlier = append(earlier, was)
		}
	}
	if len(earlier) > 0 {
		s.earlier = &Set{conversions: earlier, bound: bind(earlier)}
		s.earlier.compile(ctx, Options{})
	}
}

// Differs reports whether a kind has other rules in one of some sets.
func (s *Set) Differs(sets []*Set) bool {
	return slices.ContainsFunc(s.bound.Kinds, func(k *binding.Kind) bool { return len(changed(k, sets)) > 0 })
}

// changed returns the kind of a CRD with the rules of each of some sets, if those differ.
func changed(k *binding.Kind, sets []*Set) (with []*converters.Kind) {
	rules := k.Conversion.Digest()
	for _, set := range sets {
		for i := range set.kinds {
			if was := &set.kinds[i]; was.GroupKind == k.CRD.GroupKind() && was.Rules != rules {
				with = append(with, was)
			}
		}
	}
	return with
}

// transition says how to convert a kind that other replicas may have with other rules.
func (o *Options) transition(k *binding.Kind) (*converters.Transition, exec.Options) {
	before := changed(k, o.Before)
	if len(before) == 0 && len(changed(k, o.Known)) == 0 {
		return nil, exec.Options{}
	}
	opts := exec.Options{Marks: true}
	if len(before) > 0 {
		opts.Earlier, _ = before[0].Converter.(*exec.Converter)
	}
	return &converters.Transition{Before: before, Stored: stored(k.CRD)}, opts
}

// stored returns the version that the API server stores.
func stored(crd *crdschema.CRD) string {
	i := slices.IndexFunc(crd.Versions, func(v *crdschema.Version) bool { return v.Storage })
	return crd.Versions[max(i, 0)].Name
}
