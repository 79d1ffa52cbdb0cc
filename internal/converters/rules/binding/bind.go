// Package binding binds the rules of Conversions to the schemas of their CRDs: which places a rule is about, what the schemas
// have there, and which lists have elements that go through rules together. What is wrong with that is said once, here.
// Programs are made of bindings (package plan), and package check looks at them.
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
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/didyoumean"
)

// A Set is all Conversions of some files, bound. It is immutable, and so safe for concurrent use.
type Set struct {
	Kinds []*Kind
	// Findings are what keeps rules from being used, Doubts what they can be used in spite of, though they will not do all that
	// they say.
	Findings, Doubts []finding.Finding
}

// Kind returns the one of a CRD, or nil.
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
	Hub        *crdschema.Version // nil: the CRD does not have it, and there are no spokes
	Spokes     []*Spoke           // in the order of the CRD
	Refused    bool               // there are findings: nobody can convert by it
	Doubtful   bool               // there are findings in spite of which it can be used
}

// A Spoke is a version with its rules.
type Spoke struct {
	Names    [2]string
	Version  *syntax.Version       // nil: the file does not speak of it, so that it has no rules
	Root     *Binding              // of whole objects
	Bindings []*Binding            // all of them
	Applied  map[*syntax.Rule]bool // rules that have found their places somewhere
	Lacking  map[*syntax.Rule]bool // rules of rule sets that have not, somewhere
	Unsure   bool                  // a rule is so broken that nobody knows what it is about: coverage cannot be told
}

// Options are what Bind needs beside Conversions and CRDs.
type Options struct {
	Env *transform.Env
	// Incomplete says that some CRDs could not be read, so that it is no finding that one is not there.
	Incomplete bool
	// MaxRules bounds the rules of a version, those of a rule set counted wherever it is applied: many rules that apply a large
	// set are of short files, and would take all memory. 0 stands for 100,000.
	MaxRules int
}

// Bind binds Conversions, as [syntax.Parse] has read them, to their CRDs. Where ctx ends, it soon returns an empty set.
func Bind(ctx context.Context, conversions []*syntax.Conversion, crds []*crdschema.CRD, opts Options) *Set {
	c := &collector{set: &Set{}, crds: map[string]*crdschema.CRD{}, twice: map[string]bool{}, opts: opts, ended: ctx.Err}
	for _, crd := range crds {
		c.add(crd)
	}
	first := map[string]*syntax.Conversion{}
	for _, conversion := range conversions {
		if conversion.Broken || conversion.Name == "" {
			continue
		}
		if other := first[conversion.Name]; other != nil {
			if k := c.set.Kind(conversion.Name); k != nil {
				k.Doubtful = true
			}
			c.refuse(conversion.NamePos, "duplicate-conversion", "put the versions into one Conversion",
				"%s has a second Conversion, the first is at %s", conversion.Name, other.NamePos)
			continue
		}
		first[conversion.Name] = conversion
		if crd := c.crds[conversion.Name]; crd != nil {
			c.set.Kinds = append(c.set.Kinds, c.kind(conversion, crd))
		} else if !opts.Incomplete {
			c.refuse(conversion.NamePos, "no-such-crd", didyoumean.Hint(conversion.Name, c.names, "give the file that has it with --crd"),
				"there is no CRD %s", conversion.Name)
		}
	}
	if ctx.Err() != nil {
		return &Set{}
	}
	c.set.Findings, c.set.Doubts = finding.Sort(c.set.Findings), finding.Sort(c.set.Doubts)
	return c.set
}

// A collector makes a Set.
type collector struct {
	set   *Set
	crds  map[string]*crdschema.CRD
	twice map[string]bool // of the CRDs
	names []string        // of the CRDs
	opts  Options
	ended func() error // Err of the context
}

func (c *collector) refuse(pos finding.Position, code, hint, format string, args ...any) {
	c.set.Findings = append(c.set.Findings, finding.Finding{Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (c *collector) doubt(f finding.Finding) { c.set.Doubts = append(c.set.Doubts, f) }

func (c *collector) add(crd *crdschema.CRD) {
	if first := c.crds[crd.Name]; first != nil {
		c.twice[crd.Name] = true
		c.doubt(finding.Finding{
			Pos: finding.Position{File: crd.File, Line: crd.Line}, Code: "duplicate-crd", Hint: "give one of them",
			Message: fmt.Sprintf("the CRD %s is there twice, the first is in %s, line %d", crd.Name, first.File, first.Line),
		})
		return
	}
	c.crds[crd.Name] = crd
	c.names = append(c.names, crd.Name)
}

func (c *collector) kind(conversion *syntax.Conversion, crd *crdschema.CRD) *Kind {
	before, doubts := len(c.set.Findings), len(c.set.Doubts)
	names := make([]string, 0, len(crd.Versions))
	for _, v := range crd.Versions {
		names = append(names, v.Name)
	}
	noVersion := func(name string, pos finding.Position) finding.Finding {
		return finding.Finding{
			Pos: pos, Code: "no-such-version", Message: fmt.Sprintf("%s has no version %s", crd.Name, name),
			Hint: didyoumean.Hint(name, names, "it has "+strings.Join(names, ", ")),
		}
	}
	for _, v := range conversion.Versions {
		if !slices.Contains(names, v.Name) {
			c.doubt(noVersion(v.Name, v.Pos))
		}
	}
	k := &Kind{Conversion: conversion, CRD: crd, Hub: crd.Version(conversion.Hub)}
	if k.Hub == nil {
		if conversion.Hub != "" {
			c.set.Findings = append(c.set.Findings, noVersion(conversion.Hub, conversion.HubPos))
		}
		k.Refused = true
		return k
	}
	for _, v := range crd.Versions {
		if v != k.Hub {
			k.Spokes = append(k.Spokes, c.spoke(conversion, v, k.Hub))
		}
	}
	k.Refused = conversion.Doubtful || len(c.set.Findings) > before
	k.Doubtful = conversion.Wrong || len(c.set.Doubts) > doubts || c.twice[crd.Name]
	return k
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
	b := &binder{
		Spoke: s, conversion: conversion, env: c.opts.Env, made: map[string]*Binding{}, doubt: c.doubt, ended: c.ended, most: cmp.Or(c.opts.MaxRules, 100_000),
		refuse: func(f finding.Finding) { c.set.Findings = append(c.set.Findings, f) },
	}
	b.bind(s.Root, pendingOf(rules))
	for _, made := range s.Bindings {
		made.indexOf(OfSpoke) // so that nothing is written into it later
	}
	unite(c.ended, s.Root)
	return s
}
