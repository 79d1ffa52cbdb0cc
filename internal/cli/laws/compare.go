package laws

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/laws/compare"
	"github.com/crdconvert/webhookd/internal/laws/conformance"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// NewCompare returns the command compare.
func NewCompare(p *voice.Program) *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare [RULES... | --with URL | -f FILE --to VERSION] [--crds PATH] [--server URL] [--live] [--objects COUNT] [--seed SEED] [--kind KIND.GROUP]",
		Short: "Check a running webhook, or compare it with rules",
		Long: `Convert the same objects by the webhook in place (theirs) and by rules or another webhook (ours), to each version and back,
and print by field where they differ. The objects are random ones, made of the schemas, and with --live those of a cluster.
Labels and annotations are not compared, and nothing in the cluster changes. The exit code is 1 if there is a difference.

The webhook in place is the one that the CRD in the cluster names: a URL, or a Service that is reached by a port-forward to
one of its pods. Its certificate is verified as kube-apiserver does. With --server it is the webhook at a URL.

ours fails, theirs fails: only one of them converts the object. ours loses, theirs loses: what comes back from the other
version differs from the object, and by the other webhook it does not. ours differs: the converted objects differ.

With --server alone the webhook is checked, of any author and in any language: what kube-apiserver requires of an answer, and
the laws of conversion that do not depend on how a webhook keeps values. With -f and --to it posts the objects in files to
--server, and prints as a diff what the webhook makes of them.

RBAC: get of the CRD; list of the objects with --live; for a Service get of it, list of pods, and create of pods/portforward
in its namespace.`,
		Example: `  webhookd compare rules.yaml --crds crd.yaml --server https://localhost:9443/convert --ca-file ca.crt
  webhookd compare rules.yaml --live --context staging
  webhookd compare --server https://localhost:9443/convert --ca-file ca.crt --crds crds/
  webhookd compare -f crontab.yaml --to v1 --server https://localhost:9443/convert --ca-file ca.crt
  webhookd compare --with https://localhost:9443/crdconvert --crds crd.yaml --live --show-values`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.plant(cmd)
			if err := o.check(cmd.Flags()); err != nil {
				return voice.Usage(err, "")
			}
			switch {
			case len(o.files) > 0:
				return postFiles(cmd.Context(), p, &o)
			case o.checks():
				return checkWebhook(cmd.Context(), p, &o)
			}
			return compareWebhooks(cmd.Context(), p, &o)
		},
	}
	const objects = 200
	o.add(cmd, objects, "random objects for each version; 0 with --live for live objects only")
	flags := cmd.Flags()
	o.with.Add(flags, "with", "compare with the webhook at this `URL` instead of rules", "with-ca-file")
	o.place.Add(flags, "server", "`URL` of the webhook in place (default what the CRD in the cluster names)", "ca-file")
	flags.StringArrayVar(&o.drops, "drop", nil, "`path` that is not compared, or that a checked webhook loses on purpose, at any version, such as .spec.ports[].name;\nmay be given more than once")
	flags.StringArrayVar(&o.skip, "skip", nil, "`name` of a check that is left out; may be given more than once")
	flags.StringArrayVarP(&o.files, "filename", "f", nil, "`path` of a file or folder of objects to post, - for stdin; may be given more than once")
	flags.StringVar(&o.to, "to", "", "with --filename: the `version` to convert to")
	o.live.Add(flags, "compare the objects of a cluster, too; it needs get and list only")
	flags.Lookup("show-values").Usage = "print values, and not only names, paths and counts"
	return cmd
}

// compareOptions are the flags of compare.
type compareOptions struct {
	sampleFlags

	place, with connect.WebhookFlags // of theirs, and of ours
	files, skip []string
	to          string
	live        connect.LiveFlags
	drops       []string

	// What check reads from the flags.
	theirs, ours *connect.Webhook // nil if they are not given
	dropped      []hold.Drop
}

// checks reports whether there is a webhook, and nothing to compare it with.
func (o *compareOptions) checks() bool {
	return o.place.URL != "" && len(o.ruled.Rules) == 0 && o.with.URL == "" && !o.live.On
}

// check reads the flags, and reports everything that is wrong with them.
func (o *compareOptions) check(flags *pflag.FlagSet) error {
	problems := o.checkLists()
	add := func(err error) { problems = append(problems, err) }
	var err error
	switch {
	case len(o.files) == 0:
		add(voice.NoUse(flags, "without --filename", "to"))
	case o.place.URL == "" || o.to == "":
		add(errors.New("--filename: objects without a webhook or a version, give --server and --to"))
	default:
		add(voice.NoUse(flags, "with --filename", "rules", "crds", "with", "live", "objects", "seed", "kind", "drop", "skip"))
	}
	if !o.checks() {
		add(voice.NoUse(flags, "to compare, leave the rules out to check a webhook", "skip"))
	}
	if o.with.URL == "" {
		add(voice.NoUse(flags, "without --with", "with-ca-file"))
	} else {
		add(voice.Problem(len(o.ruled.Rules) > 0, "both rules and a webhook: give --rules or --with"))
		o.ours, err = o.with.Webhook()
		add(err)
	}
	add(voice.Problem((o.with.URL != "" || o.checks() && len(o.files) == 0) && len(o.ruled.CRDs) == 0,
		"no schemas to compare by: give the file or folder of the CRDs with --crds"))
	if o.place.URL == "" {
		add(voice.NoUse(flags, "without --server", "ca-file"))
	} else {
		o.theirs, err = o.place.Webhook()
		add(err)
	}
	if o.live.On {
		add(o.live.Check(flags))
		return errors.Join(append(problems, o.ruled.CheckStdin(o.files...))...)
	}
	add(voice.NoUse(flags, "without --live", "namespace"))
	if o.theirs != nil {
		add(voice.NoUse(flags, "without --live and with --server", "kubeconfig", "context"))
		add(o.ruled.Check(o.files...))
	} else {
		add(o.ruled.CheckStdin(o.files...))
	}
	add(voice.Problem(o.count == 0, "--objects 0: nothing to compare, write 1 at least or give --live"))
	return errors.Join(problems...)
}

// checkLists reads --drop and --skip.
func (o *compareOptions) checkLists() []error {
	var problems []error
	for _, path := range o.drops {
		if _, err := syntax.ParsePath(path); err != nil {
			problems = append(problems, fmt.Errorf("--drop %q: not a path, write it as rules do: %w", path, err))
		}
		o.dropped = append(o.dropped, hold.Drop{Path: path})
	}
	names := conformance.Names()
	for _, name := range o.skip {
		problems = append(problems, voice.Problem(!slices.Contains(names, name),
			"--skip %q: no such check, %s", name, didyoumean.Hint(name, names, "the checks are "+strings.Join(names, ", "))))
	}
	return problems
}

// A comparing compares kinds.
type comparing struct {
	p      *voice.Program
	o      *compareOptions
	reader *connect.Reader // nil if no cluster is needed
	set    *ruleset.Set
}

// compareWebhooks compares all kinds.
func compareWebhooks(ctx context.Context, p *voice.Program, o *compareOptions) error {
	c := &comparing{p: p, o: o}
	var err error
	if o.theirs == nil || o.live.On {
		otherwise := "leave out --live, or "
		if o.theirs == nil {
			otherwise = "name the webhook in place with --server, or "
		}
		if c.reader, err = o.live.Reader(p, otherwise, &o.ruled); err != nil {
			return err
		}
	}
	if c.set, err = o.ruled.Load(ctx, p); err != nil {
		return err
	}
	kinds, err := c.kinds()
	if err != nil {
		return err
	}
	return each(ctx, kinds, func(ctx context.Context, kind *converters.Kind) (bool, error) {
		if kind != kinds[0] {
			fmt.Fprintln(p.Stdout)
		}
		return c.kind(ctx, kind)
	})
}

// kinds returns the kinds of the rules, or with another webhook those of the CRDs.
func (c *comparing) kinds() ([]*converters.Kind, error) {
	if c.o.with.URL == "" {
		return c.o.kinds(c.set)
	}
	crds, err := convertedCRDs(c.set.CRDs, c.o.kind)
	kinds := make([]*converters.Kind, 0, len(crds))
	for _, crd := range crds {
		kinds = append(kinds, &converters.Kind{GroupKind: crd.GroupKind(), Versions: crd.VersionNames()})
	}
	return kinds, err
}

// kind reports whether a kind is converted differently.
func (c *comparing) kind(ctx context.Context, kind *converters.Kind) (bool, error) {
	theirs, place, err := c.inPlace(ctx, c.set.CRD(kind.GroupKind).Name)
	if err != nil {
		return false, fmt.Errorf("%s: %w", kind.Name(), err)
	}
	if c.o.ours != nil {
		if err := try(ctx, c.o.ours, c.o.with.URL, kind); err != nil {
			return false, err
		}
	}
	if err := try(ctx, theirs, place, kind); err != nil {
		return false, err
	}
	found, err := c.objects(ctx, kind, theirs, place)
	if err != nil {
		err = fmt.Errorf("%s: %w", kind.Name(), err)
	}
	return found, err
}

// try reports whether a webhook can be called.
func try(ctx context.Context, webhook *connect.Webhook, place string, kind *converters.Kind) error {
	if err := webhook.Try(ctx, kind); err != nil {
		return fmt.Errorf("%s, asked for objects of %s: %w", place, kind.Name(), err)
	}
	return nil
}

// objects reports whether objects of a kind are converted differently than by theirs, which is at a
// place.
func (c *comparing) objects(ctx context.Context, kind *converters.Kind, theirs *connect.Webhook, place string) (bool, error) {
	crd := c.set.CRD(kind.GroupKind)
	var remote hold.Remote
	if c.o.ours != nil {
		remote = c.o.ours.Remote(kind.Group)
	}
	other, err := hold.NewResource(kind, theirs.Remote(kind.Group), crd, c.o.dropped)
	if err != nil {
		return false, err
	}
	ours, err := hold.NewResource(kind, remote, crd, c.o.dropped)
	if err != nil {
		return false, err
	}
	comparison, err := compare.Compare(other, ours, diagnosis.Of(c.set.BoundKind(kind.GroupKind)).Hints, c.o.seed)
	if err != nil {
		return false, err
	}
	comparison.Values = c.o.live.ShowValues
	if err := errors.Join(c.addLive(ctx, kind, comparison), ctx.Err()); err != nil {
		return false, err
	}
	if err := c.addRandom(ctx, kind, comparison); err != nil {
		return false, err
	}
	return printComparison(c.p, c.o, kind, place, comparison)
}

// inPlace returns the webhook that converts a CRD now, and its name for a person.
func (c *comparing) inPlace(ctx context.Context, crd string) (*connect.Webhook, string, error) {
	if c.o.theirs != nil {
		return c.o.theirs, c.o.place.URL, nil
	}
	live, err := crdwire.Read(ctx, c.reader.API, crd)
	if err != nil {
		return nil, "", err
	}
	target, is := crdwire.TargetOf(live)
	if !is {
		return nil, "", voice.Hint(fmt.Errorf("%s: no webhook in place, spec.conversion of the CRD names none", crd), "name one with --server")
	}
	e := &crdwire.Endpoint{Target: target, Bundle: crdwire.BundleOf(live)}
	if target.IsService() && !c.reader.API.InCluster {
		e.Dial, err = c.reader.API.Forward(ctx, target.Namespace, target.Name, target.Port)
	}
	return connect.Connected(e), target.String(), err
}

// addLive compares the objects of the cluster.
func (c *comparing) addLive(ctx context.Context, kind *converters.Kind, comparison *compare.Comparison) error {
	if !c.o.live.On {
		return nil
	}
	live, err := c.reader.Kinds(ctx, c.set, []*converters.Kind{kind})
	if err != nil {
		return err
	}
	_, err = c.reader.Each(ctx, &live[0], func(object connect.Object) func() {
		comparison.Add(ctx, object.Name, object.Text)
		return func() {}
	})
	return err
}

// addRandom compares random objects.
func (c *comparing) addRandom(ctx context.Context, kind *converters.Kind, comparison *compare.Comparison) error {
	progress := voice.NewProgress(c.p.Stderr, kind.Name())
	defer progress.Clear()
	made := false
	for index := range c.o.count {
		for _, version := range comparison.Versions() {
			if object := comparison.Object(version, index); object != nil {
				made = true
				comparison.Add(ctx, "a random object", object)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		progress.Show(index+1, c.o.count, "random object", "of each version")
	}
	return voice.Problem(!made && c.o.count > 0 && !c.o.live.On, "no valid object could be made from the schemas")
}
