package lsp

import (
	"context"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// An analysis is what a version of a document means. It is immutable.
type analysis struct {
	file       string
	crds       []*crdschema.CRD
	findings   []finding.Finding
	directions map[string][]check.Direction // by the name of the CRD
	sets       map[string][]scope           // the places that use each rule set
	ruleSets   []namedSet
}

// analyze checks the first of the files against the CRDs. The others have rule sets for it.
func analyze(ctx context.Context, load ruleset.Loader, files, crds []ruleset.File) (*analysis, error) {
	set, err := load(ctx, files, crds)
	if err != nil {
		return nil, err
	}
	a := &analysis{file: files[0].Name, crds: set.CRDs, directions: map[string][]check.Direction{}, sets: scopesOf(&set), ruleSets: ruleSetsOf(files)}
	named := func(f finding.Finding) bool { return f.Pos.File == a.file || f.Pos.File == "" }
	for _, f := range set.Findings {
		switch {
		case named(f):
			a.findings = append(a.findings, f)
		case f.IsError() && slices.ContainsFunc(crds, func(crd ruleset.File) bool { return crd.Name == f.Pos.File }):
			f.Message, f.Pos = "CRD cannot be used: "+f.String(), finding.Position{File: a.file}
			a.findings = append(a.findings, f)
		}
	}
	if set.Bound != nil {
		for _, k := range set.Bound.Kinds {
			a.directions[k.CRD.Name] = check.Explain(k)
		}
	}
	return a, ctx.Err()
}

// diagnostics returns the findings for a client.
func (a *analysis) diagnostics(text string, e encoding) []diagnostic {
	all := make([]diagnostic, 0, len(a.findings))
	of := lines(text)
	byFinding := finding.SplitLines(text)
	for _, f := range a.findings {
		d := diagnostic{Code: f.Code, Source: "webhookd", Message: f.Text(), Severity: 1 + slices.Index(finding.Severities(), f.Severity)}
		if d.Severity = max(1, d.Severity); d.Severity == 3 && f.Hint == "" {
			d.Severity = 4 // a hint: nothing is wrong
		}
		if f.Hint != "" {
			d.Message += "\n" + f.Hint
		}
		line, from, to := max(0, f.Pos.Line-1), 0, 0
		if len(byFinding) == len(of) && line < len(of) {
			from, to = byteOf(of[line], f.Pos.Column), len(strings.TrimRight(of[line], " "))
			if f.Pos.Column == 0 {
				from = len(of[line]) - len(strings.TrimLeft(of[line], " "))
			}
			if f.EndColumn > f.Pos.Column {
				to = byteOf(of[line], f.EndColumn)
			}
		}
		d.Range = e.span(of, min(line, len(of)-1), from, max(from, to))
		all = append(all, d)
	}
	return all
}
