package crd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/cluster/migrate"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// requestTimeout is the default of kube-apiserver's --request-timeout.
const requestTimeout = time.Minute

type migrateOptions struct {
	cluster connect.ClusterFlags
	goal    migrate.Goal

	dryRun, yes bool
	perSecond   float64
	settle      time.Duration
}

// NewMigrate returns the command migrate.
func NewMigrate(p *voice.Program) *cobra.Command {
	var o migrateOptions
	cmd := &cobra.Command{
		Use:   "migrate CRD [--to VERSION] [--remove VERSION...] [--dry-run] [--yes]",
		Short: "Store all objects in one version, and remove old versions",
		Long: `Write every object of a CRD once, so that all are stored in the storage version, and remove the other versions from
status.storedVersions. Versions that the CRD no longer has are taken out of managedFields and annotations. Other clients may
write meanwhile.

--to sets the storage version first. --remove goes all the way: it stops serving the version, takes it out of managedFields,
removes it from spec.versions, and then removes the annotations in which webhookd keeps its values. If Crossplane makes the
CRD, you change spec.versions in the XRD: the command stops before each such step.

The command prints the plan first. It asks before each step that clients notice or that cannot be taken back; --yes answers
for scripts. If it ends early, run it again, and it goes on. --dry-run only asks the API server whether it would accept each
write.

RBAC: apiGroups [apiextensions.k8s.io], resources [customresourcedefinitions], verbs [get], and with --to or --remove [patch],
resourceNames [the CRD]; resources [customresourcedefinitions/status], verbs [patch], resourceNames [the CRD]; the kind itself:
verbs [get, list, patch]. If a policy of crd guard protects kept values, be a member of its --allow-group.`,
		Example: `  webhookd migrate crontabs.example.com --dry-run
  webhookd migrate crontabs.example.com
  webhookd migrate crontabs.example.com --to v1 --remove v1beta1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return voice.Usage(errors.New("give the name of one CRD, such as crontabs.example.com"), "")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runMigrate(cmd.Context(), p, &o, args[0]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.goal.To, "to", "", "`version` to store objects in (default the storage version)")
	flags.StringSliceVar(&o.goal.Remove, "remove", nil, "`version` to remove; may be given more than once")
	flags.BoolVar(&o.dryRun, "dry-run", false, "print the plan and try the writes, and change nothing")
	flags.BoolVar(&o.yes, "yes", false, "take each step without a question")
	flags.BoolVar(&o.goal.AllowNone, "allow-none", false, "go on although strategy None drops fields that the storage version lacks")
	flags.Float64Var(&o.perSecond, "writes-per-second", 100, "most writes of objects a second")
	flags.DurationVar(&o.settle, "settle", migrate.DefaultSettle, "how long API servers may take to learn of a change of the CRD and to end requests that\nbegan before; more than their --request-timeout")
	o.cluster.AddConfig(flags)
	return cmd
}

func runMigrate(ctx context.Context, p *voice.Program, o *migrateOptions, name string) error {
	api, err := o.cluster.Client(p, "", connect.CheckCRDNames("", []string{name}),
		voice.Problem(o.perSecond <= 0, "--writes-per-second %g: no writes, write a number above 0", o.perSecond),
		voice.Problem(o.settle < 0, "--settle %s: not a time to wait, write a duration such as 70s", o.settle))
	if err != nil {
		return err
	}
	progress := voice.NewProgress(p.Stderr, name)
	var report *migrate.Report
	options := migrate.Options{
		WritesPerSecond: o.perSecond, Settle: o.settle, Progress: progress.Listed,
		Log: func(format string, args ...any) {
			progress.Clear()
			p.Note(format, args...)
		},
		Confirm: func(step migrate.Step, writers []string) error {
			progress.Clear()
			planned := slices.ContainsFunc(report.Steps, func(s migrate.Step) bool { return s.Do == step.Do })
			return confirm(ctx, p, o, step, writers, planned)
		},
	}
	report, err = migrate.Look(ctx, api, name, o.goal, options, o.dryRun)
	progress.Clear()
	if report != nil {
		writePlan(p, report)
		for _, version := range o.goal.Remove { // nothing is left of one without a trace, or it is spelled wrong
			has := slices.ContainsFunc(report.State.Versions, func(v migrate.Version) bool { return v.Name == version })
			if !has && report.State.Survey.Managers[version] == nil {
				p.Note("neither the CRD nor managedFields have a version %s: %s", version, name)
			}
		}
	}
	if err != nil || o.dryRun {
		return err
	}
	if o.settle < requestTimeout {
		p.Note("an API server without --request-timeout gives a request %s, and may store an object in another version until then: --settle %s", requestTimeout, o.settle)
	}
	if err := migrate.Run(ctx, api, name, o.goal, options); err != nil {
		progress.Clear()
		return err
	}
	p.Note("%s: all objects are stored in one version, and nothing names a version that is gone", name)
	if len(o.goal.Remove) > 0 && len(report.Steps) > 0 {
		p.Note("to do by hand: remove %s from the CRD where it comes from, then from webhookd's rules and its copy of the CRD; print policies", strings.Join(o.goal.Remove, ", "))
		p.Note("of webhookd crd guard again. With one version left, the CRD needs no webhook: set spec.conversion to strategy: None")
	}
	return nil
}

// confirm asks whether to take a step. --yes loses no values that were not in the plan.
func confirm(ctx context.Context, p *voice.Program, o *migrateOptions, step migrate.Step, writers []string, planned bool) error {
	p.Note("next: %s", step.Why)
	p.Note("  %s", step.Warning)
	if isSpec := step.Do == migrate.StopServing || step.Do == migrate.RemoveVersions; isSpec && len(writers) > 0 {
		p.Note("  change it where the CRD comes from, too: it was written by %s", strings.Join(writers, ", "))
	}
	stop := errors.New("stopped before this step; nothing is lost, run it again to go on")
	switch {
	case o.yes && step.Do == migrate.CleanLeftovers && !planned:
		return voice.Hint(stop, "the plan did not have this step, so --yes does not take it")
	case o.yes:
		return nil
	}
	if !voice.IsTerminal(p.Stdin) {
		return voice.Hint(stop, "--yes takes each step without a question")
	}
	fmt.Fprint(p.Stderr, "go on? [y/N] ")
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.Stdin).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case text := <-answer:
		if text == "y" || text == "yes" {
			return nil
		}
	case <-ctx.Done():
		fmt.Fprintln(p.Stderr)
	}
	return stop
}

// writePlan prints what there is, and the steps.
func writePlan(p *voice.Program, r *migrate.Report) {
	line := planLine(p.Stdout)
	objects := r.State.Survey.Objects
	fmt.Fprintf(p.Stdout, "%s (%s): %s\n", r.Name, r.Kind, voice.Count(objects, "object"))
	line("stored in", "%s", strings.Join(r.State.Stored, ", "))
	writeUsers(line, r.State.Survey)
	for i, step := range r.Steps {
		how := ""
		switch {
		case step.ByHand:
			how = " (by hand)"
		case step.Warning != "":
			how = " (asks first)"
		}
		line(fmt.Sprintf("step %d", i+1), "%s%s", step.Why, how)
	}
	if len(r.Steps) == 0 {
		line("steps", "none: nothing is left to do")
	}
	if r.Guard != "" {
		line("guard", "step %d would be refused now: %s", len(r.Steps), r.Guard)
		line("", "%s", migrate.GuardRemedy)
	}
}

// planLine writes a line of the plan, and no control characters of the cluster to the terminal.
func planLine(out io.Writer) func(name, format string, args ...any) {
	return func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-12s %s\n", name, finding.Printable(fmt.Sprintf(format, args...)))
	}
}

// writeUsers prints the field managers that wrote at each version, at most some of each.
func writeUsers(line func(name, format string, args ...any), survey *migrate.Survey) {
	const most, mostLost = 10, 5
	for _, version := range slices.Sorted(maps.Keys(survey.Managers)) {
		uses := survey.Managers[version]
		managers := slices.SortedFunc(maps.Keys(uses), func(a, b migrate.Manager) int {
			return cmp.Or(strings.Compare(a.Name, b.Name), uses[b].Objects-uses[a].Objects)
		})
		for i, m := range managers {
			if i == most {
				line("managers", "%s: %d more", version, len(managers)-most)
				break
			}
			how, last, use := "wrote", "", uses[m]
			if m.Apply {
				how = "applied"
			}
			if !use.Last.IsZero() {
				last = ", last on " + use.Last.UTC().Format(time.DateOnly)
			}
			line("managers", "%s: %s %s %s%s", version, m.Name, how, voice.Count(use.Objects, "object"), last)
			if len(use.Lost) > 0 {
				line("lost fields", "%s: %s will not own %s", version, m.Name, finding.Few(slices.Sorted(maps.Keys(use.Lost)), mostLost))
			}
		}
	}
}
