package laws

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/laws/conformance"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// checkWebhook tests a webhook with the objects of each CRD.
func checkWebhook(ctx context.Context, p *voice.Program, o *compareOptions) error {
	set, err := o.ruled.Load(ctx, p)
	if err != nil {
		return err
	}
	crds, err := convertedCRDs(set.CRDs, o.kind)
	if err != nil {
		return err
	}
	return each(ctx, crds, func(ctx context.Context, crd *crdschema.CRD) (bool, error) {
		name := crd.GroupKind().String()
		progress := voice.NewProgress(p.Stderr, name)
		results, err := conformance.Suite{
			Post: o.theirs.Post, CRD: crd, Seed: o.seed, Objects: o.count, Drops: o.dropped,
			Progress: func(check string, done, total int) { progress.Step(done, total, "check", check) },
		}.Run(ctx, o.skip...)
		progress.Clear()
		if err != nil {
			return false, fmt.Errorf("%s, asked for objects of %s: %w", o.place.URL, name, err)
		}
		if crd != crds[0] {
			fmt.Fprintln(p.Stdout)
		}
		return printResults(p, o, name, results)
	})
}

// convertedCRDs returns the CRDs with several versions, or the one of a kind.
func convertedCRDs(all []*crdschema.CRD, only string) ([]*crdschema.CRD, error) {
	crds := slices.DeleteFunc(slices.Clone(all), func(crd *crdschema.CRD) bool { return len(crd.Versions) < 2 })
	if len(crds) == 0 {
		return nil, voice.Usage(errors.New("nothing to convert: no CRD has several versions"), "give the CRDs of the webhook with --crds")
	}
	return voice.Choose(crds, func(crd *crdschema.CRD) string { return crd.GroupKind().String() }, "kind", only, "kind with a CRD of several versions")
}

// printResults prints the score, the table of the checks, and what has failed. It reports whether
// anything has.
func printResults(p *voice.Program, o *compareOptions, kind string, results []conformance.Result) (bool, error) {
	var details bytes.Buffer
	var rows [][]string
	passed, failed := 0, 0
	for i := range results {
		r := &results[i]
		switch {
		case r.Failed > 0:
			failed++
			rows = append(rows, []string{r.Name, "FAIL", fmt.Sprintf("%d of %d fail", r.Failed, r.Objects)})
			writeFailure(&details, r)
			fmt.Fprintf(&details, "again: %s\n", o.again("compare", kind, o.seed, cmp.Or(r.First.Index+1, 1), o.words()...))
		case r.Untested != "":
			rows = append(rows, []string{r.Name, "-", r.Untested})
		default:
			passed++
			rows = append(rows, []string{r.Name, "pass", fmt.Sprint(r.Objects)})
		}
	}
	score := fmt.Sprintf("%s: %d of %s pass, %d fail, %d not tested (seed %d)\n", kind, passed, voice.Count(len(results), "check"), failed, len(results)-passed-failed, o.seed)
	return failed > 0, p.Print(score + voice.Table(rows) + details.String())
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
	words := []string{"--server", o.place.URL}
	if o.place.CAFile != "" {
		words = append(words, "--ca-file", o.place.CAFile)
	}
	for _, path := range o.drops {
		words = append(words, "--drop", path)
	}
	return words
}

// postFiles posts a review with each object, and prints what the webhook changes. It prints nothing
// unless all objects are converted.
func postFiles(ctx context.Context, p *voice.Program, o *compareOptions) error {
	inputs, err := offline.Objects(p, o.files)
	if err != nil {
		return err
	}
	results, err := offline.Each(inputs, func(_ string, document []byte) ([]byte, error) {
		_, gvk, err := manifest.ParseObject(document)
		if err != nil {
			return nil, err
		}
		return o.theirs.Remote(gvk.Group)(ctx, document, gvk.Version, o.to)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", o.place.URL, err)
	}
	out, err := offline.Diffs(inputs, results, "", o.to)
	if err != nil {
		return err
	}
	if len(out) == 0 {
		p.Note("the webhook changes nothing, as for objects that are at this version: %s", o.place.URL)
	}
	_, err = p.Stdout.Write(p.PaintDiff(out))
	return err
}
