package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// comparedObjects is how many random objects of each version are compared.
const comparedObjects = 200

type compareOptions struct {
	ruled            ruleFlags
	theirs           serverFlags
	files, skip      []string
	to               string
	with, withCAFile string
	live             liveFlags
	drops            []string
	count, seed      uint64
	kind             string
}

func newCompareCommand(p *program) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare [RULES... | --with URL | -f FILE --to VERSION] [--crds PATH] [--server URL] [--live] [--objects COUNT] [--seed SEED] [--kind KIND.GROUP]",
		Short: "Check a running webhook, or compare it with rules",
		Long: `Convert the same objects by the webhook in place (theirs) and by rules or another webhook (ours), to each version and back,
and print by field where they differ. The objects are random ones, made of the schemas, and with --live those of a cluster.

The webhook in place is the one that the CRD in the cluster names: a URL, or a Service that is reached by a port-forward to
one of its pods. Its certificate is verified as kube-apiserver does, with the CRD's caBundle and the Service's name. With
--server it is the webhook at a URL, and no cluster is needed. Nothing in the cluster changes.

A difference is one of these. ours fails, theirs fails: only one of them converts the object. ours loses, theirs loses: what
comes back from the other version differs from the object, and by the other webhook it does not. ours differs: the converted
objects differ. If both lose a field, the table says so, but that is no difference between them. Labels and annotations that
a webhook adds are its own matter and are not compared.

Values are printed only with --show-values, with a small object for each difference. The exit code is 0 if there is no
difference, 1 if there is one or something failed, and 2 if the command line is wrong.

With --server alone there is nothing to compare it with, so the webhook is checked: what kube-apiserver requires of an answer,
and the laws of conversion that do not depend on how a webhook keeps values. It may be of any author and in any language. The
result is a table of the checks, and for each that fails the smallest object that was found. A check for which there is
nothing to test does not fail; --skip leaves one out.

With -f and --to it posts the objects in files to --server, and prints as a diff what the webhook makes of them.

RBAC: get of the CRD; list of the objects with --live; for a Service get of it, list of pods, and create of pods/portforward
in its namespace.`,
		Example: `  webhookd compare rules.yaml --crds crd.yaml --server https://localhost:9443/convert --ca-file ca.crt
  webhookd compare rules.yaml --live --context staging
  webhookd compare --server https://localhost:9443/convert --ca-file ca.crt --crds crds/
  webhookd compare -f crontab.yaml --to v1 --server https://localhost:9443/convert --ca-file ca.crt
  webhookd compare --with https://localhost:9443/crdconvert --crds crd.yaml --live --show-values`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("seed") {
				o.seed = uint64(rand.Uint32()) //nolint:gosec // choices that can be repeated
			}
			if err := o.check(cmd.Flags()); err != nil {
				return usage(err, "")
			}
			switch {
			case len(o.files) > 0:
				return p.postFiles(cmd.Context(), &o)
			case o.checks():
				return p.checkWebhook(cmd.Context(), &o)
			}
			return p.compareWebhooks(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	o.ruled.add(flags)
	flags.Lookup("rules").Usage += "; same as an argument"
	filesAfter(cmd, "rules")
	flags.StringVar(&o.with, "with", "", "compare with the webhook at this `URL` instead of rules")
	flags.StringVar(&o.withCAFile, "with-ca-file", "", "`file` with the CAs of its certificate, in PEM (default those of the system)")
	o.theirs.add(flags, "`URL` of the webhook in place (default what the CRD in the cluster names)")
	flags.Uint64Var(&o.count, "objects", comparedObjects, "`count` of random objects for each version; 0 with --live for live objects only")
	flags.Uint64Var(&o.seed, "seed", 0, "`seed` of all random choices (default a random one)")
	flags.StringVar(&o.kind, "kind", "", "only this kind, as `KIND.GROUP` (default all)")
	addDrops(flags, &o.drops, "is not compared, or that a checked webhook loses on purpose")
	flags.StringArrayVar(&o.skip, "skip", nil, "`name` of a check that is left out; may be given more than once")
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`path` of a file or folder of objects to post, - for stdin; may be given more than once")
	flags.StringVar(&o.to, "to", "", "with --filename: the `version` to convert to")
	o.live.add(flags, "compare the objects of a cluster, too; it needs get and list only")
	flags.Lookup("show-values").Usage = "print values, and not only names, paths and counts"
	return cmd
}

// checks reports whether there is a webhook, and nothing to compare it with.
func (o *compareOptions) checks() bool {
	return o.theirs.server != "" && len(o.ruled.rules) == 0 && o.with == "" && !o.live.on
}

// check reports everything that is wrong with the flags.
func (o *compareOptions) check(flags *pflag.FlagSet) error {
	_, dropErr := parseDrops(o.drops)
	problems := []error{o.ruled.checkStdin(o.files...), dropErr, o.checkSkips(), o.checkFiles(flags)}
	if !o.checks() {
		problems = append(problems, noUse(flags, "to compare, leave the rules out to check a webhook", "skip"))
	}
	switch {
	case o.with != "" && len(o.ruled.rules) > 0:
		problems = append(problems, errors.New("both rules and a webhook: give --rules or --with"))
	case o.with != "":
		_, err := o.ours()
		problems = append(problems, err)
	default:
		problems = append(problems, noUse(flags, "without --with", "with-ca-file"))
	}
	if (o.with != "" || o.checks() && len(o.files) == 0) && len(o.ruled.crds) == 0 {
		problems = append(problems, errors.New("no schemas to compare by: give the file or folder of the CRDs with --crds"))
	}
	if o.theirs.server != "" {
		_, err := o.theirs.endpoint()
		problems = append(problems, err)
		if len(o.ruled.rules) > 0 && !o.live.on {
			problems = append(problems, o.ruled.check())
		}
	} else {
		problems = append(problems, noUse(flags, "without --server", "ca-file"))
	}
	if !o.live.on {
		problems = append(problems, noUse(flags, "without --live", "all-namespaces", "namespace"))
		if o.theirs.server != "" {
			problems = append(problems, noUse(flags, "without --live and with --server", "kubeconfig", "context"))
		}
		if o.count == 0 {
			problems = append(problems, errors.New("nothing to compare: write 1 object at least, or give --live: --objects 0"))
		}
	} else {
		problems = append(problems, o.live.check(flags))
	}
	return errors.Join(problems...)
}

func (o *compareOptions) checkFiles(flags *pflag.FlagSet) error {
	switch {
	case len(o.files) == 0:
		return noUse(flags, "without --filename", "to")
	case o.theirs.server == "" || o.to == "":
		return errors.New("--filename: objects without a webhook or a version, give --server and --to")
	}
	return noUse(flags, "with --filename", "rules", "crds", "with", "live", "objects", "seed", "kind", "drop", "skip")
}

// ours is the endpoint of --with.
func (o *compareOptions) ours() (*serverEndpoint, error) {
	return newEndpoint("with", o.with, "with-ca-file", o.withCAFile)
}

// compareWebhooks compares all kinds, and ends early when interrupted.
func (p *program) compareWebhooks(ctx context.Context, o *compareOptions) error {
	reader, err := p.comparedCluster(o)
	if err != nil {
		return err
	}
	set, err := p.ruleSet(ctx, &o.ruled)
	if err != nil {
		return err
	}
	kinds, err := comparedKinds(set, o)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	differ := false
	for i, kind := range kinds {
		if i > 0 {
			fmt.Fprintln(p.stdout)
		}
		found, err := p.compareKind(ctx, o, reader, set, kind)
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kind.Name(), err)
		}
		differ = differ || found
	}
	if differ {
		return errReported
	}
	return nil
}

// comparedCluster returns a reader of the cluster, or nil if none is needed.
func (p *program) comparedCluster(o *compareOptions) (*liveReader, error) {
	otherwise := "leave out --live, or "
	switch {
	case o.theirs.server == "":
		otherwise = "name the webhook in place with --server, or "
	case !o.live.on:
		return nil, nil
	}
	api, err := o.live.cluster.client(p, otherwise)
	if err != nil {
		return nil, err
	}
	o.ruled.live = &liveReader{&o.live, p, api}
	return o.ruled.live, nil
}

// comparedKinds returns the kinds of the rules, or with another webhook those of the CRDs.
func comparedKinds(set *ruleset.Set, o *compareOptions) ([]*converters.Kind, error) {
	if o.with == "" {
		return fuzzedKinds(set, o.kind)
	}
	crds, err := convertedCRDs(set.CRDs, o.kind)
	if err != nil {
		return nil, err
	}
	kinds := make([]*converters.Kind, 0, len(crds))
	for _, crd := range crds {
		kinds = append(kinds, &converters.Kind{GroupKind: crd.GroupKind(), Versions: crd.VersionNames()})
	}
	return kinds, nil
}

// compareKind reports whether a kind is converted differently.
func (p *program) compareKind(ctx context.Context, o *compareOptions, reader *liveReader, set *ruleset.Set, kind *converters.Kind) (bool, error) {
	theirs, place, err := p.webhookInPlace(ctx, o, reader, set.CRD(kind.GroupKind).Name)
	if err != nil {
		return false, err
	}
	cause := diagnosis.Of(set.BoundKind(kind.GroupKind))
	drops, err := parseDrops(o.drops)
	if err != nil {
		return false, err
	}
	var remote hold.Remote
	if o.with != "" {
		ours, err := o.ours()
		if err != nil {
			return false, err
		}
		remote = ours.remote(kind.Group)
		if err := ours.try(ctx, kind); err != nil {
			return false, fmt.Errorf("%s: %w", o.with, err)
		}
	}
	if err := theirs.try(ctx, kind); err != nil {
		return false, fmt.Errorf("%s: %w", place, err)
	}
	crd := set.CRD(kind.GroupKind)
	inPlace, err := hold.NewResource(kind, theirs.remote(kind.Group), crd, drops)
	if err != nil {
		return false, err
	}
	mine, err := hold.NewResource(kind, remote, crd, drops)
	if err != nil {
		return false, err
	}
	comparison, err := compare.Compare(inPlace, mine, cause.Hints, o.seed)
	if err != nil {
		return false, err
	}
	comparison.Values = o.live.showValues
	if err := p.compareObjects(ctx, o, reader, set, kind, comparison); err != nil {
		return false, err
	}
	return p.printComparison(o, kind, place, comparison)
}

// compareObjects compares live objects, and then random ones.
func (p *program) compareObjects(
	ctx context.Context, o *compareOptions, reader *liveReader, set *ruleset.Set, kind *converters.Kind, c *compare.Comparison,
) error {
	if o.live.on {
		live, err := reader.kinds(ctx, set, []*converters.Kind{kind})
		if err != nil {
			return err
		}
		_, err = reader.each(ctx, &live[0], func(page []liveObject) error {
			inParallel(page, func(object liveObject) struct{} {
				c.Add(ctx, object.name, object.text)
				return struct{}{}
			})
			return ctx.Err()
		})
		if err != nil {
			return err
		}
	}
	progress := newProgress(p.stderr, kind.Name())
	defer progress.clear()
	made := false
	for index := range o.count {
		for _, version := range c.Versions() {
			object := c.Object(version, index)
			if object == nil {
				continue
			}
			made = true
			c.Add(ctx, randomObject, object)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		progress.show(index+1, o.count, "random object", "of each version")
	}
	if !made && o.count > 0 && !o.live.on {
		return errors.New("no valid object could be made from the schemas")
	}
	return nil
}

// randomObject is the name of all random objects.
const randomObject = "a random object"
