package conformance

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Suite is the webhook of one kind, and how thoroughly it is tested.
type Suite struct {
	// Post posts a review, and returns the body of an answer with HTTP 200. It is called from
	// several goroutines.
	Post func(ctx context.Context, review []byte) ([]byte, error)
	// CRD has the schemas of the versions, with a Strategy.
	CRD *crdschema.CRD
	// Seed is that of all random choices. Objects is how many random objects of each version every
	// check takes.
	Seed, Objects uint64
	// Drops are the places that the webhook loses on purpose.
	Drops []hold.Drop
	// Progress, if set, is called before each check, with the number of checks that are done and of
	// all that are made.
	Progress func(check string, done, total int)
}

// A Result is that of one check.
type Result struct {
	*Check

	hold.Score
	// Untested says why there was nothing to check, "" if there was.
	Untested string
}

// Run makes all checks except some, in the order of Checks. It fails if the webhook cannot be
// called, if no valid object can be made, and with ctx.
func (s Suite) Run(ctx context.Context, except ...string) ([]Result, error) {
	r := &run{Suite: s}
	var err error
	r.runner, err = hold.Suite{
		Kind: &converters.Kind{GroupKind: s.CRD.GroupKind(), Versions: s.CRD.VersionNames()}, Remote: r.convert,
		CRD: s.CRD, Seed: s.Seed, Drops: s.Drops, Stored: true,
	}.Prepare()
	if err != nil {
		return nil, err
	}
	if len(r.runner.Versions) < 2 {
		return nil, fmt.Errorf("CRD with one version, so nothing is ever converted: %s", s.CRD.Name)
	}
	if err := r.find(ctx); err != nil {
		return nil, err
	}
	var results []Result
	checks := slices.DeleteFunc(Checks(), func(c Check) bool { return slices.Contains(except, c.Name) })
	for _, check := range checks {
		if s.Progress != nil {
			s.Progress(check.Name, len(results), len(checks))
		}
		result := Result{Check: &check, Untested: "no review is answered"}
		if silent := len(results) > 0 && results[0].Name == reviewCheck && results[0].Failed == results[0].Objects; !silent {
			if result.Score, result.Untested, err = check.run(ctx, r); err != nil {
				return results, fmt.Errorf("check %s: %w", check.Name, err)
			}
			if result.Untested = cmp.Or(result.Untested, "no object is converted"); result.Objects > 0 {
				result.Untested = ""
			}
		}
		results = append(results, result)
	}
	return results, nil
}

// A run is one run of a suite.
type run struct {
	Suite

	runner *hold.Runner
}

// find makes sure that there are objects and a webhook.
func (r *run) find(ctx context.Context) error {
	for _, version := range r.runner.Versions {
		for index := range max(r.Objects, 1) {
			object := r.runner.Object(version, index)
			if object == nil {
				continue
			}
			_, err := r.ask(ctx, "v1", r.runner.Others(version)[0], object)
			if err != nil && !isAnswer(err) && !isHangup(err) {
				return err
			}
			return nil
		}
	}
	return fmt.Errorf("no valid object could be made from the schemas: %s", r.CRD.Name)
}

// A call is an object to convert.
type call struct {
	index    uint64
	from, to string
	object   []byte
}

// violation says what is wrong with the answer to a call.
func (r *run) violation(c call, format string, args ...any) *hold.ViolationError {
	return &hold.ViolationError{From: c.from, To: c.to, Problem: fmt.Sprintf(format, args...), Object: c.object, Seed: r.Seed, Index: c.index}
}
