// Package playground evaluates what a person types on the page of `webhookd playground`: a CRD,
// rules and an object. It knows no network, no files and no browser; package web serves the page,
// and package wasm runs the same evaluation in a browser.
package playground

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// The files that findings name.
const (
	crdFile    = "crd.yaml"
	rulesFile  = "rules.yaml"
	objectFile = "object.yaml"
)

// Input is what the page asks for: three texts, and what else to do with them.
type Input struct {
	CRD    string `json:"crd"`
	Rules  string `json:"rules"`
	Object string `json:"object"`
	// Suggest asks for a draft of rules, Laws for the laws on this many random objects, and Random
	// for a random object of a version.
	Suggest bool    `json:"suggest,omitempty"`
	Laws    uint64  `json:"laws,omitempty"`
	Random  *Random `json:"random,omitempty"`
}

// Random asks for the random object of a version and a seed, always the same.
type Random struct {
	Version string `json:"version"`
	Seed    uint64 `json:"seed"`
}

// Output is the answer. What does not apply is empty.
type Output struct {
	Findings []Finding `json:"findings"`
	// Kind is KIND.GROUP, the one of the object if there are several.
	Kind     string   `json:"kind,omitempty"`
	Hub      string   `json:"hub,omitempty"`
	Versions []string `json:"versions"`
	// Version is that of the object, and Conversions are what it becomes at the others.
	Version     string       `json:"version,omitempty"`
	Conversions []Conversion `json:"conversions"`
	Suggested   string       `json:"suggested,omitempty"`
	Laws        *Laws        `json:"laws,omitempty"`
	Random      string       `json:"random,omitempty"`
}

// A Finding is one of the checker, or says what is wrong with a text.
type Finding struct {
	// In is crd, rules or object.
	In        string `json:"in"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Severity  string `json:"severity"`
	Code      string `json:"code"`
	Message   string `json:"message"`
	Hint      string `json:"hint,omitempty"`
}

// An Evaluator evaluates inputs. It remembers the last CRD and rules that it compiled, which most
// inputs repeat. It is safe for concurrent use.
type Evaluator struct {
	compiled ruleset.Compiled
	lock     sync.Mutex
	last     *loaded
}

// NewEvaluator returns an Evaluator for rules that call compiled-in functions.
func NewEvaluator(compiled ruleset.Compiled) *Evaluator {
	return &Evaluator{compiled: ruleset.Compiled{Functions: compiled.Functions}}
}

// Eval evaluates an input. It never fails: whatever is wrong is a finding. It ends soon after ctx,
// and at the latest after MaxTime.
func (e *Evaluator) Eval(ctx context.Context, in Input) (out Output) {
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			out = Output{Findings: []Finding{problem("rules", "internal", fmt.Sprintf("webhookd panicked, please report a bug: %v", p), "")}}
		}
		out.fill()
	}()
	if out.Findings = tooLarge(&in); len(out.Findings) > 0 {
		return out
	}
	v := &evaluation{in: in, out: &out}
	if v.loaded = e.load(ctx, in.CRD, in.Rules); v.loaded != nil {
		v.run(ctx)
	}
	if ctx.Err() != nil {
		out.Findings = append(out.Findings, problem("rules", "time-limit",
			fmt.Sprintf("not done after %s, which is the limit of this page", MaxTime),
			"make the CRD or the rules smaller; webhookd check and webhookd fuzz have no limit"))
	}
	return out
}

// fill makes lists that are empty, not null.
func (o *Output) fill() {
	o.Findings = append([]Finding{}, o.Findings...)
	o.Versions = append([]string{}, o.Versions...)
	o.Conversions = append([]Conversion{}, o.Conversions...)
}

func problem(in, code, message, hint string) Finding {
	return Finding{In: in, Severity: string(finding.Error), Code: code, Message: message, Hint: hint}
}

// A loaded is a CRD and rules that were compiled and checked.
type loaded struct {
	crd, rules string
	set        ruleset.Set
	lock       sync.Mutex
	directions map[string][]check.Direction
}

// load returns nil if ctx ends.
func (e *Evaluator) load(ctx context.Context, crd, rules string) *loaded {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.last != nil && e.last.crd == crd && e.last.rules == rules {
		return e.last
	}
	var files []ruleset.File
	if rules != "" {
		files = append(files, ruleset.File{Name: rulesFile, Text: []byte(rules)})
	}
	set, err := e.compiled.Load(ctx, files, []ruleset.File{{Name: crdFile, Text: []byte(crd)}})
	if err != nil {
		return nil
	}
	e.last = &loaded{crd: crd, rules: rules, set: set, directions: map[string][]check.Direction{}}
	return e.last
}

// explained returns what becomes of each field of a kind.
func (l *loaded) explained(gk schema.GroupKind) []check.Direction {
	l.lock.Lock()
	defer l.lock.Unlock()
	name := gk.String()
	if _, known := l.directions[name]; !known {
		if k := l.set.BoundKind(gk); k != nil {
			l.directions[name] = check.Explain(k)
		}
	}
	return l.directions[name]
}

// An evaluation is that of one input.
type evaluation struct {
	*loaded
	in  Input
	out *Output
}

func (v *evaluation) run(ctx context.Context) {
	v.findings()
	gk, known := v.kind()
	if known {
		v.describe(gk)
		v.random(gk)
	}
	if v.in.Suggest {
		v.suggest(ctx)
	}
	if v.set.Broken > 0 || len(v.set.Conversions) == 0 || !known {
		return
	}
	v.convert(ctx)
	if v.in.Laws > 0 && len(v.set.Kinds) > 0 {
		v.out.Laws = v.laws(ctx, gk)
	}
}

// findings adds those of the checker, and says what is missing.
func (v *evaluation) findings() {
	for _, f := range v.set.Findings {
		in := "rules"
		if f.Pos.File == crdFile {
			in = "crd"
		}
		v.out.Findings = append(v.out.Findings, Finding{
			In: in, Line: f.Pos.Line, Column: f.Pos.Column, EndColumn: f.EndColumn,
			Severity: string(cmp.Or(f.Severity, finding.Error)), Code: f.Code, Message: f.Text(), Hint: f.Hint,
		})
	}
	has := func(in string) bool {
		return slices.ContainsFunc(v.out.Findings, func(f Finding) bool { return f.In == in })
	}
	if len(v.set.CRDs) == 0 && !has("crd") {
		v.out.Findings = append(v.out.Findings, problem("crd", "no-crd", "no "+manifest.KindCRD+" in the text",
			"paste one: kubectl get crd NAME -o yaml, or choose an example"))
	}
	if len(v.set.Conversions) == 0 && !has("rules") {
		f := problem("rules", "no-rules", "no Conversion in the text", "Suggest rules writes a first draft")
		f.Severity = string(finding.Note)
		v.out.Findings = append(v.out.Findings, f)
	}
}

// kind returns the kind of the object. If the CRD is about another one, or there is no object, it
// returns that of the first CRD.
func (v *evaluation) kind() (gk schema.GroupKind, known bool) {
	if len(v.set.CRDs) == 0 {
		return gk, false
	}
	gk = v.set.CRDs[0].GroupKind()
	if in, err := manifest.ParseFile(objectFile, []byte(v.in.Object)); err == nil && len(in.Documents) == 1 {
		if _, gvk, err := manifest.ParseObject(in.Documents[0]); err == nil && v.set.CRD(gvk.GroupKind()) != nil {
			gk = gvk.GroupKind()
		}
	}
	return gk, true
}

// describe names the kind and its versions, the hub first.
func (v *evaluation) describe(gk schema.GroupKind) {
	crd := v.set.CRD(gk)
	v.out.Kind, v.out.Versions = gk.String(), crd.VersionNames()
	if k := v.set.BoundKind(gk); k != nil && k.Hub != nil {
		v.out.Hub = k.Hub.Name
	}
}

// errorText returns the texts of joined errors, one a line.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "not done in time"
	}
	return err.Error()
}

// versionsBut returns the versions except one, the hub first.
func versionsBut(versions []string, hub, not string) []string {
	all := slices.DeleteFunc(slices.Clone(versions), func(v string) bool { return v == not })
	slices.SortStableFunc(all, func(a, b string) int {
		return cmp.Compare(boolean(a != hub), boolean(b != hub))
	})
	return all
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}
