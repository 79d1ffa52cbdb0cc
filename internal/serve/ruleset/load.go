package ruleset

import (
	"bytes"
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
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// Compiled holds what a program compiles in: kinds with converters in Go, and functions that rules
// call by name. It is read-only.
type Compiled struct {
	Kinds     []converters.Kind
	Functions map[string]transform.GoFunc
}

// Has reports whether a converter for a kind is compiled in.
func (c Compiled) Has(gk schema.GroupKind) bool {
	return slices.ContainsFunc(c.Kinds, func(k converters.Kind) bool { return k.GroupKind == gk })
}

// Registry returns the compiled-in converters and those of rules. When a kind has both, the rules
// win: they call Go functions.
func (c Compiled) Registry(ruled []converters.Kind) (*converters.Registry, error) {
	all := slices.DeleteFunc(slices.Clone(c.Kinds), func(k converters.Kind) bool {
		return slices.ContainsFunc(ruled, func(r converters.Kind) bool { return r.GroupKind == k.GroupKind })
	})
	return converters.NewRegistry(append(all, ruled...)...)
}

// A Set is the result of loading rules and CRDs: the kinds that the engine can convert, and all
// findings.
type Set struct {
	compiled        Compiled
	rules           *rules.Set
	Files, CRDFiles []File
	Before          []File               // old rules to compare with
	Conversions     []*syntax.Conversion // those that can be read
	Bound           *binding.Set
	Kinds           []converters.Kind // kinds that can be converted
	wrong           map[string]bool   // CRDs of kinds with errors, whose rules do not do all that they say
	CRDs            []*crdschema.CRD
	Passed          []File            // files that are skipped
	Foreign         int               // files in folders that hold no Kubernetes objects, which are skipped
	Findings        []finding.Finding // of all severities
	Broken          int               // number of findings that prevent a conversion; the checker has the others
	Panicked        error             // first panic that left a file out, or nil
}

// Load checks rules against CRDs, and compiles them. A kind with findings of the checker can still
// be converted, as the offline verbs do: nothing is lost, but some values are not where the rules
// want them. The error is that of ctx.
func (c Compiled) Load(ctx context.Context, ruleFiles, crdFiles []File) (Set, error) {
	s := Set{compiled: c}
	ruleFiles, s.Passed = withoutSkipped(ruleFiles)
	crdFiles, passed := withoutSkipped(crdFiles)
	s.Passed = append(s.Passed, passed...)
	s.Files, s.Foreign = FilesOfRules(ruleFiles)
	s.CRDFiles = crdFiles
	var crdProblems []finding.Finding
	s.CRDs, crdProblems = ParseCRDs(ctx, crdFiles, c.meant(s.Files)...)
	set, loaded := rules.Load(ctx, s.sources(), s.CRDs, rules.Options{
		Go: c.Functions, Incomplete: len(crdProblems)+len(passed) > 0,
	})
	s.rules, s.Conversions, s.Bound = set, set.Conversions(), set.Bound()
	s.Kinds = slices.DeleteFunc(slices.Clone(set.Kinds()), func(k converters.Kind) bool { return s.refused(k.GroupKind) })
	grave := append(s.compiledInFindings(), loaded...)
	s.Broken = len(crdProblems) + len(grave)
	crdProblems = slices.DeleteFunc(crdProblems, func(f finding.Finding) bool { return saidOfFile(f, loaded) })
	checked, wrong := check.Check(ctx, s.Bound)
	s.wrong = wrong
	s.Findings = finding.Sort(slices.Concat(crdProblems, grave, checked, SkippedNotes(s.Passed)))
	return s, ctx.Err()
}

// Registry returns the converters of the set and the compiled-in ones.
func (s *Set) Registry() (*converters.Registry, error) { return s.compiled.Registry(s.Kinds) }

// OfPatches returns the set with converters of patches: rules write no defaults for what a patch
// lacks. Converters in Go are the same.
func (s *Set) OfPatches() *Set {
	of := *s
	of.Kinds = rules.OfPatches(s.Kinds)
	return &of
}

// Errors returns the findings that are errors: serve refuses the kinds that they are about.
func (s *Set) Errors() []finding.Finding { return finding.Worst(s.Findings, finding.Error) }

// Sound returns the kinds without errors.
func (s *Set) Sound() []converters.Kind {
	return slices.DeleteFunc(slices.Clone(s.Kinds), func(k converters.Kind) bool {
		crd := s.CRD(k.GroupKind)
		return crd == nil || s.wrong[crd.Name]
	})
}

// withoutSkipped separates files that are skipped.
func withoutSkipped(files []File) (read, passed []File) {
	for _, f := range files {
		if f.skipped {
			passed = append(passed, f)
		} else {
			read = append(read, f)
		}
	}
	return read, passed
}

// SkippedNotes returns a note for each file that is skipped.
func SkippedNotes(files []File) []finding.Finding {
	notes := make([]finding.Finding, 0, len(files))
	for _, f := range files {
		notes = append(notes, finding.Finding{
			Pos: finding.Position{File: f.Name}, Severity: finding.Note, Code: "skipped",
			Message: "skipped: " + errNotRegular.Error(), Hint: "put a file there, or take it out of the folder",
		})
	}
	return notes
}

// saidOfFile reports whether said has the same finding for the whole file. A file in a folder is
// read both as rules and as CRDs.
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

// LacksCRD reports whether rules lack their CRD.
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

// refused reports whether the rules of a kind are refused because a converter is compiled in.
func (s *Set) refused(gk schema.GroupKind) bool {
	return s.compiled.Has(gk) && !slices.ContainsFunc(s.Conversions, func(c *syntax.Conversion) bool {
		crd := s.CRD(gk)
		return crd != nil && crd.Name == c.Name && usesGo(c)
	})
}

// usesGo reports whether a rule of the Conversion names a Go function.
func usesGo(c *syntax.Conversion) bool {
	return slices.ContainsFunc(c.AllRules(), func(rule *syntax.Rule) bool { return rule.Go != nil })
}

// compiledInFindings returns a finding for each kind that has both rules and a converter in Go.
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

// FilesOfRules removes files found in folders that hold neither Conversions nor RuleSets, so that
// CRDs and cases may be next to the rules. A file that cannot be read stays: the parser of rules
// reports the reason. It also returns how many of those that it removes hold no Kubernetes objects
// at all, such as the values of a chart.
func FilesOfRules(files []File) (ofRules []File, foreign int) {
	for _, f := range files {
		in, err := manifest.ParseFile(f.Name, f.Text)
		switch {
		case !f.InFolder || err != nil || len(in.Documents) == 0:
			ofRules = append(ofRules, f)
		case !slices.ContainsFunc(in.Documents, manifest.MayBeObject):
			foreign++
		case slices.ContainsFunc(in.Documents, MayBeRules):
			ofRules = append(ofRules, f)
		}
	}
	return ofRules, foreign
}

// MayBeRules reports whether a document is not clearly an object of another group and kind.
func MayBeRules(document []byte) bool {
	_, gvk, err := manifest.ParseObject(document)
	group, _, _ := strings.Cut(syntax.APIVersion, "/")
	return err != nil || gvk.Group == group || gvk.Kind == syntax.Kind || gvk.Kind == syntax.KindRuleSets
}

// ParseCRDs returns the CRDs of all files, and findings about them. When ctx ends, it soon returns
// what it has. With names, it leaves out files in folders that do not mention any of these CRDs,
// unless one of them is in no other file: the others cost no time, and their mistakes do not count.
func ParseCRDs(ctx context.Context, files []File, names ...string) ([]*crdschema.CRD, []finding.Finding) {
	meant := slices.DeleteFunc(slices.Clone(files), func(f File) bool {
		return f.InFolder && len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool {
			plural, group, _ := strings.Cut(name, ".")
			return bytes.Contains(f.Text, []byte(plural)) && bytes.Contains(f.Text, []byte(group))
		})
	})
	crds, findings := parseCRDs(ctx, meant)
	missing := func(name string) bool {
		return !slices.ContainsFunc(crds, func(crd *crdschema.CRD) bool { return crd.Name == name })
	}
	if len(meant) < len(files) && slices.ContainsFunc(names, missing) {
		return parseCRDs(ctx, files)
	}
	return crds, findings
}

//nolint:contextcheck,nolintlint // the function in crdschema that takes a context does not use it; contextcheck reads this itself
func parseCRDs(ctx context.Context, files []File) ([]*crdschema.CRD, []finding.Finding) {
	var crds []*crdschema.CRD
	findings := make([]finding.Finding, 0, len(files))
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		parsed, err := apiserver.Parse(f.Name, f.Text)
		crds = append(crds, parsed...)
		findings = append(findings, check.ReadError(err)...)
	}
	return crds, findings
}

// meant returns the names of the CRDs that rules are for, none if that is not known: converters in
// Go may be for any.
func (c Compiled) meant(files []File) (names []string) {
	if len(c.Kinds) > 0 {
		return nil
	}
	for _, f := range files {
		parsed, _ := syntax.Parse(f.Name, f.Text)
		for _, conversion := range parsed.Conversions {
			names = append(names, conversion.Name)
		}
	}
	return names
}
