// Package binding binds the rules of Conversions to the schemas of their CRDs. It finds the places
// of each rule, the lists whose elements have rules, and the units of places that belong together.
// It reports paths that do not exist and rules that cannot be compiled. Package plan compiles
// bindings, package check checks what they cover.
package binding

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Set is the bound Conversions of some files. It is immutable and safe for concurrent use.
type Set struct {
	Kinds []*Kind
	// With Findings, the rules cannot be used. With Warnings they can, but do not do all that they
	// say.
	Findings, Warnings []finding.Finding
	// Partial says that a Conversion is not bound, so nothing is known about its uses of rule sets.
	Partial bool
}

// Kind returns the kind of a CRD, or nil.
func (s *Set) Kind(crd string) *Kind {
	for _, k := range s.Kinds {
		if k.CRD.Name == crd {
			return k
		}
	}
	return nil
}

// A Kind is a Conversion and its CRD.
type Kind struct {
	Conversion *syntax.Conversion
	CRD        *crdschema.CRD
	Hub        *crdschema.Version // nil if the CRD does not have it; there are no spokes then
	Spokes     []*Spoke           // in the order of the CRD
	Refused    bool               // it has findings
	Doubtful   bool               // it has warnings
}

// A Spoke is a version with its rules.
type Spoke struct {
	Names    [2]string
	Version  *syntax.Version       // nil if the file has no rules for it
	Root     *Binding              // of whole objects
	Bindings []*Binding            // all of them
	Applied  map[*syntax.Rule]bool // rules whose places exist somewhere
	Lacking  map[*syntax.Rule]bool // rules of rule sets whose places are missing somewhere
	Absences []*Subtree            // what may stay absent
	Unmapped []*Subtree            // where a rule says what happens to unmapped fields
	Unsure   bool                  // a rule is too broken to know what it covers
}

// Options are the options of Bind.
type Options struct {
	Env *transform.Env
	// Incomplete says that some CRDs could not be read, so a missing one is not a finding.
	Incomplete bool
	// MaxRules bounds the rules of a version. The rules of a rule set count wherever it is applied:
	// a short file that applies a large set often could otherwise take all memory. 0 means 100,000.
	MaxRules int
}

// Bind binds Conversions from [syntax.Parse] and [syntax.Link] to their CRDs. If ctx ends, it soon
// returns an empty set.
func Bind(ctx context.Context, conversions []*syntax.Conversion, crds []*crdschema.CRD, opts Options) *Set {
	opts.MaxRules = cmp.Or(opts.MaxRules, 100_000)
	c := &collector{set: &Set{}, crds: map[string]*crdschema.CRD{}, twice: map[string]bool{}, opts: opts, ended: ctx.Err}
	for _, crd := range crds {
		c.add(crd)
	}
	first := map[string]*syntax.Conversion{}
	for _, conversion := range conversions {
		if conversion.Broken || conversion.Name == "" {
			c.set.Partial = true
			continue
		}
		if other := first[conversion.Name]; other != nil {
			if k := c.set.Kind(conversion.Name); k != nil {
				k.Doubtful = true
			}
			c.refuse(finding.Finding{
				Pos: conversion.NamePos, Code: "duplicate-conversion", Hint: "put the versions into one Conversion",
				Message: fmt.Sprintf("%s has a second Conversion, the first is at %s", conversion.Name, other.NamePos),
			})
			continue
		}
		first[conversion.Name] = conversion
		if crd := c.crds[conversion.Name]; crd != nil {
			c.set.Kinds = append(c.set.Kinds, c.kind(conversion, crd))
			continue
		}
		c.set.Partial = true
		if !opts.Incomplete {
			c.refuse(finding.Finding{
				Pos: conversion.NamePos, Code: "no-such-crd", Message: "there is no CRD " + conversion.Name,
				Hint: didyoumean.Hint(conversion.Name, c.names, "give the file that has it with --crds"),
			})
		}
	}
	if ctx.Err() != nil {
		return &Set{}
	}
	c.set.Findings, c.set.Warnings = finding.Sort(c.set.Findings), finding.Sort(c.set.Warnings)
	return c.set
}

// A collector makes a Set.
type collector struct {
	set   *Set
	crds  map[string]*crdschema.CRD
	names []string        // of the CRDs
	twice map[string]bool // CRDs that are defined twice
	opts  Options
	ended func() error // Err of the context
}

func (c *collector) refuse(f ...finding.Finding) { c.set.Findings = append(c.set.Findings, f...) }

func (c *collector) warn(f ...finding.Finding) { c.set.Warnings = append(c.set.Warnings, f...) }

func (c *collector) add(crd *crdschema.CRD) {
	if first := c.crds[crd.Name]; first != nil {
		c.twice[crd.Name] = true
		c.warn(finding.Finding{
			Pos: finding.Position{File: crd.File, Line: crd.Line}, Code: "duplicate-crd", Hint: "give one of them",
			Message: fmt.Sprintf("the CRD %s is defined twice, first in %s, line %d", crd.Name, first.File, first.Line),
		})
		return
	}
	c.crds[crd.Name] = crd
	c.names = append(c.names, crd.Name)
}

func (c *collector) kind(conversion *syntax.Conversion, crd *crdschema.CRD) *Kind {
	findings, warnings := len(c.set.Findings), len(c.set.Warnings)
	names := crd.VersionNames()
	noVersion := func(name string, pos finding.Position) finding.Finding {
		return finding.Finding{
			Pos: pos, Code: "no-such-version", Message: fmt.Sprintf("%s has no version %s", crd.Name, name),
			Hint: didyoumean.Hint(name, names, "it has "+strings.Join(names, ", ")),
		}
	}
	for _, v := range conversion.Versions {
		if !slices.Contains(names, v.Name) {
			c.warn(noVersion(v.Name, v.Pos))
		}
	}
	k := &Kind{Conversion: conversion, CRD: crd, Hub: crd.Version(conversion.Hub)}
	if k.Hub == nil {
		if conversion.Hub != "" {
			c.refuse(noVersion(conversion.Hub, conversion.HubPos))
		}
		k.Refused, c.set.Partial = true, true
		return k
	}
	for _, v := range crd.Versions {
		if v == k.Hub {
			continue
		}
		found, warned := len(c.set.Findings), len(c.set.Warnings)
		s := c.spoke(conversion, v, k.Hub)
		k.Attribute(s, c.set.Findings[found:])
		k.Attribute(s, c.set.Warnings[warned:])
		k.Spokes = append(k.Spokes, s)
	}
	k.Refused = conversion.Doubtful || len(c.set.Findings) > findings
	k.Doubtful = conversion.Wrong || len(c.set.Warnings) > warnings || c.twice[crd.Name]
	return k
}

// Attribute says in findings about a version which kind and version they hold for, if the rules are
// those of another document or of another version.
func (k *Kind) Attribute(s *Spoke, findings []finding.Finding) {
	version := s.Names[OfSpoke]
	for i, f := range findings {
		switch {
		case !k.Conversion.Has(f.Pos):
			findings[i].For = []string{k.CRD.Name + " " + version}
		case s.Version != nil && s.Version.SameAs != nil && f.Pos != s.Version.Pos:
			findings[i].For = []string{version}
		}
	}
}

func (c *collector) spoke(conversion *syntax.Conversion, version, hub *crdschema.Version) *Spoke {
	s := &Spoke{
		Names: [2]string{version.Name, hub.Name}, Version: conversion.Version(version.Name),
		Root:    &Binding{Base: [2]Place{{version.Root, true}, {hub.Root, true}}},
		Applied: map[*syntax.Rule]bool{}, Lacking: map[*syntax.Rule]bool{},
	}
	var rules []*syntax.Rule
	if s.Version != nil {
		rules = s.Version.Rules
		s.Unsure = s.Version.Broken
	}
	b := &binder{Spoke: s, collector: c, made: map[string]*Binding{}}
	b.bind(s.Root, pendingOf(rules))
	for _, made := range s.Bindings {
		made.indexOf(OfSpoke) // complete the index, so that nothing writes to it later
	}
	unite(c.ended, s.Root)
	return s
}
