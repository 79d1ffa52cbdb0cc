package check

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/crdconvert/webhookd/internal/cli/connect"
	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// New returns the command check.
func New(p *voice.Program) *cobra.Command {
	o := checkOptions{output: string(finding.Text), failOn: string(finding.Error)}
	cmd := &cobra.Command{
		Use:   "check RULES... --crds PATH [--against OLD] [--live] [-o FORMAT]",
		Short: "Check Conversion files against their CRDs",
		Long: `Check Conversion files against the schemas of their CRDs, and print everything that is wrong: what would be lost, what
the API server would prune or refuse, and what makes no sense. Rules that pass lose only what they drop with a reason.

RULES are files, folders, or - for stdin. As in serve, a folder includes all .yaml, .yml and .json files in it and below,
except in folders whose names begin with a dot. Files without a Conversion are skipped. Without --crds the CRDs are those
in the folders.

With --against it also reports, for each pair of versions, what happens to values that the rules of OLD have kept in
annotations: which return to a field that the other version now has, which count as edited because their unit has changed,
and which are dropped. These findings are notes. Values that return as before are not mentioned. A table says which fields
are converted differently, and what that means for users: with -o markdown for a pull request. The CRDs of OLD are those of
--against-crd, or those in its folder, or else those of the rules.

With --live it also reads every object of the kinds from a cluster, converts it to every other served version and back as
rules and API server would, holds it and edits of it to the laws of fuzz, and adds what it finds: objects that cannot be
converted or whose kept values do not fit (errors), that come back with another value or break a law (errors), that the
schema of the other version refuses (warnings), how much is kept in annotations, and what rules drop (notes). CRDs that are not given are those of the cluster. It prints the paths, the
number of objects and the name of one of them; with --show-values, values too. It gets and lists, and never writes.

Findings go to stdout. An error means that values are lost, or that the rules cannot work: serve refuses the kind. A
warning means that the API server may refuse a result. The exit code is 1 if there are errors, and 0 otherwise. With
--fail-on, warnings or notes count as well.
With -o github findings are annotations of a pull request, with -o sarif a file for code scanning, and with -o junit a
test report.`,
		Example: `  webhookd check rules/crontabs.yaml --crds crds/crontabs.yaml
  webhookd check conversions/ -o json
  webhookd suggest crd.yaml | webhookd check - --crds crd.yaml
  git show main:rules.yaml | webhookd check rules.yaml --crds crd.yaml --against -
  webhookd check rules.yaml --crds crd.yaml --against old.yaml -o markdown
  webhookd check rules.yaml --live --context production --fail-on warning`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.ruled.Arguments = true
			reader, err := connect.Live(p, &o.live, &o.ruled)
			if err == nil {
				err = o.check(cmd.Flags())
			}
			if err != nil {
				return err
			}
			return run(cmd.Context(), p, &o, reader)
		},
	}
	flags := cmd.Flags()
	o.ruled.Add(flags)
	flags.Lookup("rules").Usage += "; same as an argument"
	voice.FilesAfter(cmd, "rules")
	flags.StringArrayVar(&o.against, "against", nil,
		"`path` of a file or folder of the old rules, - for stdin; may be given more than once")
	flags.StringArrayVar(&o.againstCRDs, "against-crd", nil,
		"`path` of a file or folder of the CRDs of the old rules; may be given more than once (default the folders of --against, or --crds)")
	voice.AddOutput(cmd, &o.output, findingFormats()...)
	flags.StringVar(&o.failOn, "fail-on", o.failOn, "the lowest `severity` that gives exit code 1: error, warning or note")
	voice.Offer(cmd, "fail-on", severities()...)
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "also print the units on stderr, as explain does")
	o.live.Add(flags, "also convert all objects of a cluster to every version and back")
	return cmd
}

// checkOptions are the flags of check.
type checkOptions struct {
	ruled                offline.Flags
	live                 connect.LiveFlags
	against, againstCRDs []string
	output, failOn       string
	verbose              bool
}

func severities() []string {
	names := make([]string, 0, len(finding.Severities()))
	for _, s := range finding.Severities() {
		names = append(names, string(s))
	}
	return names
}

func findingFormats() []string {
	names := make([]string, 0, len(finding.Formats()))
	for _, format := range finding.Formats() {
		names = append(names, string(format))
	}
	return names
}

// check reports everything that is wrong with the command line.
func (o *checkOptions) check(flags *pflag.FlagSet) error {
	var problems []error
	if len(o.ruled.Rules) == 0 {
		problems = append(problems, errors.New("nothing to check: name files or folders of Conversions"))
	} else if len(o.ruled.CRDPaths()) == 0 && !o.live.On {
		problems = append(problems, errors.New("no CRDs to check against: give their file or folder with --crds"))
	}
	problems = append(problems, o.live.Check(flags))
	if len(o.againstCRDs) > 0 && len(o.against) == 0 {
		problems = append(problems, errors.New("CRDs of old rules, and no old rules: give their file or folder with --against"))
	}
	problems = append(problems, o.ruled.CheckStdin(slices.Concat(o.against, o.againstCRDs)...))
	problems = append(problems, voice.CheckOutput(o.output, findingFormats()...))
	if !slices.Contains(severities(), o.failOn) {
		problems = append(problems, fmt.Errorf("unknown severity %q: write error, warning or note", o.failOn))
	}
	return voice.Usage(errors.Join(problems...), "")
}

func run(ctx context.Context, p *voice.Program, o *checkOptions, reader *connect.Reader) error {
	ruleFiles, crdFiles, err := o.ruled.Files(ctx, p)
	if err != nil {
		return err
	}
	set, err := p.Compiled.Load(ctx, ruleFiles, crdFiles)
	if err != nil {
		return err
	}
	if len(set.Files) == 0 {
		return offline.NoConversion(o.ruled.Rules)
	}
	var changes []check.Change
	if len(o.against) > 0 {
		if changes, err = compareRules(ctx, p, o, &set); err != nil {
			return err
		}
	}
	if reader != nil {
		if err := checkLive(ctx, p, reader, &set); err != nil {
			return err
		}
	}
	return writeCheck(p, o, &set, changes)
}

// writeCheck prints the findings, and what the old rules converted differently.
func writeCheck(p *voice.Program, o *checkOptions, set *ruleset.Set, changes []check.Change) error {
	format := finding.Format(o.output)
	if format == finding.Text {
		format = p.TextFor(p.Stdout)
	}
	if format == finding.Markdown && len(o.against) > 0 {
		if err := writeChanges(p.Stdout, format, changes); err != nil {
			return err
		}
	}
	if err := set.Render(p.Stdout, format); err != nil {
		return err
	}
	if format != finding.Markdown {
		if err := writeChanges(p.Stdout, format, changes); err != nil {
			return err
		}
	}
	o.ruled.NoteNoCRD(p, set)
	if set.Foreign > 0 {
		p.Note("%s skipped: no Kubernetes objects", voice.Count(set.Foreign, "file"))
	}
	if o.verbose {
		if err := writeUnits(p.Stderr, explainUnits(set, ""), false); err != nil {
			return err
		}
	}
	return conclude(p, o, set)
}

// compare adds notes on values that the old rules have kept, and returns what they converted
// differently.
func compareRules(ctx context.Context, p *voice.Program, o *checkOptions, set *ruleset.Set) ([]check.Change, error) {
	from := ruleset.Origin{What: "old rules", Remedy: "give their file or folder with --against"}
	ruleFiles, err := offline.Read(ctx, p, from, o.against)
	crdFiles, crdErr := offline.Read(ctx, p, ruleset.Origin{What: "CRDs of old rules", Remedy: "give their file or folder with --against-crd"}, o.againstCRDs)
	if err := errors.Join(err, crdErr); err != nil {
		return nil, voice.Usage(err, "")
	}
	if len(o.againstCRDs) == 0 { // those in the folders of the old rules win
		crdFiles = slices.DeleteFunc(slices.Clone(ruleFiles), func(file ruleset.File) bool { return !file.InFolder })
		crdFiles = append(crdFiles, set.CRDFiles...)
	}
	old, err := p.Compiled.Load(ctx, ruleFiles, crdFiles)
	switch {
	case err != nil:
		return nil, err
	case len(old.Conversions) == 0:
		return nil, voice.Usage(fmt.Errorf("%s: no Conversion in any file of --against", offline.NamesOf(o.against)), "")
	case old.Broken > 0:
		if err := old.Render(p.Stderr, p.TextFor(p.Stderr)); err != nil {
			return nil, err
		}
		return nil, voice.Hint(fmt.Errorf("old rules cannot be used: %s above", voice.CountBySeverity(old.Findings)),
			"--against-crd names the CRDs that they were made for")
	}
	set.Findings = finding.Sort(append(set.Findings, check.Against(old.Bound, set.Bound)...))
	set.Before = old.Files
	return check.Changes(old.Bound, set.Bound), nil
}

// conclude prints the number of findings, and fails if one is as serious as --fail-on.
func conclude(p *voice.Program, o *checkOptions, set *ruleset.Set) error {
	said := "no findings in " + voice.Count(len(set.Files), "file")
	if len(set.Findings) > 0 {
		said = voice.CountBySeverity(set.Findings) + " in " + voice.Count(filesWith(set.Findings), "file")
	} else if len(o.against) > 0 {
		said += ", and kept values return as before"
	}
	fmt.Fprintf(p.Stderr, "webhookd: %s\n", said)
	if len(finding.Worst(set.Findings, finding.Severity(o.failOn))) > 0 {
		return voice.ErrReported
	}
	return nil
}

func filesWith(findings []finding.Finding) int {
	names := make(map[string]bool)
	for _, f := range findings {
		names[f.Pos.File] = true
	}
	return len(names)
}
