package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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

RULES are files, folders, or - for stdin. A folder includes all .yaml, .yml and .json files in it and below, except in
folders whose names begin with a dot. Files without a Conversion are skipped. Without --crds the CRDs are those in the
folders.

With --against it also reports what happens to values that the rules of OLD have kept in annotations, and which versions of
the CRD break the clients that they had. A table says which
fields are converted differently, and what that means for users: with -o markdown for a pull request.

With --live it also reads every object of the kinds from a cluster, converts it to every other served version and back as
rules and API server would, and holds it and edits of it to the laws of fuzz. It gets and lists, and never writes. CRDs that
are not given are those of the cluster.

An error means that values are lost, or that the rules cannot work: serve refuses the kind. A warning means that the API
server may refuse a result. The exit code is 1 if there are errors, and 0 otherwise; --fail-on makes warnings or notes count.
Formats: github for annotations of a pull request, sarif for code scanning, junit for a test report.`,
		Example: `  webhookd check rules/crontabs.yaml --crds crds/crontabs.yaml
  webhookd check conversions/ -o json
  webhookd suggest crd.yaml | webhookd check - --crds crd.yaml
  git show main:rules.yaml | webhookd check rules.yaml --crds crd.yaml --against -
  webhookd check rules.yaml --crds crd.yaml --against old.yaml -o markdown
  webhookd check rules.yaml --live --context production --fail-on warning`,
		RunE: func(cmd *cobra.Command, _ []string) error { return run(cmd, p, &o) },
	}
	flags := cmd.Flags()
	o.ruled.Add(flags)
	voice.FilesAfter(cmd, "rules")
	flags.StringArrayVar(&o.against, "against", nil,
		"`path` of a file or folder of the old rules, - for stdin; may be given more than once")
	flags.StringArrayVar(&o.againstCRDs, "against-crd", nil,
		"`path` of a file or folder of the CRDs of the old rules; may be given more than once (default the folders of --against, or --crds)")
	voice.AddOutput(cmd, &o.output, names(finding.Formats())...)
	flags.StringVar(&o.failOn, "fail-on", o.failOn, "the lowest `severity` that gives exit code 1: error, warning or note")
	voice.Offer(cmd, "fail-on", names(finding.Severities())...)
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

// names returns the texts of severities or formats.
func names[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return texts
}

// check reports everything that is wrong with the command line.
func (o *checkOptions) check(flags *pflag.FlagSet) error {
	return voice.Usage(errors.Join(
		voice.Problem(len(o.ruled.Rules) == 0, "nothing to check: name files or folders of Conversions"),
		voice.Problem(len(o.ruled.Rules) > 0 && len(o.ruled.CRDPaths()) == 0 && !o.live.On, "no CRDs to check against: give their file or folder with --crds"),
		o.live.Check(flags),
		voice.Problem(len(o.againstCRDs) > 0 && len(o.against) == 0, "--against-crd: CRDs of old rules, and no old rules: give their file or folder with --against"),
		o.ruled.CheckStdin(slices.Concat(o.against, o.againstCRDs)...),
		voice.CheckOutput(o.output, names(finding.Formats())...),
		voice.Problem(!slices.Contains(finding.Severities(), finding.Severity(o.failOn)), "--fail-on %q: no such severity, write error, warning or note", o.failOn)), "")
}

func run(cmd *cobra.Command, p *voice.Program, o *checkOptions) error {
	ctx := cmd.Context()
	o.ruled.Arguments = true
	if err := o.check(cmd.Flags()); err != nil {
		return err
	}
	var reader *connect.Reader
	if o.live.On {
		var err error
		if reader, err = o.live.Reader(p, "leave out --live, or ", &o.ruled); err != nil {
			return err
		}
	}
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
	return o.write(p, &set, changes)
}

// compareRules adds notes on values that the old rules have kept, and returns what they converted
// differently.
func compareRules(ctx context.Context, p *voice.Program, o *checkOptions, set *ruleset.Set) ([]check.Change, error) {
	old := offline.Flags{Rules: o.against, CRDs: o.againstCRDs}
	ruleFiles, err := offline.Read(ctx, p, ruleset.Origin{What: "old rules", Remedy: "give their file or folder with --against"}, old.Rules)
	crdFiles, crdErr := offline.Read(ctx, p, ruleset.Origin{What: "CRDs of old rules", Remedy: "give their file or folder with --against-crd"}, old.CRDs)
	if err := errors.Join(err, crdErr); err != nil {
		return nil, err
	}
	if len(o.againstCRDs) == 0 { // those in the folders of the old rules win
		crdFiles = append(offline.InFolders(ruleFiles), set.CRDFiles...)
	}
	loaded, err := p.Compiled.Load(ctx, ruleFiles, crdFiles)
	if err == nil && len(loaded.Conversions) == 0 {
		err = voice.Usage(fmt.Errorf("%s: no Conversion in any file of --against", offline.NamesOf(o.against)), "")
	}
	if err == nil {
		err = offline.Usable(p, &loaded, "old rules", "--against-crd names the CRDs that they were made for")
	}
	if err != nil {
		return nil, err
	}
	set.Findings = finding.Sort(append(set.Findings, check.Against(loaded.Bound, set.Bound)...))
	set.Before = loaded.Files
	return check.Changes(loaded.Bound, set.Bound), nil
}

// write prints the findings and what the old rules converted differently, and fails if a finding is
// as serious as --fail-on.
func (o *checkOptions) write(p *voice.Program, set *ruleset.Set, changes []check.Change) error {
	var out strings.Builder
	format := finding.Format(o.output)
	if format == finding.Markdown && len(o.against) > 0 {
		out.WriteString(markdownChanges(changes))
	}
	if format == finding.Text {
		format = p.TextFor(p.Stdout)
	}
	if err := set.Render(&out, format); err != nil {
		return err
	}
	if o.output == string(finding.Text) && len(changes) > 0 {
		out.WriteString(tableOfChanges(changes))
	}
	if err := p.Print(out.String()); err != nil {
		return err
	}
	o.ruled.NoteNoCRD(p, set)
	if set.Foreign > 0 {
		p.Note("%s skipped: no Kubernetes objects", voice.Count(set.Foreign, "file"))
	}
	if o.verbose {
		fmt.Fprint(p.Stderr, strings.TrimPrefix(textOfUnits(unitsOf(set, "")), "\n"))
	}
	said := "no findings in " + voice.Count(len(set.Files), "file")
	if len(set.Findings) > 0 {
		files := map[string]bool{}
		for _, f := range set.Findings {
			files[f.Pos.File] = true
		}
		said = voice.CountBySeverity(set.Findings) + " in " + voice.Count(len(files), "file")
	} else if len(o.against) > 0 {
		said += ", and kept values return as before"
	}
	p.Note("%s", said)
	if len(finding.Worst(set.Findings, finding.Severity(o.failOn))) > 0 {
		return voice.ErrReported
	}
	return nil
}

// changeRow returns the cells of what the old rules converted differently.
func changeRow(c *check.Change) []string {
	return []string{fmt.Sprintf("%s %s -> %s", c.CRD, c.From, c.To), cmp.Or(c.Path, "-"), cmp.Or(c.Before, "-"), cmp.Or(c.Now, "-"), c.Effect}
}

func tableOfChanges(changes []check.Change) string {
	rows := make([][]string, 1, 1+len(changes))
	rows[0] = []string{"CONVERSION", "FIELD", "BEFORE", "NOW", "FOR USERS"}
	for i := range changes {
		rows = append(rows, changeRow(&changes[i]))
	}
	return voice.Table(rows)
}

func markdownChanges(changes []check.Change) string {
	const title = "### What changes for users\n\n"
	if len(changes) == 0 {
		return title + "Every field is converted as before.\n\n"
	}
	var b strings.Builder
	b.WriteString(title + "| conversion | field | before | now | for users |\n|---|---|---|---|---|\n")
	for i := range changes {
		row := changeRow(&changes[i])
		for j, cell := range row {
			if cell = finding.MarkdownText(cell); j == 1 && cell != "-" {
				cell = "`" + row[1] + "`"
			}
			row[j] = cell
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return b.String() + "\n"
}
