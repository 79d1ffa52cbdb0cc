package ruleset

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
	"github.com/crdconvert/webhookd/internal/manifest"
)

// Compiled is what a program brings of its own: kinds whose converters are written in Go, and
// functions that rules call by name. Neither is changed.
type Compiled struct {
	Kinds     []converters.Kind
	Functions map[string]transform.GoFunc
}

// Has reports whether a converter for a kind is compiled in.
func (c Compiled) Has(gk schema.GroupKind) bool {
	return slices.ContainsFunc(c.Kinds, func(k converters.Kind) bool { return k.GroupKind == gk })
}

// Registry returns the converters that are compiled in and those of rules, which come first: a kind has
// both only where its rules call Go functions.
func (c Compiled) Registry(ruled []converters.Kind) (*converters.Registry, error) {
	all := slices.DeleteFunc(slices.Clone(c.Kinds), func(k converters.Kind) bool {
		return slices.ContainsFunc(ruled, func(r converters.Kind) bool { return r.GroupKind == k.GroupKind })
	})
	return converters.NewRegistry(append(all, ruled...)...)
}

// A Set is what files of rules and of CRDs make: the kinds that the engine can convert, and all that is wrong.
type Set struct {
	compiled        Compiled
	Files, CRDFiles []File
	Before          []File               // rules that it is compared with
	Conversions     []*syntax.Conversion // as far as they can be read
	Bound           *binding.Set
	Kinds           []converters.Kind // that can be converted
	wrong           map[string]bool   // CRDs of kinds with findings: the rules do not do all that they say
	CRDs            []*crdschema.CRD
	Passed          []File            // files that were passed by
	Findings        []finding.Finding // errors, and notes
	Broken          int               // how many of the findings keep something from being converted; the others are the checker's alone
	Panicked        error             // the first of those that left files out; nil: none did
}

// Load checks rules against CRDs, and compiles them. A kind that the checker has findings for can be converted all the
// same, which the verbs do that run offline: nothing is lost, but not everything is where the rules want it. The error is that of
// ctx.
func (c Compiled) Load(ctx context.Context, ruleFiles, crdFiles []File) (Set, error) {
	s := Set{compiled: c}
	ruleFiles, s.Passed = withoutPassed(ruleFiles)
	crdFiles, passed := withoutPassed(crdFiles)
	s.Passed = append(s.Passed, passed...)
	s.Files, s.CRDFiles = FilesOfRules(ruleFiles), crdFiles
	var crdProblems []finding.Finding
	s.CRDs, crdProblems = ParseCRDs(ctx, crdFiles)
	sources := make([]rules.Source, 0, len(s.Files))
	for _, f := range s.Files {
		sources = append(sources, rules.Source{Name: f.Name, Text: f.Text})
	}
	set, loaded := rules.Load(ctx, sources, s.CRDs, rules.Options{
		Go: c.Functions, Incomplete: len(crdProblems)+len(passed) > 0,
	})
	s.Conversions, s.Bound = set.Conversions(), set.Bound()
	s.Kinds = slices.DeleteFunc(slices.Clone(set.Kinds()), func(k converters.Kind) bool { return s.refused(k.GroupKind) })
	grave := append(s.compiledInFindings(), loaded...)
	s.Broken = len(crdProblems) + len(grave)
	crdProblems = slices.DeleteFunc(crdProblems, func(f finding.Finding) bool { return saidOfFile(f, loaded) })
	checked, wrong := check.Kinds(ctx, s.Bound)
	s.wrong = wrong
	s.Findings = finding.Sort(slices.Concat(crdProblems, grave, checked, PassedNotes(s.Passed)))
	return s, ctx.Err()
}

// Registry returns the converters of the set, and those that are compiled in.
func (s *Set) Registry() (*converters.Registry, error) { return s.compiled.Registry(s.Kinds) }

// Errors returns the findings that are not notes.
func (s *Set) Errors() []finding.Finding {
	return slices.DeleteFunc(slices.Clone(s.Findings), finding.Finding.IsNote)
}

// Sound returns the kinds that no finding is about.
func (s *Set) Sound() []converters.Kind {
	return slices.DeleteFunc(slices.Clone(s.Kinds), func(k converters.Kind) bool {
		crd := s.CRD(k.GroupKind)
		return crd == nil || s.wrong[crd.Name]
	})
}

// withoutPassed splits off the files that were passed by. Those with a text that they had before are used as they were.
func withoutPassed(files []File) (read, passed []File) {
	for _, f := range files {
		if f.passed != "" {
			passed = append(passed, f)
		}
		if f.passed == "" || f.Text != nil {
			read = append(read, f)
		}
	}
	return read, passed
}

// PassedNotes tell of files that were passed by.
func PassedNotes(files []File) []finding.Finding {
	notes := make([]finding.Finding, 0, len(files))
	for _, f := range files {
		notes = append(notes, finding.Finding{
			Pos: finding.Position{File: f.Name}, Severity: finding.Note, Code: "passed-by",
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

// Render writes the findings.
func (s *Set) Render(w io.Writer, format finding.Format) error {
	texts := make(map[string][]byte, len(s.Files)+len(s.CRDFiles)) // for findings to quote
	for _, f := range s.CRDFiles {
		texts[f.Name] = f.Text
	}
	for _, f := range slices.Concat(s.Before, s.Files) {
		texts[f.Name] = f.Text
	}
	if err := finding.Render(w, format, s.Findings, texts); err != nil {
		return fmt.Errorf("cannot write the findings: %w", err)
	}
	return nil
}

// LacksCRD reports whether there are rules whose CRD is not there.
func (s *Set) LacksCRD() bool {
	return slices.ContainsFunc(s.Findings, func(f finding.Finding) bool { return f.Code == "no-such-crd" })
}

// CRD returns the CRD of a kind, or nil.
func (s *Set) CRD(gk schema.GroupKind) *crdschema.CRD {
	for _, crd := range s.CRDs {
		if crd.GroupKind() == gk {
			return crd
		}
	}
	return nil
}

// BoundKind returns the rules of a kind with their CRD, or nil if there are none.
func (s *Set) BoundKind(gk schema.GroupKind) *binding.Kind {
	crd := s.CRD(gk)
	if crd == nil {
		return nil
	}
	return s.Bound.Kind(crd.Name)
}

// refused reports whether the rules of a kind must not be used, since a converter for it is compiled in.
func (s *Set) refused(gk schema.GroupKind) bool {
	return s.compiled.Has(gk) && !slices.ContainsFunc(s.Conversions, func(c *syntax.Conversion) bool {
		crd := s.CRD(gk)
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
func (s *Set) compiledInFindings() []finding.Finding {
	findings := make([]finding.Finding, 0, len(s.Conversions))
	for _, c := range s.Conversions {
		i := slices.IndexFunc(s.CRDs, func(crd *crdschema.CRD) bool { return crd.Name == c.Name })
		if i < 0 || !s.compiled.Has(s.CRDs[i].GroupKind()) || usesGo(c) {
			continue
		}
		findings = append(findings, finding.Finding{
			Pos: c.NamePos, Code: "compiled-in",
			Message: fmt.Sprintf("a converter for this kind is compiled in: %s", s.CRDs[i].GroupKind()),
			Hint:    "remove this Conversion, or call Go functions from its rules with `go`",
		})
	}
	return findings
}

// FilesOfRules leaves out the files of folders in which every object says that it is something else than a Conversion, so
// that CRDs and cases may be beside the rules. What cannot be read stays, for the parser of rules to say why.
func FilesOfRules(files []File) []File {
	return slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		if !f.InFolder {
			return false
		}
		in, err := manifest.ParseFile(f.Name, f.Text)
		return err == nil && len(in.Documents) > 0 && !slices.ContainsFunc(in.Documents, MayBeConversion)
	})
}

// MayBeConversion is true of all documents but objects of another group and kind.
func MayBeConversion(document []byte) bool {
	_, gvk, err := manifest.ParseObject(document)
	group, _, _ := strings.Cut(syntax.APIVersion, "/")
	return err != nil || gvk.Group == group || gvk.Kind == syntax.Kind
}

// ParseCRDs returns the CRDs of all files, and what is wrong with any as findings. Where ctx ends, it soon returns some.
//
//nolint:contextcheck,nolintlint // crdschema gives a context to what does not use it; contextcheck reads this itself
func ParseCRDs(ctx context.Context, files []File) ([]*crdschema.CRD, []finding.Finding) {
	var crds []*crdschema.CRD
	findings := make([]finding.Finding, 0, len(files))
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		parsed, err := crdschema.Parse(f.Name, f.Text)
		crds = append(crds, parsed...)
		findings = append(findings, check.ReadError(err)...)
	}
	return crds, findings
}
