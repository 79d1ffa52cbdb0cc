package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// compiledIn is what a program brings of its own: kinds whose converters are written in Go, and
// functions that rules call by name. Neither is changed.
type compiledIn struct {
	kinds     []converters.Kind
	functions map[string]transform.GoFunc
}

// has reports whether a converter for a kind is compiled in.
func (c compiledIn) has(gk schema.GroupKind) bool {
	return slices.ContainsFunc(c.kinds, func(k converters.Kind) bool { return k.GroupKind == gk })
}

// registry returns the converters that are compiled in and those of rules, which come first: a kind has
// both only where its rules call Go functions.
func (c compiledIn) registry(ruled []converters.Kind) (*converters.Registry, error) {
	all := slices.DeleteFunc(slices.Clone(c.kinds), func(k converters.Kind) bool {
		return slices.ContainsFunc(ruled, func(r converters.Kind) bool { return r.GroupKind == k.GroupKind })
	})
	return converters.NewRegistry(append(all, ruled...)...)
}

// A ruleSet is what files of rules and of CRDs make: the kinds that the engine can convert, and all that is wrong.
type ruleSet struct {
	compiled        compiledIn
	files, crdFiles []textFile
	before          []textFile           // rules that it is compared with
	conversions     []*syntax.Conversion // as far as they can be read
	bound           *binding.Set
	kinds           []converters.Kind // that can be converted
	wrong           map[string]bool   // CRDs of kinds with findings: the rules do not do all that they say
	crds            []*crdschema.CRD
	passed          []textFile        // files that were passed by
	findings        []finding.Finding // errors, and notes
	broken          int               // how many of the findings keep something from being converted; the others are the checker's alone
	panicked        error             // the first of those that left files out; nil: none did
}

// loadRules checks rules against CRDs, and compiles them. A kind that the checker has findings for can be converted all the
// same, which the verbs do that run offline: nothing is lost, but not everything is where the rules want it. The error is that of
// ctx.
func (c compiledIn) loadRules(ctx context.Context, ruleFiles, crdFiles []textFile) (ruleSet, error) {
	s := ruleSet{compiled: c}
	ruleFiles, s.passed = withoutPassed(ruleFiles)
	crdFiles, passed := withoutPassed(crdFiles)
	s.passed = append(s.passed, passed...)
	s.files, s.crdFiles = filesOfRules(ruleFiles), crdFiles
	var crdProblems []finding.Finding
	s.crds, crdProblems = parseCRDs(ctx, crdFiles)
	sources := make([]rules.Source, 0, len(s.files))
	for _, f := range s.files {
		sources = append(sources, rules.Source{Name: f.name, Text: f.text})
	}
	set, loaded := rules.Load(ctx, sources, s.crds, rules.Options{
		Go: c.functions, Incomplete: len(crdProblems)+len(passed) > 0,
	})
	s.conversions, s.bound = set.Conversions(), set.Bound()
	s.kinds = slices.DeleteFunc(slices.Clone(set.Kinds()), func(k converters.Kind) bool { return s.refused(k.GroupKind) })
	grave := append(s.compiledInFindings(), loaded...)
	s.broken = len(crdProblems) + len(grave)
	crdProblems = slices.DeleteFunc(crdProblems, func(f finding.Finding) bool { return saidOfFile(f, loaded) })
	checked, wrong := check.Kinds(ctx, s.bound)
	s.wrong = wrong
	s.findings = finding.Sort(slices.Concat(crdProblems, grave, checked, passedNotes(s.passed)))
	return s, ctx.Err()
}

// registry returns the converters of the set, and those that are compiled in.
func (s *ruleSet) registry() (*converters.Registry, error) { return s.compiled.registry(s.kinds) }

// errors returns the findings that are not notes.
func (s *ruleSet) errors() []finding.Finding {
	return slices.DeleteFunc(slices.Clone(s.findings), finding.Finding.IsNote)
}

// sound returns the kinds that no finding is about.
func (s *ruleSet) sound() []converters.Kind {
	return slices.DeleteFunc(slices.Clone(s.kinds), func(k converters.Kind) bool {
		crd := s.crd(k.GroupKind)
		return crd == nil || s.wrong[crd.Name]
	})
}

// withoutPassed splits off the files that were passed by. Those with a text that they had before are used as they were.
func withoutPassed(files []textFile) (read, passed []textFile) {
	for _, f := range files {
		if f.passed != "" {
			passed = append(passed, f)
		}
		if f.passed == "" || f.text != nil {
			read = append(read, f)
		}
	}
	return read, passed
}

// passedNotes tell of files that were passed by.
func passedNotes(files []textFile) []finding.Finding {
	notes := make([]finding.Finding, 0, len(files))
	for _, f := range files {
		notes = append(notes, finding.Finding{
			Pos: finding.Position{File: f.name}, Severity: finding.Note, Code: "passed-by",
			Message: "passed by: " + f.passed, Hint: "put a file there, or take it out of the folder",
		})
	}
	return notes
}

// saidOfFile reports whether there is the same finding for the whole file: one in a folder is read both as rules and as
// CRDs.
func saidOfFile(f finding.Finding, said []finding.Finding) bool {
	const notYAML = "not YAML"
	return strings.HasPrefix(f.Message, notYAML) && slices.ContainsFunc(said, func(s finding.Finding) bool {
		return s.Pos.File == f.Pos.File && strings.HasPrefix(s.Message, notYAML)
	})
}

// render writes the findings.
func (s *ruleSet) render(w io.Writer, format finding.Format) error {
	texts := make(map[string][]byte, len(s.files)+len(s.crdFiles)) // for findings to quote
	for _, f := range s.crdFiles {
		texts[f.name] = f.text
	}
	for _, f := range slices.Concat(s.before, s.files) {
		texts[f.name] = f.text
	}
	if err := finding.Render(w, format, s.findings, texts); err != nil {
		return fmt.Errorf("cannot write the findings: %w", err)
	}
	return nil
}

// lacksCRD reports whether there are rules whose CRD is not there.
func (s *ruleSet) lacksCRD() bool {
	return slices.ContainsFunc(s.findings, func(f finding.Finding) bool { return f.Code == "no-such-crd" })
}

// crd returns the CRD of a kind, or nil.
func (s *ruleSet) crd(gk schema.GroupKind) *crdschema.CRD {
	for _, crd := range s.crds {
		if crd.GroupKind() == gk {
			return crd
		}
	}
	return nil
}

// boundKind returns the rules of a kind with their CRD, or nil if there are none.
func (s *ruleSet) boundKind(gk schema.GroupKind) *binding.Kind {
	crd := s.crd(gk)
	if crd == nil {
		return nil
	}
	return s.bound.Kind(crd.Name)
}

// refused reports whether the rules of a kind must not be used, since a converter for it is compiled in.
func (s *ruleSet) refused(gk schema.GroupKind) bool {
	return s.compiled.has(gk) && !slices.ContainsFunc(s.conversions, func(c *syntax.Conversion) bool {
		crd := s.crd(gk)
		return crd != nil && crd.Name == c.Name && usesGo(c)
	})
}

// usesGo reports whether a rule of the Conversion names a Go function.
func usesGo(c *syntax.Conversion) bool {
	has := func(rule *syntax.Rule) bool { return rule.Go != nil }
	return slices.ContainsFunc(c.Versions, func(v *syntax.Version) bool { return slices.ContainsFunc(v.Rules, has) }) ||
		slices.ContainsFunc(c.RuleSets, func(s *syntax.RuleSet) bool { return slices.ContainsFunc(s.Rules, has) })
}

// compiledInFindings says which kinds have both rules and a converter of Go.
func (s *ruleSet) compiledInFindings() []finding.Finding {
	findings := make([]finding.Finding, 0, len(s.conversions))
	for _, c := range s.conversions {
		i := slices.IndexFunc(s.crds, func(crd *crdschema.CRD) bool { return crd.Name == c.Name })
		if i < 0 || !s.compiled.has(s.crds[i].GroupKind()) || usesGo(c) {
			continue
		}
		findings = append(findings, finding.Finding{
			Pos: c.NamePos, Code: "compiled-in",
			Message: fmt.Sprintf("a converter for this kind is compiled in: %s", s.crds[i].GroupKind()),
			Hint:    "remove this Conversion, or call Go functions from its rules with `go`",
		})
	}
	return findings
}

// filesOfRules leaves out the files of folders in which every object says that it is something else than a Conversion, so
// that CRDs and cases may be beside the rules. What cannot be read stays, for the parser of rules to say why.
func filesOfRules(files []textFile) []textFile {
	return slices.DeleteFunc(slices.Clone(files), func(f textFile) bool {
		if !f.inFolder {
			return false
		}
		in, err := parseInput(f.name, f.text)
		return err == nil && len(in.documents) > 0 && !slices.ContainsFunc(in.documents, mayBeConversion)
	})
}

// mayBeConversion is true of all documents but objects of another group and kind.
func mayBeConversion(document []byte) bool {
	_, gvk, err := parse(document)
	group, _, _ := strings.Cut(syntax.APIVersion, "/")
	return err != nil || gvk.Group == group || gvk.Kind == syntax.Kind
}

// parseCRDs returns the CRDs of all files, and what is wrong with any as findings. Where ctx ends, it soon returns some.
//
//nolint:contextcheck,nolintlint // crdschema gives a context to what does not use it; contextcheck reads this itself
func parseCRDs(ctx context.Context, files []textFile) ([]*crdschema.CRD, []finding.Finding) {
	var crds []*crdschema.CRD
	findings := make([]finding.Finding, 0, len(files))
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		parsed, err := crdschema.Parse(f.name, f.text)
		crds = append(crds, parsed...)
		findings = append(findings, check.ReadError(err)...)
	}
	return crds, findings
}
