package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

func newReviewCommand(p *program) *cobra.Command {
	var ruled ruleFlags
	var remote remoteFlags
	cmd := &cobra.Command{
		Use:   "review [--rules PATH --crd PATH] [--server URL | --service NAMESPACE/NAME] < review.json",
		Short: "Answer one ConversionReview from stdin",
		Long: `Answer the ConversionReview on stdin, such as a captured request body, byte for byte as serve would. The exit
code is 1 if the answer is Failed, or if there is none because stdin is no review.

With --server or --service it is posted to a webhookd that runs, as the API server posts it: over HTTP/1.1, with the name
of the server verified. The answer must be to the uid of the review, with as many objects, at the version that it asked
for. --filename posts files, and --probe test reviews, instead of stdin.`,
		Example: `  webhookd review --rules rules.yaml --crd crd.yaml < review.json
  webhookd review --service webhookd/webhookd --ca-file ca.crt --probe CronTab.example.com/v1beta1:v1`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			body := stdinName
			if len(remote.files)+len(remote.probes) > 0 {
				body = ""
			}
			if err := errors.Join(ruled.check(body), remote.check(cmd.Flags())); err != nil {
				return usage(err, "")
			}
			if remote.given() {
				return p.reviewRemotely(cmd.Context(), &remote)
			}
			return p.review(cmd.Context(), &ruled)
		},
	}
	cmd.Flags().SortFlags = false
	ruled.add(cmd.Flags())
	remote.add(cmd.Flags())
	return cmd
}

func (p *program) review(ctx context.Context, ruled *ruleFlags) error {
	registry, err := p.registry(ctx, ruled)
	if err != nil {
		return err
	}
	body, err := p.readStdin(ruleset.Origin{What: "the review", Remedy: "pipe a ConversionReview into it"})
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return errors.New("nothing to answer, pipe a ConversionReview into it: stdin")
	}
	var result review.Result
	reviewer := review.NewReviewer(
		func() *converters.Registry { return registry },
		review.Hooks{
			ReviewDone: func(_ context.Context, r review.Result) { result = r },
			Panicked:   func(_ context.Context, r review.Panic) { p.tellPanic(r) },
		})
	answer, err := reviewer.Review(ctx, nil, body)
	if err != nil {
		return err
	}
	if _, err := p.stdout.Write(answer); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	if result.Message != "" {
		return fmt.Errorf("review failed: %s", result.Message)
	}
	return nil
}

// tellPanic shows a panic to whoever is to fix the converter.
func (p *program) tellPanic(r review.Panic) {
	fmt.Fprintf(p.stderr, "webhookd: converter panicked: %s %s -> %s: %s\n%s", r.Pair.Kind, r.Pair.From, r.Pair.To, r.Type, r.Stack)
}
