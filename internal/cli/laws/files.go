package laws

import (
	"context"
	"errors"
	"fmt"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// postFiles posts a review with each object, and prints what the webhook changes. It prints nothing
// unless all objects are converted.
func postFiles(ctx context.Context, p *voice.Program, o *compareOptions) error {
	inputs, err := offline.Objects(p, o.files)
	if err != nil {
		return err
	}
	endpoint, err := o.theirs.Endpoint()
	if err != nil {
		return voice.Usage(err, "")
	}
	var problems []error
	results := make([]manifest.File, len(inputs))
	for i := range inputs {
		in := &inputs[i]
		results[i] = manifest.File{Name: in.Name, Format: in.Format}
		for j, document := range in.Documents {
			_, gvk, err := manifest.ParseObject(document)
			if err == nil {
				document, err = endpoint.Remote(gvk.Group)(ctx, document, gvk.Version, o.to)
			}
			if err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", in.Describe(j), err))
			}
			results[i].Documents = append(results[i].Documents, document)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return fmt.Errorf("%s: %w", o.theirs.Server, err)
	}
	out, err := offline.Diffs(inputs, results, "", o.to)
	if err != nil {
		return err
	}
	if len(out) == 0 {
		p.Note("the webhook changes nothing, as for objects that are at this version: %s", o.theirs.Server)
	}
	_, err = p.Stdout.Write(p.PaintDiff(out))
	return err
}
