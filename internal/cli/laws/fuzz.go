package laws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// NewFuzz returns the command fuzz.
func NewFuzz(p *voice.Program) *cobra.Command {
	var o fuzzOptions
	cmd := &cobra.Command{
		Use:   "fuzz [RULES...] --crds PATH [--objects COUNT] [--for DURATION] [--seed SEED] [--kind KIND.GROUP]",
		Short: "Check the laws of conversion on random objects",
		Long: `Make random objects from the schemas of CRDs, convert them, and check the laws of conversion: a round trip gives the same
object, an edit at the other version is not lost, the API server finds nothing to prune, and so on. It tests each kind that
has a CRD and either rules or a compiled-in converter.

If a law does not hold, fuzz makes the object as small as it can. It prints the law, what differs, the cause (a rule, a
default or a missing rule), what to write, and the object, and exits with 1. The same seed makes the same objects.

Notes follow if all laws hold. They say why there are fewer or poorer objects than asked for, by path, and count the valid
objects that become objects which the other version refuses. Notes do not change the exit code.

webhookd check --live holds the objects of a cluster to the same laws, webhookd compare --server tests a running webhook.`,
		Example: `  webhookd fuzz rules.yaml --crds crd.yaml
  webhookd fuzz conversions/ --for 30s --kind CronTab.stable.example.com
  webhookd fuzz --crds crds/ --objects 20000 --seed 7`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.plant(cmd)
			if o.time > 0 && !cmd.Flags().Changed("objects") && !cmd.Flags().Changed("n") {
				o.count = 0
			}
			return runFuzz(cmd.Context(), p, &o)
		},
	}
	const objects = 2000
	o.add(cmd, objects, "objects for each version, 0 for no limit but the time of --for")
	cmd.Flags().Uint64VarP(&o.count, "n", "n", objects, "`count` of objects, as earlier builds named it")
	_ = cmd.Flags().MarkHidden("n") // the flag is there
	cmd.Flags().DurationVar(&o.time, "for", 0, "time limit for all kinds together, such as 30s; without --objects, all of it is used (default no limit)")
	return cmd
}

// fuzzOptions are the flags of fuzz.
type fuzzOptions struct {
	sampleFlags

	time time.Duration
}

// runFuzz tests all kinds.
func runFuzz(ctx context.Context, p *voice.Program, o *fuzzOptions) error {
	set, err := o.ruled.Load(ctx, p,
		voice.Problem(len(o.ruled.Rules) == 0 && len(o.ruled.CRDs) == 0, "no schemas to make objects from: give the file or folder of the CRDs with --crds"),
		o.ruled.Check(), voice.Problem(o.time < 0, "--for: negative time limit, give a duration such as 30s"))
	if err != nil {
		return err
	}
	kinds, err := o.kinds(set)
	if err != nil {
		return err
	}
	return each(ctx, kinds, func(ctx context.Context, kind *converters.Kind) (bool, error) {
		violated, err := fuzzKind(ctx, p, set, kind, o, o.time/time.Duration(len(kinds)))
		if err != nil {
			err = fmt.Errorf("%s: %w", kind.Name(), err)
		}
		return violated, err
	})
}

// fuzzKind checks the laws for one kind, and reports whether one is violated.
func fuzzKind(
	ctx context.Context, p *voice.Program, set *ruleset.Set, kind *converters.Kind, o *fuzzOptions, limit time.Duration,
) (bool, error) {
	cause := diagnosis.Of(set.BoundKind(kind.GroupKind))
	progress := voice.NewProgress(p.Stderr, kind.Name())
	suite := hold.Suite{
		Kind: kind, Seed: o.seed, CRD: set.CRD(kind.GroupKind), Stored: true, Walks: true, Forgeries: true, Outcomes: true,
		Hints: cause.Hints, Drops: cause.Drops, MayBeAbsent: cause.MayBeAbsent,
		Progress: func(s hold.Stats) {
			progress.Show(s.Objects, o.count*uint64(len(kind.Versions)), "object",
				voice.Count(s.Fragments, "fragment"), voice.Count(s.Edits, "edit"), voice.Count(s.Walks, "walk"))
		},
	}
	const unlimited = 1<<63 - 1
	limited, cancel := context.WithTimeout(ctx, cmp.Or(limit, unlimited))
	defer cancel()
	stats, err := suite.Fuzz(limited, o.count)
	progress.Clear()
	if violation, ok := errors.AsType[*hold.ViolationError](err); ok {
		return true, printViolation(p, o, kind, cause, violation)
	}
	if err != nil && limited.Err() == nil {
		return false, err
	}
	notes := cause.Notes(&stats)
	switch {
	case stats.Objects > 0:
	case ctx.Err() == nil && limited.Err() != nil:
		return false, errors.New("no object was done in time, give it more with --for")
	case limited.Err() == nil:
		_, err = io.WriteString(p.Stdout, notes)
		return false, errors.Join(err, errors.New("no valid object could be made from the schemas"))
	}
	_, err = fmt.Fprintf(p.Stdout, "%s: all laws hold on %s, %s of them, %s, %s and %s (seed %d)\n%s", kind.Name(),
		voice.Count(stats.Objects, "object"), voice.Count(stats.Fragments, "fragment"), voice.Count(stats.Edits, "edit"), voice.Count(stats.Walks, "walk"),
		voice.Count(stats.Forgeries, "forged object"), o.seed, notes)
	return false, err
}
