package laws

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/laws/conformance"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// checkSkips reports names of checks that there are not.
func (o *compareOptions) checkSkips() error {
	var problems []error
	names := conformance.Names()
	for _, name := range o.skip {
		if !slices.Contains(names, name) {
			problems = append(problems, fmt.Errorf("--skip %q: no such check, %s", name, didyoumean.Hint(name, names, "the checks are "+strings.Join(names, ", "))))
		}
	}
	return errors.Join(problems...)
}

// checkWebhook tests a webhook with the objects of each CRD.
func checkWebhook(ctx context.Context, p *voice.Program, o *compareOptions) error {
	endpoint, err := o.theirs.Endpoint()
	if err != nil {
		return voice.Usage(err, "")
	}
	drops, err := parseDrops(o.drops)
	if err != nil {
		return voice.Usage(err, "")
	}
	set, err := o.ruled.Load(ctx, p)
	if err != nil {
		return err
	}
	crds, err := convertedCRDs(set.CRDs, o.kind)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	failed := false
	for i, crd := range crds {
		name := crd.GroupKind().String()
		progress := voice.NewProgress(p.Stderr, name)
		results, err := conformance.Suite{
			Post: endpoint.Post, CRD: crd, Seed: o.seed, Objects: o.count, Drops: drops,
			Progress: func(check string, done, total int) { progress.Step(done, total, "check", check) },
		}.Run(ctx, o.skip...)
		progress.Clear()
		switch {
		case ctx.Err() != nil:
			return errors.New("interrupted")
		case err != nil:
			return fmt.Errorf("%w: %s, asked for objects of %s", err, o.theirs.Server, name)
		}
		if i > 0 {
			fmt.Fprintln(p.Stdout)
		}
		if err := printResults(p, o, name, results); err != nil {
			return err
		}
		failed = failed || slices.ContainsFunc(results, func(r conformance.Result) bool { return r.Failed > 0 })
	}
	if failed {
		return voice.ErrReported
	}
	return nil
}

// convertedCRDs returns the CRDs with several versions, or the one of a kind.
func convertedCRDs(all []*crdschema.CRD, only string) ([]*crdschema.CRD, error) {
	var crds []*crdschema.CRD
	var names []string
	for _, crd := range all {
		if len(crd.Versions) < 2 {
			continue
		}
		names = append(names, crd.GroupKind().String())
		if only == "" || only == crd.GroupKind().String() {
			crds = append(crds, crd)
		}
	}
	switch {
	case len(crds) > 0:
		return crds, nil
	case len(names) == 0:
		return nil, voice.Usage(errors.New("nothing to convert: no CRD has several versions"), "give the CRDs of the webhook with --crds")
	}
	return nil, voice.Usage(fmt.Errorf("--kind %s: no such kind with a CRD of several versions", only), didyoumean.Hint(only, names, "there is "+strings.Join(names, ", ")))
}

// printResults prints the score, the table of the checks, and what has failed.
func printResults(p *voice.Program, o *compareOptions, kind string, results []conformance.Result) error {
	var out, details bytes.Buffer
	passed, failed := 0, 0
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for i := range results {
		r := &results[i]
		switch {
		case r.Failed > 0:
			failed++
			fmt.Fprintf(table, "%s\tFAIL\t%d of %d fail\n", r.Name, r.Failed, r.Objects)
			writeFailure(&details, r)
			fmt.Fprintf(&details, "again: %s\n", again("compare", &o.ruled, kind, o.seed, cmp.Or(r.First.Index+1, 1), o.words()...))
		case r.Untested != "":
			fmt.Fprintf(table, "%s\t-\t%s\n", r.Name, r.Untested)
		default:
			passed++
			fmt.Fprintf(table, "%s\tpass\t%d\n", r.Name, r.Objects)
		}
	}
	fmt.Fprintf(p.Stdout, "%s: %d of %s pass, %d fail, %d not tested (seed %d)\n", kind, passed, voice.Count(len(results), "check"), failed, len(results)-passed-failed, o.seed)
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := p.Stdout.Write(append(out.Bytes(), details.Bytes()...))
	return err
}

// writeFailure says what a check requires, what happened instead, and with which object.
func writeFailure(out *bytes.Buffer, r *conformance.Result) {
	v := r.First
	direction := v.From + " -> " + v.To
	if v.From == "" {
		direction = "to " + v.To
	}
	fmt.Fprintf(out, "\n%s, %s\nrequired: %s\notherwise: %s\n", r.Name, direction, r.Requires, r.Otherwise)
	writeProblem(out, v)
	if v.Object != nil {
		writeObject(out, v)
	}
}

// words are the flags of the webhook, for a command that is printed.
func (o *compareOptions) words() []string {
	words := []string{"--server", o.theirs.Server}
	if o.theirs.CAFile != "" {
		words = append(words, "--ca-file", o.theirs.CAFile)
	}
	for _, path := range o.drops {
		words = append(words, "--drop", path)
	}
	return words
}
