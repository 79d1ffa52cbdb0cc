package rules

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/exec"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Source is a file of Conversions: its name for messages, and its text.
type Source struct {
	Name string
	Text []byte
}

// Options are the options of Load.
type Options struct {
	// Go has the functions that `go: name` calls. It may be nil, and must not change afterwards.
	Go map[string]transform.GoFunc
	// Incomplete says that some CRDs could not be read, so a missing one is not a finding.
	Incomplete bool
	// Before are sets that are all that some replicas know, the oldest first. All replicas know the
	// sets in Known as well as the new one, but still use them.
	Before, Known []*Set
}

// A Set is the Conversions of some files. It is immutable and safe for concurrent use.
type Set struct {
	conversions []*syntax.Conversion
	bound       *binding.Set
	kinds       []converters.Kind
	earlier     *Set
}

// Kinds returns a kind for each CRD that has a Conversion without findings, sorted by name. The
// list must not be changed.
func (s *Set) Kinds() []converters.Kind { return s.kinds }

// Conversions returns all Conversions, as far as they can be read, in the order of the files. The
// list must not be changed.
func (s *Set) Conversions() []*syntax.Conversion { return s.conversions }

// Bound returns the Conversions bound to their CRDs, for package check.
func (s *Set) Bound() *binding.Set { return s.bound }

// Load reads Conversion files and compiles each Conversion against its CRD. It returns, in order,
// all findings that keep a Conversion from being used. The set, which is never nil, has the kinds
// without findings. If there are any findings, it should not be served.
//
// If ctx ends, Load soon returns an empty set without findings, so check ctx.
func Load(ctx context.Context, files []Source, crds []*crdschema.CRD, opts Options) (*Set, []finding.Finding) {
	s := &Set{bound: &binding.Set{}}
	env, err := transform.NewEnv(opts.Go)
	if err != nil {
		return s, []finding.Finding{{Code: "internal", Message: fmt.Sprintf("expressions cannot be compiled: %v", err)}}
	}
	var findings []finding.Finding
	parsed := make([]*syntax.File, 0, len(files))
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		file, found := syntax.Parse(f.Name, f.Text)
		parsed, findings = append(parsed, file), append(findings, found...)
		s.conversions = append(s.conversions, file.Conversions...)
	}
	linked, idle := syntax.Link(parsed)
	findings = append(findings, linked...)
	bind := func(all []*syntax.Conversion) *binding.Set {
		return binding.Bind(ctx, all, crds, binding.Options{Env: env, Incomplete: opts.Incomplete})
	}
	newest := make([]*syntax.Conversion, 0, len(s.conversions))
	for _, c := range s.conversions {
		newest = append(newest, c.Newest())
	}
	s.bound = bind(newest)
	s.findEarlier(ctx, bind)
	s.bound.Warnings = finding.Sort(append(s.bound.Warnings, idle...))
	s.compile(ctx, opts)
	if ctx.Err() != nil {
		return &Set{bound: &binding.Set{}}, nil
	}
	return s, finding.Sort(append(findings, s.bound.Findings...))
}

// compile compiles the bound Conversions without findings.
func (s *Set) compile(ctx context.Context, opts Options) {
	for _, k := range s.bound.Kinds {
		if !k.Refused && ctx.Err() == nil {
			by, how := opts.transition(k)
			kind := compile(ctx, k, how)
			kind.Transition = by
			s.kinds = append(s.kinds, kind)
		}
	}
	slices.SortFunc(s.kinds, func(a, b converters.Kind) int { return cmp.Compare(a.Name(), b.Name()) })
}

// OfPatches returns kinds of rules as they convert patches: see [exec.Converter.OfPatches].
func OfPatches(kinds []converters.Kind) []converters.Kind {
	kinds = slices.Clone(kinds)
	for i, k := range kinds {
		if c, is := k.Converter.(*exec.Converter); is {
			kinds[i].Converter = c.OfPatches()
		}
	}
	return kinds
}

// compile returns the kind of a Conversion, which is incomplete if ctx has ended.
func compile(ctx context.Context, k *binding.Kind, opts exec.Options) converters.Kind {
	spokes := make(map[string]*exec.Spoke, len(k.Spokes))
	opts.Rules = k.Conversion.Digest()
	repeats := len(k.Spokes) > 1
	for _, s := range k.Spokes {
		if ctx.Err() != nil {
			break
		}
		for rule := range s.Applied {
			opts.CallsGo = opts.CallsGo || rule.Go != nil
		}
		toHub, toSpoke := plan.Compile(s)
		spokes[s.Names[binding.OfSpoke]] = &exec.Spoke{
			ToHub: toHub, ToSpoke: toSpoke, Layout: plan.Layout(s, binding.OfSpoke, repeats), Hub: plan.Layout(s, binding.OfHub, repeats),
		}
	}
	schemas := make(map[string]*crdschema.Node, len(k.CRD.Versions))
	for _, v := range k.CRD.Versions {
		schemas[v.Name] = v.Root
	}
	return converters.Kind{
		GroupKind: k.CRD.GroupKind(), Hub: k.Hub.Name, Versions: k.CRD.VersionNames(), Schemas: schemas, Rules: opts.Rules,
		Converter: exec.NewConverter(k.CRD, k.Hub.Name, spokes, opts),
	}
}
