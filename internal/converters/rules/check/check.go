// Package check says what is wrong with Conversion files against the schemas of their CRDs, and tells for every field what
// becomes of it. A file without findings loses nothing but what it drops with a reason.
//
// Its functions change nothing that they are given and are safe for concurrent use.
package check

import (
	"errors"
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Options are what a check needs beside files and CRDs.
type Options struct {
	// Env has the registered functions that `go` may name. Without one, there are none.
	Env *transform.Env
	// Incomplete says that some CRDs could not be read, so that it is no finding that one is not there.
	Incomplete bool
}

func (o Options) env() (*transform.Env, error) {
	if o.Env != nil {
		return o.Env, nil
	}
	return transform.NewEnv(nil)
}

// Check returns everything that is wrong with files against CRDs, in the order of the files; [syntax.Parse] has said the
// rest. It fails only if there is no CEL environment.
func Check(files []*syntax.File, crds []*crdschema.CRD, opts Options) ([]finding.Finding, error) {
	env, err := opts.env()
	if err != nil {
		return nil, err
	}
	c := &checker{crds: map[string]*crdschema.CRD{}, env: env, incomplete: opts.Incomplete, seen: map[string]bool{}}
	for _, crd := range crds {
		c.addCRD(crd)
	}
	first := map[string]*syntax.Conversion{}
	for _, file := range files {
		for _, conversion := range file.Conversions {
			c.conversion(conversion, first)
		}
	}
	return finding.Sort(c.findings), nil
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
	crds       map[string]*crdschema.CRD
	names      []string // of the CRDs
	env        *transform.Env
	incomplete bool
	findings   []finding.Finding
	seen       map[string]bool
}

func (c *checker) addCRD(crd *crdschema.CRD) {
	if first := c.crds[crd.Name]; first != nil {
		c.say(finding.Position{File: crd.File, Line: crd.Line}, "duplicate-crd", "give one of them",
			"the CRD %s is there twice, the first is in %s, line %d", crd.Name, first.File, first.Line)
		return
	}
	c.crds[crd.Name] = crd
	c.names = append(c.names, crd.Name)
}

func (c *checker) say(pos finding.Position, code, hint, format string, args ...any) {
	c.report(finding.Finding{Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// report adds a finding. A rule of a rule set is compiled at every place that it is applied to: what is wrong with it is
// said once.
func (c *checker) report(f finding.Finding) {
	id := fmt.Sprint(f.Pos, f.Code, f.Message)
	if !c.seen[id] {
		c.seen[id] = true
		c.findings = append(c.findings, f)
	}
}

// conversion checks one document.
func (c *checker) conversion(conversion *syntax.Conversion, first map[string]*syntax.Conversion) {
	if conversion.Broken || conversion.Name == "" {
		return
	}
	if other := first[conversion.Name]; other != nil {
		c.say(conversion.NamePos, "duplicate-conversion", "put the versions into one Conversion",
			"%s has a second Conversion, the first is at %s", conversion.Name, other.NamePos)
		return
	}
	first[conversion.Name] = conversion
	crd := c.crds[conversion.Name]
	if crd == nil {
		c.noCRD(conversion)
		return
	}
	hub := c.hub(conversion, crd)
	applied, lacking := map[*syntax.Rule]bool{}, map[*syntax.Rule]bool{}
	for _, v := range conversion.Versions {
		version := c.version(v.Name, v.Pos, crd)
		if hub == nil || version == nil {
			continue
		}
		p := newPair(conversion, v, version, hub, c.env, c.report)
		if !p.unsure {
			p.check()
		}
		for rule := range p.applied {
			applied[rule] = true
		}
		for rule := range p.lacking {
			lacking[rule] = true
		}
	}
	c.missing(conversion, crd)
	c.neverApplied(conversion, applied, lacking)
}

func (c *checker) noCRD(conversion *syntax.Conversion) {
	if c.incomplete {
		return
	}
	hint := "give the file that has it with --crd"
	if near, ok := finding.Nearest(conversion.Name, c.names); ok {
		hint = "did you mean " + near + "?"
	}
	c.say(conversion.NamePos, "no-such-crd", hint, "there is no CRD %s", conversion.Name)
}

func (c *checker) hub(conversion *syntax.Conversion, crd *crdschema.CRD) *crdschema.Version {
	if conversion.Hub == "" {
		return nil
	}
	return c.version(conversion.Hub, conversion.HubPos, crd)
}

// version returns a version of the CRD by its name, and says so if there is none.
func (c *checker) version(name string, pos finding.Position, crd *crdschema.CRD) *crdschema.Version {
	version := crd.Version(name)
	if version != nil {
		return version
	}
	names := versionNames(crd)
	hint := "it has " + list(names)
	if near, ok := finding.Nearest(name, names); ok {
		hint = "did you mean " + near + "?"
	}
	c.say(pos, "no-such-version", hint, "%s has no version %s", crd.Name, name)
	return nil
}

func versionNames(crd *crdschema.CRD) []string {
	names := make([]string, 0, len(crd.Versions))
	for _, v := range crd.Versions {
		names = append(names, v.Name)
	}
	return names
}

// missing says which versions of the CRD the file does not speak of: the API server asks for them all the same.
func (c *checker) missing(conversion *syntax.Conversion, crd *crdschema.CRD) {
	for _, name := range versionNames(crd) {
		if name == conversion.Hub || conversion.Version(name) != nil {
			continue
		}
		c.say(conversion.NamePos, "missing-version", "add `- name: "+name+"` to versions, and what is not the same in the hub",
			"%s has a version %s, and the file says nothing of it", crd.Name, name)
	}
}

// neverApplied says which rules of rule sets have no place wherever the set is applied.
func (c *checker) neverApplied(conversion *syntax.Conversion, applied, lacking map[*syntax.Rule]bool) {
	for _, set := range conversion.RuleSets {
		for _, rule := range set.Rules {
			if lacking[rule] && !applied[rule] {
				place := rule.Field
				if place == nil {
					place = rule.Hub
				}
				c.say(place.Pos, "rule-never-applies", "remove it, or correct the paths",
					"%s: neither version has its places wherever the rule set is used: %s", rule, place.Paths[0].Path.Text)
			}
		}
	}
}

// A pair is a version and the hub with the rules between them.
type pair struct {
	*builder
	version *syntax.Version
	rel     *relation
}

func newPair(
	c *syntax.Conversion, v *syntax.Version, version, hub *crdschema.Version, env *transform.Env, report func(finding.Finding),
) *pair {
	b := &builder{
		conversion: c, names: [2]string{version.Name, hub.Name}, roots: [2]*crdschema.Node{version.Root, hub.Root}, env: env,
		report: report, made: map[setPlaces]*relation{}, applied: map[*syntax.Rule]bool{}, lacking: map[*syntax.Rule]bool{},
		unsure: v.Broken || slices.ContainsFunc(v.Rules, func(r *syntax.Rule) bool { return r.Broken && r.Field == nil && r.Hub == nil }),
	}
	return &pair{builder: b, version: v, rel: b.root(v.Rules)}
}

// check tells what is lost, and what required fields lack, in both directions.
func (p *pair) check() {
	for _, src := range []side{ofField, ofHub} {
		w := p.walk(src, nil)
		r := requirer{dst: src.other(), names: p.names, version: p.version, report: p.report, mismatch: w.mismatch, visited: map[*relation]bool{}}
		r.relation(p.rel)
	}
}

func (p *pair) walk(src side, atoms *[]Atom) *walker {
	w := &walker{
		src: src, names: p.names, version: p.version, report: p.report, atoms: atoms,
		visited: map[*relation]bool{}, mismatch: map[string]bool{},
	}
	w.relation(p.rel)
	return w
}
