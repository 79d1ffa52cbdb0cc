package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
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
original object but for its kept values. The files must be objects that the API server could store: valid, and with nothing
to prune. Rules are checked as well, as by webhookd check.

With --update the files are rewritten: all versions of a case from one, the first without kept values in the order of the
CRD. Missing files are created. An existing FROM-to-TO file is rewritten even if it is empty. Review the changes.`,
		Example: `  webhookd test conversions/
  webhookd test conversions/crontab --update
  webhookd test cases/ --rules conversions/crontab.yaml --crds crds/crontab.yaml -v`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.dirs = args
			if len(args) == 0 {
				return voice.Usage(errors.New("nothing to test: name folders with cases"), "webhookd test --help describes them")
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

// A suite is a folder with cases, and what converts them.
type suite struct {
	p           *voice.Program
	dir         string
	rules, crds []ruleset.File
	files       []ruleset.File // of cases
	verbose     bool

	converter   *offline.Converter
	ruleProblem bool // some kinds cannot be converted, which is already reported
	cases       []*testCase
	tally       tally
}

// findSuites returns the suites in and below the folders. The files of --rules and --crds belong to
// every suite.
func findSuites(ctx context.Context, p *voice.Program, o *testOptions) ([]*suite, error) {
	rules, crds, err := o.ruled.Files(ctx, p, o.ruled.CheckStdin(o.dirs...))
	rules, _ = ruleset.FilesOfRules(rules)
	if err == nil && len(o.ruled.Rules) > 0 && len(rules) == 0 {
		err = offline.NoConversion(o.ruled.Rules)
	}
	problems := append(make([]error, 0, 1+len(o.dirs)), err)
	var suites []*suite
	for _, dir := range o.dirs {
		whole, err := readSuite(ctx, dir)
		whole.rules, whole.crds = offline.Once(append(whole.rules, rules...)), offline.Once(append(whole.crds, crds...))
		found := []*suite{whole}
		if len(o.ruled.Rules)+len(o.ruled.CRDs) == 0 {
			found = whole.split()
		}
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%s: no Conversion and no CRD in or below this folder, name them with --rules and --crds", dir)
		}
		suites, problems = append(suites, found...), append(problems, err)
	}
	for _, s := range suites {
		s.p, s.verbose = p, o.verbose
	}
	return suites, errors.Join(problems...)
}

// split returns a suite for each folder with a Conversion or a CRD, except folders below such a
// folder.
func (s *suite) split() []*suite {
	folders := make([]string, 0, len(s.rules)+len(s.crds))
	for _, f := range slices.Concat(s.rules, s.crds) {
		folders = append(folders, filepath.Dir(f.Name))
	}
	slices.Sort(folders)
	var suites []*suite
	for _, dir := range slices.Compact(folders) {
		if slices.ContainsFunc(suites, func(above *suite) bool { return isIn(dir, above.dir) }) {
			continue
		}
		in := func(files []ruleset.File) []ruleset.File {
			return slices.DeleteFunc(slices.Clone(files), func(f ruleset.File) bool { return !isIn(f.Name, dir) })
		}
		suites = append(suites, &suite{dir: dir, rules: in(s.rules), crds: in(s.crds), files: in(s.files)})
	}
	// A folder with only CRDs is not a suite.
	return slices.DeleteFunc(suites, func(s *suite) bool { return len(s.rules)+len(s.files) == 0 })
}

// isIn reports whether a path is in or below a folder.
func isIn(path, dir string) bool {
	relative, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(relative)
}

// readSuite reads the files in and below a folder.
func readSuite(ctx context.Context, dir string) (*suite, error) {
	s := &suite{dir: filepath.Clean(dir)}
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return s, fmt.Errorf("%s: not a folder, name the one that the cases are in", dir)
	}
	files, err := ruleset.Read(ctx, ruleset.ReadBounded, ruleset.Origin{What: "cases", Remedy: "name the folder that they are in"}, dir)
	for _, file := range files {
		hasRules, hasCRDs := roleOf(file)
		if hasRules {
			s.rules = append(s.rules, file)
		}
		if hasCRDs {
			s.crds = append(s.crds, file)
		}
		if !hasRules && !hasCRDs {
			s.files = append(s.files, file)
		}
	}
	return s, err
}

// versionName matches the end of the name of a case's file.
var versionName = regexp.MustCompile(`\.v\d[a-z0-9]*(-to-[a-z0-9-]+)?\.[a-z]+$`)

// roleOf looks at the kinds of the documents. A file with neither rules nor CRDs is that of a case.
// A file that cannot be read counts as rules, whose parser reports the reason, unless it has the
// name of a case.
func roleOf(f ruleset.File) (hasRules, hasCRDs bool) {
	in, err := manifest.ParseFile(f.Name, f.Text)
	if err != nil {
		return !versionName.MatchString(f.Name), false
	}
	for _, document := range in.Documents {
		_, gvk, err := manifest.ParseObject(document)
		hasCRDs = hasCRDs || err == nil && manifest.IsDefinition(gvk)
		hasRules = hasRules || err == nil && ruleset.MayBeRules(document)
	}
	return hasRules, hasCRDs
}
