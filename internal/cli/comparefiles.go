package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// postFiles posts a review with each object, and prints what the webhook changes. It prints nothing
// unless all objects are converted.
func (p *program) postFiles(ctx context.Context, o *compareOptions) error {
	inputs, err := p.readInputs(o.files)
	if err != nil {
		return err
	}
	endpoint, err := o.theirs.endpoint()
	if err != nil {
		return usage(err, "")
	}
	var problems []error
	results := make([]manifest.File, len(inputs))
	for i := range inputs {
		in := &inputs[i]
		results[i] = manifest.File{Name: in.Name, Format: in.Format}
		for j, document := range in.Documents {
			_, gvk, err := manifest.ParseObject(document)
			if err == nil {
				document, err = endpoint.remote(gvk.Group)(ctx, document, gvk.Version, o.to)
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", in.Describe(j), err))
			}
			results[i].Documents = append(results[i].Documents, document)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%s: %w", o.theirs.server, err)
	}
	out, err := diffs(inputs, results, "", o.to)
	if err != nil {
		return err
	}
	if len(out) == 0 {
		p.note("the webhook changes nothing, as for objects that are at this version: %s", o.theirs.server)
	}
	_, err = p.stdout.Write(p.paintDiff(out))
	return err
}
