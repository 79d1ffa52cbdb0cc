package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// defaultObjects is how many objects of each version fuzz makes.
const defaultObjects = 2000

func newFuzzCommand(p *program) *cobra.Command {
	var o fuzzOptions
	cmd := &cobra.Command{
		Use:   "fuzz [RULES...] --crds PATH [--objects COUNT] [--for DURATION] [--seed SEED] [--kind KIND.GROUP]",
		Short: "Check the laws of conversion on random objects",
		Long: `Make random objects from the schemas of CRDs, convert them, and check the laws of conversion: a round trip gives the same
object, an edit at the other version is not lost, the API server finds nothing to prune, and so on. Objects are converted
back both as they are and as the API server stores them, with the defaults of the schema.

Some objects also take a walk: they are edited at all versions, while the API server stores one version and later another.
No version may hide an edit. Every object is also converted with forged annotations, which must not break the result.

It tests each kind that has a CRD and either rules or a compiled-in converter. Objects consist of values that the schemas
allow, and of values that the rules mention, such as the separators of templates.

If a law does not hold, fuzz makes the object and the walk as small as it can. It prints the law, what differs, the cause
(a rule, a default or a missing rule), what to write, the steps of the walk and the object, and exits with 1. The same seed
makes the same objects.

webhookd check --live holds the objects of a cluster to the same laws.

Notes follow if all laws hold. They say why there are fewer or poorer objects than asked for, by path: patterns and
validation rules that chance does not meet, or a schema that allows few objects. They also count the valid objects that
become objects which the other version refuses, by path and cause. Notes do not change the exit code.

webhookd compare --server tests a running webhook of any author.`,
		Example: `  webhookd fuzz rules.yaml --crds crd.yaml
  webhookd fuzz conversions/ --for 30s --kind CronTab.stable.example.com
  webhookd fuzz --crds crds/ --objects 20000 --seed 7`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.set(cmd.Flags())
			if err := o.check(); err != nil {
				return err
			}
			return p.fuzz(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	o.ruled.add(flags)
	flags.Lookup("rules").Usage += "; same as an argument"
	filesAfter(cmd, "rules")
	flags.Uint64VarP(&o.count, "objects", "n", defaultObjects, "`count` of objects for each version, 0 for no limit but the time of --for")
	_ = flags.MarkShorthandDeprecated("objects", "write --objects, since -n is a namespace elsewhere") // the flag is there
	flags.DurationVar(&o.time, "for", 0, "time limit for all kinds together, such as 30s; without --objects, all of it is used (default no limit)")
	flags.Uint64Var(&o.seed, "seed", 0, "`seed` of all random choices (default a random one)")
	flags.StringVar(&o.kind, "kind", "", "only this kind, as `KIND.GROUP` (default all)")
	return cmd
}

// fuzzOptions are the flags of fuzz.
type fuzzOptions struct {
	ruled ruleFlags
	count uint64
	time  time.Duration
	seed  uint64
	kind  string
}

// set fills in the defaults that depend on other flags.
func (o *fuzzOptions) set(flags *pflag.FlagSet) {
	if o.time > 0 && !flags.Changed("objects") {
		o.count = 0
	}
	if !flags.Changed("seed") {
		o.seed = uint64(rand.Uint32()) //nolint:gosec // choices that can be repeated
	}
}

// check reports everything that is wrong with the flags.
func (o *fuzzOptions) check() error {
	var problems []error
	if len(o.ruled.rules) == 0 && len(o.ruled.crds) == 0 {
		problems = append(problems, errors.New("no schemas to make objects from: give the file or folder of the CRDs with --crds"))
	}
	problems = append(problems, o.ruled.check())
	if o.time < 0 {
		problems = append(problems, errors.New("--for: negative time limit, give a duration such as 30s"))
	}
	return usage(errors.Join(problems...), "")
}

// fuzz tests all kinds, and ends early when interrupted.
func (p *program) fuzz(ctx context.Context, o *fuzzOptions) error {
	set, err := p.ruleSet(ctx, &o.ruled)
	if err != nil {
		return err
	}
	kinds, err := fuzzedKinds(set, o.kind)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	failed := false
	for _, kind := range kinds {
		violated, err := p.fuzzKind(ctx, set, kind, o, o.time/time.Duration(len(kinds)))
		if err != nil {
			return fmt.Errorf("%s: %w", kind.Name(), err)
		}
		failed = failed || violated
	}
	if failed {
		return errReported
	}
	return nil
}

// withLimit returns a context that ends after a time, or if that is 0, with ctx.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit > 0 {
		return context.WithTimeout(ctx, limit)
	}
	return context.WithCancel(ctx)
}

// fuzzedKinds returns the kinds with a converter and a CRD.
func fuzzedKinds(set *ruleset.Set, only string) ([]*converters.Kind, error) {
	registry, err := set.Registry()
	if err != nil {
		return nil, err
	}
	var kinds []*converters.Kind
	var names []string
	for _, kind := range registry.Kinds() {
		if set.CRD(kind.GroupKind) == nil {
			continue
		}
		names = append(names, kind.Name())
		if only == "" || kind.Name() == only {
			kinds = append(kinds, kind)
		}
	}
	switch {
	case len(kinds) > 0:
		return kinds, nil
	case len(names) == 0:
		return nil, usage(errors.New("nothing to convert: no CRD has rules or a compiled-in converter"), "give rules with --rules")
	}
	hint := didyoumean.Hint(only, names, "there is "+strings.Join(names, ", "))
	return nil, usage(fmt.Errorf("--kind %s: no such kind with a CRD and a converter", only), hint)
}

// fuzzKind checks the laws for one kind, and reports whether one is violated.
func (p *program) fuzzKind(
	ctx context.Context, set *ruleset.Set, kind *converters.Kind, o *fuzzOptions, limit time.Duration,
) (bool, error) {
	cause := diagnosis.Of(set.BoundKind(kind.GroupKind))
	progress := newProgress(p.stderr, kind.Name())
	suite := hold.Suite{
		Kind: kind, Seed: o.seed, CRD: set.CRD(kind.GroupKind), Stored: true, Walks: true, Forgeries: true, Outcomes: true,
		Hints: cause.Hints, Drops: cause.Drops, MayBeAbsent: cause.MayBeAbsent,
		Progress: func(s hold.Stats) {
			progress.show(s.Objects, o.count*uint64(len(kind.Versions)), "object",
				count(s.Fragments, "fragment"), count(s.Edits, "edit"), count(s.Walks, "walk"))
		},
	}
	limited, cancel := withLimit(ctx, limit)
	defer cancel()
	stats, err := suite.Fuzz(limited, o.count)
	progress.clear()
	if violation, ok := errors.AsType[*hold.ViolationError](err); ok {
		return true, p.printViolation(o, kind, cause, violation)
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
		_, err = io.WriteString(p.stdout, notes)
		return false, errors.Join(err, errors.New("no valid object could be made from the schemas"))
	}
	_, err = fmt.Fprintf(p.stdout, "%s: all laws hold on %s, %s of them, %s, %s and %s (seed %d)\n%s", kind.Name(),
		count(stats.Objects, "object"), count(stats.Fragments, "fragment"), count(stats.Edits, "edit"), count(stats.Walks, "walk"),
		count(stats.Forgeries, "forged object"), o.seed, notes)
	if ctx.Err() != nil {
		return false, errors.Join(err, errors.New("interrupted"))
	}
	return false, err
}
