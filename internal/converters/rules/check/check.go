// Package check says what is wrong with Conversion files against the schemas of their CRDs, and tells for every field what
// becomes of it. A file without findings loses nothing but what it drops with a reason.
//
// Its functions change nothing that they are given and are safe for concurrent use.
package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Check returns everything that is wrong with bound Conversions, in the order of their files; [syntax.Parse] has said the rest.
// Where ctx ends, it soon returns what it has found until then: ask ctx.
func Check(ctx context.Context, set *binding.Set) []finding.Finding {
	findings, _ := Kinds(ctx, set)
	return findings
}

// Kinds is Check, which also returns the kinds that a finding is about, by the names of their CRDs: notes do not count. Rules in
// which nothing is wrong convert the others.
func Kinds(ctx context.Context, set *binding.Set) (findings []finding.Finding, wrong map[string]bool) {
	c := &checker{ended: ctx.Err, findings: slices.Concat(set.Findings, set.Warnings)}
	wrong = make(map[string]bool)
	for _, k := range set.Kinds {
		before := len(c.findings)
		c.kind(k)
		grave := slices.ContainsFunc(c.findings[before:], func(f finding.Finding) bool { return !f.IsNote() })
		if k.Refused || k.Doubtful || grave {
			wrong[k.CRD.Name] = true
		}
	}
	return finding.Sort(c.findings), wrong
}

// ReadError returns the findings that an error of [crdschema.Parse] is.
func ReadError(err error) []finding.Finding {
	var all crdschema.ParseErrors
	if !errors.As(err, &all) {
		return nil
	}
	findings := make([]finding.Finding, 0, len(all))
	for _, e := range all {
		findings = append(findings, finding.Finding{
			Pos: finding.Position{File: e.File, Line: e.Line}, Code: "bad-crd", Message: e.Text,
		})
	}
	return findings
}

type checker struct {
	findings []finding.Finding
	ended    func() error // Err of the context
}

// newChecker returns a checker for those who want no findings of it.
func newChecker() *checker { return &checker{ended: func() error { return nil }} }

func (c *checker) say(pos finding.Position, code, hint, format string, args ...any) {
	c.report(finding.Finding{Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (c *checker) report(f finding.Finding) { c.findings = append(c.findings, f) }

// kind checks one Conversion.
func (c *checker) kind(k *binding.Kind) {
	for _, s := range k.Spokes {
		if c.ended() != nil {
			return
		}
		if s.Version == nil {
			continue
		}
		p := &pair{checker: c, Spoke: s}
		for _, b := range s.Bindings {
			p.binding(b)
		}
		if !s.Unsure {
			p.coverage()
		}
	}
	c.missing(k)
	c.neverApplied(k)
}

// missing says which versions of the CRD the file does not speak of: the API server asks for them all the same.
func (c *checker) missing(k *binding.Kind) {
	for _, v := range k.CRD.Versions {
		if v.Name == k.Conversion.Hub || k.Conversion.Version(v.Name) != nil {
			continue
		}
		c.say(k.Conversion.NamePos, "missing-version", "add `- name: "+v.Name+"` to versions, and what is not the same in the hub",
			"%s has a version %s, and the file says nothing of it", k.CRD.Name, v.Name)
	}
}

// neverApplied says which rules of rule sets have no place wherever the set is applied.
func (c *checker) neverApplied(k *binding.Kind) {
	for _, set := range k.Conversion.RuleSets {
		for _, rule := range set.Rules {
			lacking := slices.ContainsFunc(k.Spokes, func(s *binding.Spoke) bool { return s.Lacking[rule] })
			if !lacking || slices.ContainsFunc(k.Spokes, func(s *binding.Spoke) bool { return s.Applied[rule] }) {
				continue
			}
			place := rule.Field
			if place == nil {
				place = rule.Hub
			}
			c.say(place.Pos, "rule-never-applies", "remove it, or correct the paths",
				"%s: neither version has its places wherever the rule set is used: %s", rule, place.Paths[0].Path.Text)
		}
	}
}

// A pair is a version and the hub with the rules between them.
type pair struct {
	*checker
	*binding.Spoke
}

// binding says what is wrong with the rules of a binding beside each other.
func (p *pair) binding(b *binding.Binding) {
	p.overlaps(b)
	for _, r := range b.Rules {
		if p.ended() == nil && !r.Syntax.Broken {
			p.defaults(b, r)
		}
	}
}

// coverage tells what is lost, and what required fields lack, in both directions.
func (p *pair) coverage() {
	for _, src := range []binding.Side{binding.OfSpoke, binding.OfHub} {
		w := p.walk(src, nil)
		q := newRequirer(p.from(src))
		q.mismatch = w.mismatch
		q.bound(p.Root)
	}
}

func (p *pair) walk(src binding.Side, atoms *[]Atom) *walker {
	w := &walker{direction: p.from(src), atoms: atoms, unused: map[freeKey]map[crdschema.Kind][]string{}}
	w.bound(p.Root)
	return w
}

// A direction is the conversion of one version to the other one, while it is looked at.
type direction struct {
	*pair
	src, dst binding.Side
	mismatch map[string]bool // places of the source that a finding is about
	visited  map[*binding.Binding]bool
}

func (p *pair) from(src binding.Side) *direction {
	return &direction{pair: p, src: src, dst: src.Other(), mismatch: map[string]bool{}, visited: map[*binding.Binding]bool{}}
}

// enter reports whether a binding has not been looked at yet.
func (d *direction) enter(b *binding.Binding) bool {
	if d.visited[b] {
		return false
	}
	d.visited[b] = true
	return true
}

// say reports something about the direction as a whole.
func (d *direction) say(code, hint, format string, args ...any) {
	d.report(finding.Finding{
		Pos: d.Version.Pos, Code: code, Hint: hint,
		Message: fmt.Sprintf("%s -> %s: ", d.Names[d.src], d.Names[d.dst]) + fmt.Sprintf(format, args...),
	})
}
