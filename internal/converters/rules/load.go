package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/exec"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A Source is a file of Conversions: its name for messages, and its text.
type Source struct {
	Name string
	Text []byte
}

// Options are what Load needs beside files.
type Options struct {
	// Go has the functions that `go: name` names. It may be nil, and must not change any more.
	Go map[string]transform.GoFunc
}

// A Set is the converters of some Conversion files. It is immutable, and so safe for concurrent use.
type Set struct{ kinds []converters.Kind }

// Kinds returns a kind for each CRD that has a Conversion without findings, ordered by name. The list must not be changed.
func (s *Set) Kinds() []converters.Kind { return s.kinds }

// Load reads Conversion files and compiles each Conversion against its CRD. Findings are all that is wrong with them, in
// order; the set has the kinds in which nothing is wrong, and is never nil. A caller who has findings should not serve it.
func Load(files []Source, crds []*crdschema.CRD, opts Options) (*Set, []finding.Finding) {
	l := loader{crds: make(map[string]*crdschema.CRD, len(crds)), seen: make(map[string]*syntax.Conversion)}
	for _, crd := range crds {
		l.crds[crd.Name] = crd
	}
	env, err := transform.NewEnv(opts.Go)
	if err != nil {
		l.say(finding.Position{}, "internal", "", "expressions cannot be compiled: %v", err)
		return &l.set, l.findings
	}
	l.env = env
	for _, f := range files {
		file, found := syntax.Parse(f.Name, f.Text)
		l.findings = append(l.findings, found...)
		for _, c := range file.Conversions {
			l.conversion(c)
		}
	}
	slices.SortFunc(l.set.kinds, func(a, b converters.Kind) int { return cmp.Compare(a.Name(), b.Name()) })
	return &l.set, finding.Sort(l.findings)
}

type loader struct {
	crds     map[string]*crdschema.CRD
	seen     map[string]*syntax.Conversion
	env      *transform.Env
	set      Set
	findings []finding.Finding
}

func (l *loader) say(pos finding.Position, code, hint, format string, args ...any) {
	l.findings = append(l.findings, finding.Finding{Pos: pos, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// conversion adds the kind of a Conversion to the set, if nothing is wrong with it.
func (l *loader) conversion(c *syntax.Conversion) {
	crd := l.crds[c.Name]
	if first := l.seen[c.Name]; first != nil {
		l.say(c.NamePos, "second-conversion", "keep one", "%s has a Conversion already: %s", c.Name, first.NamePos)
		return
	}
	l.seen[c.Name] = c
	if crd == nil {
		names := make([]string, 0, len(l.crds))
		for name := range l.crds {
			names = append(names, name)
		}
		hint := "add the CRD's file"
		if near, ok := finding.Nearest(c.Name, names); ok {
			hint = "did you mean " + near + "?"
		}
		l.say(c.NamePos, "no-such-crd", hint, "no CRD of that name: %s", c.Name)
		return
	}
	if c.Doubtful {
		return // a finding has said why
	}
	kind, found := compile(c, crd, l.env)
	l.findings = append(l.findings, found...)
	if len(found) == 0 && kind != nil {
		l.set.kinds = append(l.set.kinds, *kind)
	}
}

// compile makes the kind of a Conversion. A version of the CRD that the file does not name has no rules.
func compile(c *syntax.Conversion, crd *crdschema.CRD, env *transform.Env) (*converters.Kind, []finding.Finding) {
	hub := crd.Version(c.Hub)
	if hub == nil {
		return nil, []finding.Finding{{
			Pos: c.HubPos, Code: "no-such-version", Message: fmt.Sprintf("%s has no version %s", crd.Name, c.Hub),
			Hint: "it has " + strings.Join(versionsOf(crd), ", "),
		}}
	}
	spokes := make(map[string]*exec.Spoke, len(crd.Versions))
	var findings []finding.Finding
	for _, v := range crd.Versions {
		if v == hub {
			continue
		}
		var rules []*syntax.Rule
		if version := c.Version(v.Name); version != nil {
			rules = version.Rules
		}
		s, found := compileSpoke(c, v, hub, rules, env)
		spokes[v.Name], findings = s, append(findings, found...)
	}
	return &converters.Kind{GroupKind: crd.GroupKind(), Hub: hub.Name, Versions: versionsOf(crd), Converter: exec.NewConverter(crd, hub.Name, spokes)}, findings
}

func versionsOf(crd *crdschema.CRD) []string {
	names := make([]string, 0, len(crd.Versions))
	for _, v := range crd.Versions {
		names = append(names, v.Name)
	}
	return names
}

func compileSpoke(
	c *syntax.Conversion, v, hub *crdschema.Version, rules []*syntax.Rule, env *transform.Env,
) (*exec.Spoke, []finding.Finding) {
	b := binding.New(c, v.Root, hub.Root, env)
	rel := b.Root(rules)
	toHub, fromHub := plan.Compile(b, rel)
	field, ofHub := plan.Layouts(rel, v.Name, hub.Name)
	return &exec.Spoke{ToHub: toHub, FromHub: fromHub, Layout: field, Hub: ofHub}, b.Findings()
}
