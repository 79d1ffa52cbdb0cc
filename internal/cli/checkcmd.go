package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/ruleset"
)

func newCheckCommand(p *program) *cobra.Command {
	o := checkOptions{output: string(finding.Text), failOn: string(finding.Error)}
	cmd := &cobra.Command{
		Use:   "check RULES... --crd PATH [--against OLD] [-o FORMAT]",
		Short: "Check Conversion files against their CRDs",
		Long: `Check Conversion files against the schemas of their CRDs, and print everything that is wrong with them: what would be
lost, what the API server would prune or refuse, and what makes no sense. Rules that pass lose nothing but what they
drop with a reason.

RULES are files, folders, or - for stdin. In a folder, all .yaml, .yml and .json files are read to the bottom, but for
folders with a dot, as serve reads them. Files without a Conversion are left out. Without --crd the CRDs are those in
the folders.

With --against it also says what becomes of values that are kept in annotations by rules of OLD, for each pair of versions:
which return to a place that the other version has got, which count as edited since what belongs with them has changed,
and which are dropped. These are notes, for rules that objects are stored by: of values that return as before, nothing is
said. The CRDs of OLD are those of --against-crd, or those in its folder, or else those of the rules.

Findings go to stdout; the exit code is 0 if there are none, and 1 if there are. With --fail-on note it is 1 if there are
notes, too. With -o github findings are annotations of a pull request, with -o sarif a file for code scanning, with -o junit
a report of tests.`,
		Example: `  webhookd check rules/crontabs.yaml --crd crds/crontabs.yaml
  webhookd check conversions/ -o json
  webhookd suggest --crd crd.yaml | webhookd check - --crd crd.yaml
  git show main:rules.yaml | webhookd check rules.yaml --crd crd.yaml --against -`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.ruled.rules, o.ruled.arguments = append(o.ruled.rules, args...), true
			if err := o.check(); err != nil {
				return err
			}
			return p.check(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	o.ruled.add(flags)
	flags.Lookup("rules").Usage += "; the same as an argument"
	flags.StringArrayVar(&o.against, "against", nil,
		"`path` of a file or folder of the rules until now, - for stdin; may be given more than once")
	flags.StringArrayVar(&o.againstCRDs, "against-crd", nil,
		"`path` of a file or folder of their CRDs; may be given more than once (default the folders of --against, or --crd)")
	flags.StringVarP(&o.output, "output", "o", o.output, "`format`: "+strings.Join(findingFormats(), ", "))
	offer(cmd, "output", findingFormats()...)
	flags.StringVar(&o.failOn, "fail-on", o.failOn, "the least `severity` for the exit code 1: error or note")
	offer(cmd, "fail-on", severities()...)
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "tell on stderr which places belong together, as explain does")
	return cmd
}

// checkOptions are the flags of check.
type checkOptions struct {
	ruled                ruleFlags
	against, againstCRDs []string
	output, failOn       string
	verbose              bool
}

func severities() []string { return []string{string(finding.Error), string(finding.Note)} }

func findingFormats() []string {
	names := make([]string, 0, len(finding.Formats()))
	for _, format := range finding.Formats() {
		names = append(names, string(format))
	}
	return names
}

// check reports all that is wrong with the command line.
func (o *checkOptions) check() error {
	var problems []error
	if len(o.ruled.rules) == 0 {
		problems = append(problems, errors.New("nothing to check: name files or folders of Conversions"))
	} else if len(o.ruled.crdPaths()) == 0 {
		problems = append(problems, errors.New("no CRDs to check against: give their file or folder with --crd"))
	}
	if len(o.againstCRDs) > 0 && len(o.against) == 0 {
		problems = append(problems, errors.New("CRDs of old rules, and no old rules: give their file or folder with --against"))
	}
	problems = append(problems, o.ruled.checkStdin(slices.Concat(o.against, o.againstCRDs)...))
	if !slices.Contains(findingFormats(), o.output) {
		problems = append(problems, badOutput(o.output, findingFormats()...))
	}
	if !slices.Contains(severities(), o.failOn) {
		problems = append(problems, fmt.Errorf("unknown severity %q: write error or note", o.failOn))
	}
	if err := errors.Join(problems...); err != nil {
		return usage(err, "")
	}
	return nil
}

func (p *program) check(ctx context.Context, o *checkOptions) error {
	f := &o.ruled
	ruleFiles, crdFiles, err := p.texts(ctx, f)
	if err != nil {
		return err
	}
	set, err := p.compiled.Load(ctx, ruleFiles, crdFiles)
	if err != nil {
		return err
	}
	if len(set.Files) == 0 {
		return noConversion(f.rules)
	}
	if len(o.against) > 0 {
		if err := p.compare(ctx, o, &set); err != nil {
			return err
		}
	}
	if err := set.Render(p.stdout, finding.Format(o.output)); err != nil {
		return err
	}
	p.tellNoCRD(f, &set)
	if o.verbose {
		if err := writeUnits(p.stderr, explainUnits(&set, ""), false); err != nil {
			return err
		}
	}
	return p.conclude(o, &set)
}

// compare adds notes on what rules before have kept.
func (p *program) compare(ctx context.Context, o *checkOptions, set *ruleset.Set) error {
	from := ruleset.Origin{What: "old rules", Remedy: "give their file or folder with --against"}
	ruleFiles, err := p.read(ctx, from, o.against)
	crdFiles, crdErr := p.read(ctx, ruleset.Origin{What: "CRDs of old rules", Remedy: "give their file or folder with --against-crd"}, o.againstCRDs)
	if err := errors.Join(err, crdErr); err != nil {
		return usage(err, "")
	}
	if len(o.againstCRDs) == 0 { // those in the folder come first, and others may not be there
		crdFiles = slices.DeleteFunc(slices.Clone(ruleFiles), func(file ruleset.File) bool { return !file.InFolder })
		crdFiles = append(crdFiles, set.CRDFiles...)
	}
	old, err := p.compiled.Load(ctx, ruleFiles, crdFiles)
	switch {
	case err != nil:
		return err
	case len(old.Conversions) == 0:
		return usage(fmt.Errorf("no Conversion in any file of --against: %s", namesOf(o.against)), "")
	case old.Broken > 0:
		if err := old.Render(p.stderr, finding.Text); err != nil {
			return err
		}
		return hintError{
			fmt.Errorf("old rules cannot be used: %s above", count(len(old.Findings), "finding")),
			"--against-crd names the CRDs that they were made for",
		}
	}
	set.Findings = finding.Sort(append(set.Findings, check.Against(old.Bound, set.Bound)...))
	set.Before = old.Files
	return nil
}

// conclude says how many findings there are, and fails if they are grave enough.
func (p *program) conclude(o *checkOptions, set *ruleset.Set) error {
	problems := slices.DeleteFunc(slices.Clone(set.Findings), finding.Finding.IsNote)
	notes := len(set.Findings) - len(problems)
	said := "no findings in " + count(len(set.Files), "file")
	if len(problems) > 0 {
		said = count(len(problems), "finding") + " in " + count(filesWith(problems), "file")
	}
	if notes > 0 {
		said += ", and " + count(notes, "note")
		if notes > len(set.Passed) {
			said += " on kept values"
		}
	} else if len(o.against) > 0 && len(problems) == 0 {
		said += ", and kept values return as before"
	}
	fmt.Fprintf(p.stderr, "webhookd: %s\n", said)
	if len(problems) > 0 || notes > 0 && o.failOn == string(finding.Note) {
		return errReported
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

// count writes a number with its noun.
func count[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
