package ruleset

import (
	"context"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/panics"
)

// A Loader makes a set of files of rules and CRDs. Its error is that of ctx.
type Loader func(ctx context.Context, rules, crds []File) (Set, error)

// WithoutPanics returns a loader that leaves out each file that makes load panic, with a finding,
// so that other kinds stay readable. It panics if only a combination of files makes load panic.
func WithoutPanics(load Loader) Loader {
	return func(ctx context.Context, rules, crds []File) (set Set, err error) {
		if panics.Survive(func() { set, err = load(ctx, rules, crds) }) == nil {
			return set, err
		}
		var out leftOut
		crds = out.without(crds, func(files []File) { _, _ = load(ctx, nil, files) })
		rules = out.without(rules, func(files []File) { _, _ = load(ctx, files, crds) })
		if set, err = load(ctx, rules, crds); err != nil {
			return set, err
		}
		set.Findings = finding.Sort(append(out.findings, set.Findings...))
		set.Broken += len(out.findings)
		set.Panicked = out.first
		return set, nil
	}
}

// leftOut are the files that could not be loaded.
type leftOut struct {
	findings []finding.Finding
	first    error // first panic
}

// without returns the files that load survives. It finds them by bisection.
func (o *leftOut) without(files []File, load func(files []File)) []File {
	err := panics.Survive(func() { load(files) })
	switch {
	case err == nil || len(files) == 0:
		return files
	case len(files) == 1:
		if o.first == nil {
			o.first = err
		}
		o.findings = append(o.findings, finding.Finding{
			Pos: finding.Position{File: files[0].Name}, Code: "panic", Message: err.Error(),
			Hint: "report this with the file, which is left out until then",
		})
		return nil
	}
	half := len(files) / 2
	return slices.Concat(o.without(files[:half], load), o.without(files[half:], load))
}
