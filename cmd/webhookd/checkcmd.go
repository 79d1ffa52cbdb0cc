package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

func newCheckCommand(p *program) *cobra.Command {
	var f ruleFlags
	output, verbose := string(finding.Text), false
	cmd := &cobra.Command{
		Use:   "check RULES... --crd PATH [-o FORMAT]",
		Short: "Check Conversion files against their CRDs",
		Long: `Check Conversion files against the schemas of their CRDs, and print everything that is wrong with them: what would be
lost, what the API server would prune or refuse, and what makes no sense. Rules that pass lose nothing but what they
drop with a reason.

RULES are files, folders, or - for stdin. Of a folder, the .yaml, .yml and .json files in it are read, as serve reads them:
not those in folders below; where Conversions are there, it is said. Files with other objects than Conversions are left
out. Without --crd the CRDs are those in the folders.

Findings go to stdout; the exit code is 0 if there are none, and 1 if there are. With -o github they are annotations
of a pull request, with -o sarif a file for code scanning, with -o junit a report of tests.`,
		Example: `  webhookd check rules/crontabs.yaml --crd crds/crontabs.yaml
  webhookd check conversions/ -o json
  webhookd suggest --crd crd.yaml | webhookd check - --crd crd.yaml`,
		RunE: func(_ *cobra.Command, args []string) error {
			f.rules, f.arguments = append(f.rules, args...), true
			if err := f.checkArguments(output); err != nil {
				return err
			}
			return p.check(&f, finding.Format(output), verbose)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.add(flags)
	flags.Lookup("rules").Usage += "; the same as an argument"
	flags.StringVarP(&output, "output", "o", output, "`format`: "+strings.Join(findingFormats(), ", "))
	offer(cmd, "output", findingFormats()...)
	flags.BoolVarP(&verbose, "verbose", "v", false, "tell on stderr which places belong together, as explain does")
	return cmd
}

func findingFormats() []string {
	names := make([]string, 0, len(finding.Formats()))
	for _, format := range finding.Formats() {
		names = append(names, string(format))
	}
	return names
}

// checkArguments reports all that is wrong with the command line of check.
func (f *ruleFlags) checkArguments(output string) error {
	var problems []error
	if len(f.rules) == 0 {
		problems = append(problems, errors.New("nothing to check: name files or folders of Conversions"))
	} else if len(f.crdPaths()) == 0 {
		problems = append(problems, errors.New("no CRDs to check against: give their file or folder with --crd"))
	}
	problems = append(problems, f.checkStdin())
	if !slices.Contains(findingFormats(), output) {
		problems = append(problems, badOutput(output, findingFormats()...))
	}
	if err := errors.Join(problems...); err != nil {
		return usage(err, "")
	}
	return nil
}

func (p *program) check(f *ruleFlags, format finding.Format, verbose bool) error {
	ruleFiles, crdFiles, err := p.texts(f)
	if err != nil {
		return err
	}
	set := loadRules(ruleFiles, crdFiles)
	if len(set.files) == 0 {
		return noConversion(f.rules)
	}
	if err := set.render(p.stdout, format); err != nil {
		return err
	}
	p.tellBelow(f, &set)
	if verbose {
		if err := writeUnits(p.stderr, explainUnits(&set, ""), false); err != nil {
			return err
		}
	}
	if len(set.findings) == 0 {
		fmt.Fprintf(p.stderr, "webhookd: no findings in %s\n", count(len(set.files), "file"))
		return nil
	}
	fmt.Fprintf(p.stderr, "webhookd: %s in %s\n", count(len(set.findings), "finding"), count(filesWith(set.findings), "file"))
	return errReported
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
