package ruleset

import (
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
)

// Rules are the compiled rules of some files.
type Rules = rules.Set

// Rules returns the compiled rules, and those without the transitional ones, or nil if there are
// none.
func (s *Set) Rules() (all, earlier *Rules) {
	if s.rules == nil {
		return nil, nil
	}
	return s.rules, s.rules.Earlier()
}

// During returns kinds of the set as they are converted while other replicas may have other rules:
// before and known are as in [rules.Options].
func (s *Set) During(ctx context.Context, kinds RuledKinds, before, known []*Rules) RuledKinds {
	if s.rules == nil || !s.rules.Differs(before) && !s.rules.Differs(known) {
		return kinds
	}
	opts := rules.Options{Go: s.compiled.Functions, Incomplete: true, Before: before, Known: known}
	during, _ := rules.Load(ctx, s.sources(), s.CRDs, opts)
	kinds.Kinds = slices.Clone(kinds.Kinds)
	for i, k := range kinds.Kinds {
		at := slices.IndexFunc(during.Kinds(), func(d converters.Kind) bool { return d.GroupKind == k.GroupKind && d.Rules == k.Rules })
		if at >= 0 {
			kinds.Kinds[i] = during.Kinds()[at]
		}
	}
	return kinds
}

// Started returns the converters as a replica that starts with the files has them.
func (s *Set) Started(ctx context.Context) (*converters.Registry, error) {
	kinds := RuledKinds{Kinds: s.Kinds}
	if _, earlier := s.Rules(); earlier != nil {
		kinds = s.During(ctx, kinds, []*Rules{earlier}, nil)
	}
	return s.compiled.Registry(kinds.Kinds)
}

func (s *Set) sources() []rules.Source {
	sources := make([]rules.Source, 0, len(s.Files))
	for _, f := range s.Files {
		sources = append(sources, rules.Source{Name: f.Name, Text: f.Text})
	}
	return sources
}
