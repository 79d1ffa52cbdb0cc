package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newTestCommand(p *program) *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test DIR... [--rules PATH] [--crd PATH] [--update] [-v]",
		Short: "Hold conversions to cases: objects in files",
		Long: `Convert the objects in the files of a folder, and compare with what the files beside them say. A folder that holds a
Conversion or a CRD is a suite, with all that is below it; in other folders suites are looked for. In a suite, documents
of kind CustomResourceDefinition are CRDs, those of kind Conversion are rules, and every other file is of a case:

- NAME.VERSION.yaml is the object of the case NAME at VERSION, such as simple.v1beta1.yaml.
- NAME.FROM-to-TO.yaml is what NAME.FROM.yaml becomes at TO where that is not NAME.TO.yaml: after an edit that makes
  kept values stale, and of what is dropped.

Every NAME.VERSION.yaml is converted to all other versions, and must become what the file of that version says, if there
is one: the same but for the order of keys, annotations included, once the API server has filled in the defaults of the
schema. From there it is converted back, and must be what it was. So one file is a case already: that of a round trip.
An object that brings kept values along in annotations may lose those on the way.

The files must be what the API server could store: nothing to prune, and valid. Rules are checked too, as by webhookd
check. With --rules or --crd each DIR is one suite, to which those files belong; a kind whose converter is compiled in
needs no rules. A folder named so is read to the bottom, as by serve and check.

With --update the files are written anew: of each case all versions from one, which is the first in the order of the CRD
that has no kept values in annotations. Those that are not there are made. A FROM-to-TO file is written anew where it is,
even if it is empty. Read what changed.

The exit code is 0 if all is as it should be, 1 if not or if there is no case, and 2 if the command line is wrong.`,
		Example: `  webhookd test conversions/
  webhookd test conversions/crontab --update
  webhookd test cases/ --rules conversions/crontab.yaml --crd crds/crontab.yaml -v`,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dirs = args
			if len(args) == 0 {
				return usage(errors.New("nothing to test: name folders with cases"), "webhookd test --help says what they hold")
			}
			if err := o.ruled.checkStdin(args...); err != nil {
				return usage(err, "")
			}
			return p.test(cmd.Context(), &o)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	o.ruled.add(flags)
	flags.BoolVar(&o.update, "update", false, "write the files of the cases anew")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "print what holds, too")
	return cmd
}

// testOptions are the flags of test.
type testOptions struct {
	dirs            []string
	ruled           ruleFlags
	update, verbose bool
}

// test runs all suites.
func (p *program) test(ctx context.Context, o *testOptions) error {
	var suites []*testSuite
	named, err := p.named(ctx, &o.ruled)
	problems := append(make([]error, 0, len(o.dirs)+1), err)
	for _, dir := range o.dirs {
		found, err := p.findSuites(dir, named)
		suites = append(suites, found...)
		problems = append(problems, err)
	}
	if err := errors.Join(problems...); err != nil {
		return usage(err, "")
	}
	total := tally{}
	for _, s := range suites {
		if err := s.run(ctx, p, o); err != nil {
			return err
		}
		total.add(s.tally)
	}
	fmt.Fprintf(p.stderr, "webhookd: %s in %s, %s, %s\n", count(total.cases, "case"), count(len(suites), "suite"),
		count(total.conversions, "conversion"), count(total.failures, "failure"))
	switch {
	case total.failures > 0:
		return errReported
	case total.cases == 0: // which is rarely meant, and would pass for ever
		return hintError{
			fmt.Errorf("no case in any folder: %s", strings.Join(o.dirs, ", ")),
			"a case is a file NAME.VERSION.yaml with an object, webhookd check is for rules alone",
		}
	}
	return nil
}

// A tally counts what was done.
type tally struct{ cases, conversions, failures, written int }

func (t *tally) add(u tally) {
	t.cases += u.cases
	t.conversions += u.conversions
	t.failures += u.failures
	t.written += u.written
}
