package main

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// A ruleLoader makes a set of files of rules and of CRDs.
type ruleLoader func(rules, crds []textFile) ruleSet

// withoutPanics returns a loader that leaves out the files over which load panics, each with a finding: what is wrong with one
// must not make other kinds unreadable. It panics where files do so only together.
func withoutPanics(load ruleLoader) ruleLoader {
	return func(rules, crds []textFile) (set ruleSet) {
		if survive(func() { set = load(rules, crds) }) == nil {
			return set
		}
		var out leftOut
		crds = out.without(crds, func(files []textFile) { load(nil, files) })
		rules = out.without(rules, func(files []textFile) { load(files, crds) })
		set = load(rules, crds)
		set.findings = finding.Sort(append(out.findings, set.findings...))
		set.broken += len(out.findings)
		set.panicked = out.first
		return set
	}
}

// leftOut are the files that could not be loaded.
type leftOut struct {
	findings []finding.Finding
	first    error // of the panics
}

// without returns those of the files that load survives, which it looks for by halves.
func (o *leftOut) without(files []textFile, load func(files []textFile)) []textFile {
	err := survive(func() { load(files) })
	switch {
	case err == nil || len(files) == 0:
		return files
	case len(files) == 1:
		if o.first == nil {
			o.first = err
		}
		o.findings = append(o.findings, finding.Finding{
			Pos: finding.Position{File: files[0].name}, Code: "panic", Message: err.Error(),
			Hint: "report it with the file, which is left out meanwhile",
		})
		return nil
	}
	half := len(files) / 2
	return slices.Concat(o.without(files[:half], load), o.without(files[half:], load))
}
