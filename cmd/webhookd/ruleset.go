package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/builtin"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// newRegistry returns the converters that are compiled in and those of kinds that rules make.
func newRegistry(ruled []converters.Kind) (*converters.Registry, error) {
	return converters.NewRegistry(append(builtin.Kinds(), ruled...)...)
}

// A ruleSet is what files of rules and of CRDs make: the kinds in which nothing is wrong, and all that is.
type ruleSet struct {
	files    []textFile // of rules
	kinds    []converters.Kind
	crds     []*crdschema.CRD
	findings []finding.Finding
}

// loadRules compiles rules against CRDs.
func loadRules(ruleFiles, crdFiles []textFile) ruleSet {
	ruleFiles = filesOfRules(ruleFiles)
	crds, findings := parseCRDs(crdFiles)
	files := make([]rules.Source, 0, len(ruleFiles))
	for _, f := range ruleFiles {
		files = append(files, rules.Source{Name: f.name, Text: f.text})
	}
	set, found := rules.Load(files, crds, rules.Options{})
	s := ruleSet{files: ruleFiles, crds: crds, findings: append(findings, found...)}
	compiledIn := compiledInKinds()
	for _, k := range set.Kinds() {
		if !compiledIn[k.GroupKind] {
			s.kinds = append(s.kinds, k)
		}
	}
	s.findings = finding.Sort(append(s.findings, compiledInFindings(s.conversions(), crds)...))
	return s
}

// conversions returns the Conversions of all files, as far as they can be read.
func (s *ruleSet) conversions() []*syntax.Conversion {
	var all []*syntax.Conversion
	for _, f := range s.files {
		file, _ := syntax.Parse(f.name, f.text)
		all = append(all, file.Conversions...)
	}
	return all
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

func compiledInKinds() map[schema.GroupKind]bool {
	kinds := make(map[schema.GroupKind]bool)
	for _, k := range builtin.Kinds() {
		kinds[k.GroupKind] = true
	}
	return kinds
}

// compiledInFindings says which kinds have both rules and a converter of Go.
func compiledInFindings(conversions []*syntax.Conversion, crds []*crdschema.CRD) []finding.Finding {
	var findings []finding.Finding
	compiledIn := compiledInKinds()
	for _, c := range conversions {
		i := slices.IndexFunc(crds, func(crd *crdschema.CRD) bool { return crd.Name == c.Name })
		if i < 0 || !compiledIn[crds[i].GroupKind()] {
			continue
		}
		findings = append(findings, finding.Finding{
			Pos: c.NamePos, Code: "compiled-in",
			Message: fmt.Sprintf("a converter for this kind is compiled in: %s", crds[i].GroupKind()),
			Hint:    "remove its Conversion, or build webhookd without that converter",
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

// parseCRDs returns the CRDs of all files, and what is wrong with any as findings.
func parseCRDs(files []textFile) ([]*crdschema.CRD, []finding.Finding) {
	var crds []*crdschema.CRD
	var findings []finding.Finding
	for _, f := range files {
		parsed, err := crdschema.Parse(f.name, f.text)
		crds = append(crds, parsed...)
		findings = append(findings, crdFindings(f.name, err)...)
	}
	return crds, findings
}

func crdFindings(file string, err error) []finding.Finding {
	if err == nil {
		return nil
	}
	problems, ok := errors.AsType[crdschema.ParseErrors](err)
	if !ok {
		return []finding.Finding{{Pos: finding.Position{File: file}, Code: "crd", Message: err.Error()}}
	}
	findings := make([]finding.Finding, 0, len(problems))
	for _, p := range problems {
		findings = append(findings, finding.Finding{
			Pos: finding.Position{File: p.File, Line: p.Line}, Code: "crd", Message: p.Text,
		})
	}
	return findings
}
