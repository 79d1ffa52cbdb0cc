package cases

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
)

// New returns the command test.
func New(p *voice.Program) *cobra.Command {
	var o testOptions
	cmd := &cobra.Command{
		Use:   "test DIR... [--rules PATH] [--crds PATH] [--update] [-v]",
		Short: "Test conversions against cases: objects in files",
		Long: `Convert the objects in the files of a folder, and compare the results with the files next to them. A folder with a
Conversion or a CRD is a suite, together with everything below it. Other folders are searched for suites. With --rules or
--crds each DIR is one suite, which those files belong to. Files without rules and CRDs are cases:

- NAME.VERSION.yaml is the object of the case NAME at VERSION, such as simple.v1beta1.yaml.
- NAME.FROM-to-TO.yaml is the result of converting NAME.FROM.yaml to TO if that is not NAME.TO.yaml: after an edit that
  makes kept values stale, or if rules drop something.

Every NAME.VERSION.yaml is converted to all other versions. The result must equal the file of that version, if there is
one, annotations included, once the API server has filled in the defaults of the schema. Converted back, it must be the
original object but for its kept values, so a single file already tests a round trip. The files must be objects that the
API server could store: valid, and with nothing to prune. Rules are checked as well, as by webhookd check.

With --update the files are rewritten: all versions of a case from one, the first without kept values in the order of the
CRD. Missing files are created. An existing FROM-to-TO file is rewritten even if it is empty. Review the changes.

The exit code is 0 if every case passes, 1 if not or if there is no case, and 2 if the command line is wrong.`,
		Example: `  webhookd test conversions/
  webhookd test conversions/crontab --update
  webhookd test cases/ --rules conversions/crontab.yaml --crds crds/crontab.yaml -v`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dirs = args
			if len(args) == 0 {
				return voice.Usage(errors.New("nothing to test: name folders with cases"), "webhookd test --help describes them")
			}
			if err := o.ruled.CheckStdin(args...); err != nil {
				return voice.Usage(err, "")
			}
			return run(cmd.Context(), p, &o)
		},
	}
	flags := cmd.Flags()
	o.ruled.Add(flags)
	flags.BoolVar(&o.update, "update", false, "rewrite the files of the cases")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "also print what passes")
	return cmd
}

// testOptions are the flags of test.
type testOptions struct {
	dirs            []string
	ruled           offline.Flags
	update, verbose bool
}

// test runs all suites.
func run(ctx context.Context, p *voice.Program, o *testOptions) error {
	suites, err := findSuites(ctx, p, o)
	if err != nil {
		return voice.Usage(err, "")
	}
	total := tally{}
	for _, s := range suites {
		if err := s.run(ctx, o.update); err != nil {
			return err
		}
		total.add(s.tally)
	}
	p.Note("%s in %s, %s, %s", voice.Count(total.cases, "case"), voice.Count(len(suites), "suite"),
		voice.Count(total.conversions, "conversion"), voice.Count(total.failures, "failure"))
	switch {
	case total.failures > 0:
		return voice.ErrReported
	case total.cases == 0: // usually a mistake, which would pass for ever
		return voice.Hint(fmt.Errorf("%s: no case in any folder", strings.Join(o.dirs, ", ")),
			"a case is a file NAME.VERSION.yaml with an object; webhookd check checks rules alone")
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
