// Package check finds what is wrong with Conversion files against the schemas of their CRDs, and
// explains what becomes of every field. Rules without findings lose nothing but what they drop with
// a reason.
//
// Its functions do not change their arguments and are safe for concurrent use.
package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Check returns the findings about bound Conversions, in the order of their files, without those of
// [syntax.Parse], and the names of the CRDs that an error is about: the rules of the others can be
// used. After ctx ends, it soon returns the findings so far: check ctx.Err.
func Check(ctx context.Context, set *binding.Set) (findings []finding.Finding, wrong map[string]bool) {
	c := &checker{ended: ctx.Err, excused: map[*syntax.Text]bool{}, findings: slices.Concat(set.Findings, set.Warnings)}
	wrong = make(map[string]bool)
	for _, k := range set.Kinds {
		before := len(c.findings)
		c.kind(k) //nolint:contextcheck // what judges constants takes a context that it does not use
		problem := slices.ContainsFunc(c.findings[before:], finding.Finding.IsError)
		if k.Refused || k.Doubtful || problem {
			wrong[k.CRD.Name] = true
		}
	}
	c.neverApplied(set, wrong)
	c.needlessAbsences(set)
	return finding.Sort(c.findings), wrong
}

// ReadError returns the findings of an error of [crdschema.Parse].
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
	excused  map[*syntax.Text]bool // texts of mayBeAbsent that have an effect
	ended    func() error          // Err of the context
}

func (c *checker) add(severity finding.Severity, pos finding.Position, code, hint, format string, args ...any) {
	c.findings = append(c.findings, finding.Finding{
		Pos: pos, Severity: severity, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint,
	})
}

// say adds an error.
func (c *checker) say(pos finding.Position, code, hint, format string, args ...any) {
	c.add(finding.Error, pos, code, hint, format, args...)
}

// warn adds a warning.
func (c *checker) warn(pos finding.Position, code, hint, format string, args ...any) {
	c.add(finding.Warning, pos, code, hint, format, args...)
}

// note adds a note.
func (c *checker) note(pos finding.Position, code, hint, format string, args ...any) {
	c.add(finding.Note, pos, code, hint, format, args...)
}

// kind checks one Conversion.
func (c *checker) kind(k *binding.Kind) {
	first := len(c.findings)
	for _, s := range k.Spokes {
		if c.ended() != nil {
			return
		}
		if s.Version == nil {
			continue
		}
		p, before := &pair{checker: c, Spoke: s}, len(c.findings)
		for _, b := range s.Bindings {
			p.overlaps(b)
			p.meetings(b)
			for _, r := range b.Rules {
				if p.ended() == nil && !r.Syntax.Broken {
					p.constants(b, r)
				}
			}
		}
		p.movesToStatus()
		if !s.Unsure {
			p.emptySpecs()
			for _, b := range s.Bindings {
				p.unwritten(b, binding.OfSpoke)
				p.unwritten(b, binding.OfHub)
			}
			p.coverage()
		}
		k.Attribute(s, c.findings[before:])
	}
	c.findings = append(c.findings[:first], withoutEchoes(k, c.findings[first:])...)
	c.missingVersions(k)
	c.unshown(k)
}

// unshown warns of paths of the scale subresource and of printer columns that a version lacks: they
// are often those of another version.
func (c *checker) unshown(k *binding.Kind) {
	for _, v := range k.CRD.Versions {
		if len(v.Unshown) > 0 {
			c.warn(k.Conversion.NamePos, "path-not-in-schema", "write the path that the field has in this version, in subresources or additionalPrinterColumns of the CRD",
				"%s: its schema has no field at %s", v.Name, finding.Few(v.Unshown, maxMembers))
		}
	}
}

// needlessAbsences notes each mayBeAbsent that excuses nothing. What it is not sure of may.
func (c *checker) needlessAbsences(set *binding.Set) {
	for _, sure := range []bool{false, true} {
		for k, s := range spokes(set) {
			if isSure(s) != sure {
				continue
			}
			if v := s.Version; sure && v != nil && v.SameAs == nil {
				c.excusesNothing(v.MayBeAbsent, "version "+v.Name)
			}
			for _, a := range s.Absences {
				switch {
				case set.Partial && !k.Conversion.Has(a.Rule.Pos):
				case sure:
					c.excusesNothing(a.Rule.MayBeAbsent, a.Rule.String())
				default:
					c.excused[a.Rule.MayBeAbsent] = true
				}
			}
		}
	}
}

// spokes goes through the versions of all kinds.
func spokes(set *binding.Set) iter.Seq2[*binding.Kind, *binding.Spoke] {
	return func(yield func(*binding.Kind, *binding.Spoke) bool) {
		for _, k := range set.Kinds {
			for _, s := range k.Spokes {
				if !yield(k, s) {
					return
				}
			}
		}
	}
}

// isSure reports whether it is known what all rules of a version write. A rule with a finding may
// write nothing once it is corrected.
func isSure(s *binding.Spoke) bool {
	return !s.Unsure && !slices.ContainsFunc(s.Bindings, func(b *binding.Binding) bool {
		return slices.ContainsFunc(b.Rules, func(r *binding.Rule) bool { return r.Doubtful })
	})
}

// excusesNothing notes, once, a mayBeAbsent without effect. It may be nil.
func (c *checker) excusesNothing(at *syntax.Text, what string) {
	if at == nil || c.excused[at] {
		return
	}
	c.excused[at] = true
	c.note(at.Pos, "nothing-is-absent", "remove it",
		"%s: mayBeAbsent has no effect, since nothing is missing that either version requires there", what)
}

// missingVersions reports versions of the CRD that the file lacks: the API server asks for them,
// too. While the file names a version that the CRD does not have, which is reported, that may be
// the one that is missing.
func (c *checker) missingVersions(k *binding.Kind) {
	names := k.CRD.VersionNames()
	if k.Hub == nil || slices.ContainsFunc(k.Conversion.Versions, func(v *syntax.Version) bool { return !slices.Contains(names, v.Name) }) {
		return
	}
	for _, name := range names {
		if name != k.Conversion.Hub && k.Conversion.Version(name) == nil {
			c.say(k.Conversion.NamePos, "missing-version", "add `- name: "+name+"` to versions, with rules for what differs from the hub",
				"%s has version %s, which the file does not mention", k.CRD.Name, name)
		}
	}
}

// neverApplied reports rules of rule sets whose places do not exist wherever the set is used. It
// adds the kinds that use them to wrong.
func (c *checker) neverApplied(set *binding.Set, wrong map[string]bool) {
	applied, said := map[*syntax.Rule]bool{}, map[*syntax.Rule]bool{}
	for _, s := range spokes(set) {
		maps.Copy(applied, s.Applied)
	}
	for k, s := range spokes(set) {
		for rule := range s.Lacking {
			if applied[rule] || set.Partial && !k.Conversion.Has(rule.Pos) {
				continue
			}
			wrong[k.CRD.Name] = true
			if place := cmp.Or(rule.Spoke, rule.Hub); !said[rule] {
				said[rule] = true
				c.say(place.Pos, "rule-never-applies", "remove it, or correct the paths",
					"%s: neither version has its places anywhere the rule set is used: %s", rule, place.Paths[0].Path.Text)
			}
		}
	}
}

// A pair is a version and the hub with the rules between them.
type pair struct {
	*checker
	*binding.Spoke
}

// newPair returns a pair whose findings are of no interest.
func newPair(s *binding.Spoke) *pair {
	return &pair{checker: &checker{ended: func() error { return nil }, excused: map[*syntax.Text]bool{}}, Spoke: s}
}

// coverage reports what is lost, and what required fields lack, in both directions.
func (p *pair) coverage() {
	for _, src := range sides() {
		w := p.walk(src, nil)
		w.sayDefaults()
		w.sayShapes()
		q := &requirer{direction: p.from(src), done: map[string]bool{}}
		q.mismatch = w.mismatch
		q.bound(p.Root)
		q.report()
	}
}

func (p *pair) walk(src binding.Side, atoms *[]Atom) *walker {
	w := &walker{direction: p.from(src), atoms: atoms, unused: map[freeKey]map[crdschema.Kind][]string{}}
	w.bound(p.Root)
	return w
}

// A direction is the conversion of one version to the other one, while it is checked.
type direction struct {
	*pair
	src, dst binding.Side
	mismatch map[string]bool // places of the source that a finding is about
	visited  map[*binding.Binding]bool
}

func (p *pair) from(src binding.Side) *direction {
	return &direction{pair: p, src: src, dst: src.Other(), mismatch: map[string]bool{}, visited: map[*binding.Binding]bool{}}
}

// enter reports whether a binding was not visited before.
func (d *direction) enter(b *binding.Binding) bool {
	first := !d.visited[b]
	d.visited[b] = true
	return first
}

// say reports a finding about the direction as a whole.
func (d *direction) say(code, hint, format string, args ...any) {
	d.checker.say(d.Version.Pos, code, hint, "%s -> %s: %s", d.Names[d.src], d.Names[d.dst], fmt.Sprintf(format, args...))
}

// about says which part of the last finding is the place that it is about.
func (c *checker) about(place string) { c.findings[len(c.findings)-1].Place = place }

// isRoot reports whether a place of a side is a whole object.
func isRoot(b *binding.Binding, s binding.Side, path []syntax.Segment, n *crdschema.Node) bool {
	return len(path) == 0 && b.Prefix[s] == "" && n.Property("metadata") != nil
}
