package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/review"
)

func newReviewCommand(p *program) *cobra.Command {
	var ruled ruleFlags
	cmd := &cobra.Command{
		Use:   "review [--rules PATH --crds PATH] < review.json",
		Short: "Answer one ConversionReview from stdin",
		Long: `Answer the ConversionReview on stdin, such as a captured request body, byte for byte as serve would. The exit
code is 1 if the answer is Failed, or if there is none because stdin is no review.`,
		Example: `  webhookd review < testdata/conversionreviews/` + sampleName,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := ruled.check(); err != nil {
				return usage(err, "")
			}
			return p.review(cmd.Context(), &ruled)
		},
	}
	cmd.Flags().SortFlags = false
	ruled.add(cmd.Flags())
	return cmd
}

func (p *program) review(ctx context.Context, ruled *ruleFlags) error {
	registry, err := p.registry(ruled)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(p.stdin)
	if err != nil {
		return fmt.Errorf("cannot read the review: %w: stdin", err)
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

// tellPanic shows a panic to whoever is to mend the converter.
func (p *program) tellPanic(r review.Panic) {
	fmt.Fprintf(p.stderr, "webhookd: converter panicked: %s %s -> %s: %s\n%s", r.Pair.Kind, r.Pair.From, r.Pair.To, r.Type, r.Stack)
}
