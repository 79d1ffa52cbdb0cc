package review

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// New returns the command review.
func New(p *voice.Program) *cobra.Command {
	var ruled offline.Flags
	var remote remoteFlags
	cmd := &cobra.Command{
		Use:   "review [FILE...] [--rules PATH --crds PATH] [--server URL | --service NAMESPACE/NAME]",
		Short: "Answer a ConversionReview, or post one to a running webhook",
		Long: `Answer the ConversionReview in a file or on stdin, such as a captured request body, byte for byte as serve would. The
exit code is 1 if the answer is Failed, or if it is not a ConversionReview.

With --server or --service the review is posted to a running webhookd, as the API server does it: over HTTP/1.1, with the
server's name verified. The answer must have the uid of the review, and the same number of objects at the requested
version. --probe posts test reviews instead of files. webhookd compare -f FILE posts an object.`,
		Example: `  webhookd review review.json --rules rules.yaml --crds crd.yaml
  webhookd review review.json --server https://localhost:9443/crdconvert --ca-file ca.crt
  webhookd review --service webhookd/webhookd --ca-file ca.crt --probe CronTab.example.com/v1beta1:v1`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(remote.files)+len(remote.probes) == 0 {
				remote.files = []string{offline.Stdin}
			}
			if err := errors.Join(ruled.Check(remote.files...), remote.check(cmd.Flags())); err != nil {
				return voice.Usage(err, "")
			}
			if remote.given() {
				return reviewRemotely(cmd.Context(), p, &remote)
			}
			return run(cmd.Context(), p, &ruled, remote.files)
		},
	}
	ruled.Add(cmd.Flags())
	remote.add(cmd.Flags())
	voice.FilesAfter(cmd, "filename")
	return cmd
}

// review answers the ConversionReviews in files.
func run(ctx context.Context, p *voice.Program, ruled *offline.Flags, files []string) error {
	set, err := ruled.Load(ctx, p)
	if err != nil {
		return err
	}
	registry, err := set.Started(ctx)
	if err != nil {
		return err
	}
	for _, name := range files {
		body, err := readReview(p, name)
		if err != nil {
			return err
		}
		if err := answer(ctx, p, registry, body); err != nil {
			if len(files) > 1 {
				err = fmt.Errorf("%s: %w", name, err)
			}
			return err
		}
	}
	return nil
}

// readReview reads a ConversionReview from a file or stdin.
func readReview(p *voice.Program, name string) ([]byte, error) {
	from := ruleset.Origin{What: "the review", Remedy: "name the file of a ConversionReview, or pipe one into it"}
	if name != offline.Stdin {
		body, err := os.ReadFile(name) //nolint:gosec // the user's own file
		if err != nil {
			return nil, voice.Usage(from.Unread(name, err), "")
		}
		return body, nil
	}
	body, err := offline.ReadStdin(p, from)
	if err == nil && len(bytes.TrimSpace(body)) == 0 {
		err = errors.New("nothing to answer, pipe a ConversionReview into it: stdin")
	}
	return body, err
}

// answer writes the answer to one review.
func answer(ctx context.Context, p *voice.Program, registry *converters.Registry, body []byte) error {
	var result review.Result
	reviewer := review.NewReviewer(
		func() *converters.Registry { return registry },
		review.Hooks{
			ReviewDone: func(_ context.Context, r review.Result) { result = r },
			Panicked:   func(_ context.Context, r review.Panic) { offline.PrintPanic(p, r) },
		})
	answer, err := reviewer.Review(ctx, nil, body)
	if err != nil {
		return hintObject(err, body, "this is an object, not a review: webhookd convert FILE --to VERSION converts it")
	}
	if _, err := p.Stdout.Write(answer); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	if result.Message != "" {
		return fmt.Errorf("review failed: %s", result.Message)
	}
	return nil
}

// hintObject adds a remedy to an error about a body if that is an object, not a review.
func hintObject(err error, body []byte, hint string) error {
	file, unread := manifest.ParseFile("", body)
	if unread != nil || len(file.Documents) == 0 {
		return err
	}
	if _, gvk, unread := manifest.ParseObject(file.Documents[0]); unread != nil || gvk.Kind == "ConversionReview" {
		return err
	}
	return voice.Hint(err, hint)
}
