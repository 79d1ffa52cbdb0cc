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

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A testSuite is a folder with cases, and what converts them.
type testSuite struct {
	dir         string
	rules, crds []ruleset.File
	files       []ruleset.File // of cases
	out         *voice.Program
	verbose     bool

	set         *ruleset.Set
	ruleProblem bool // some kinds cannot be converted, which is already reported
	converter   *offline.Converter
	cases       []*testCase
	tally       tally
}

// namedFiles are the files of --rules and --crds, which belong to every suite.
type namedFiles struct {
	given       bool // either flag is set
	rules, crds []ruleset.File
}

// named reads the files of --rules and --crds once, since stdin may be among them.
func named(ctx context.Context, p *voice.Program, f *offline.Flags) (namedFiles, error) {
	named := namedFiles{given: len(f.Rules)+len(f.CRDs) > 0}
	ruleFiles, crdFiles, err := offline.Texts(ctx, p, f)
	named.rules, _ = ruleset.FilesOfRules(ruleFiles)
	named.crds = crdFiles
	if err == nil && len(f.Rules) > 0 && len(named.rules) == 0 {
		err = offline.NoConversion(f.Rules)
	}
	return named, err
}

// findSuites returns the suites in and below a folder.
func findSuites(p *voice.Program, dir string, named namedFiles) ([]*testSuite, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, placeOfCases().Unread(dir, err)
	case !info.IsDir():
		return nil, fmt.Errorf("%s: not a folder, name the one that the cases are in", dir)
	case named.given:
		suite, err := readSuite(dir)
		if err != nil {
			return nil, err
		}
		suite.rules = offline.Once(append(suite.rules, named.rules...))
		suite.crds = offline.Once(append(suite.crds, named.crds...))
		return []*testSuite{suite}, nil
	}
	all, err := readSuite(dir)
	suites := all.split()
	if err == nil && len(suites) == 0 {
		err = fmt.Errorf("%s: no Conversion and no CRD in or below this folder, name them with --rules and --crds", dir)
	}
	return suites, err
}

func placeOfCases() ruleset.Origin {
	return ruleset.Origin{What: "cases", Remedy: "name the folder that they are in"}
}

// split returns a suite for each folder with a Conversion or a CRD, except folders below such a
// folder.
func (s *testSuite) split() []*testSuite {
	folders := make([]string, 0, len(s.rules)+len(s.crds))
	for _, f := range slices.Concat(s.rules, s.crds) {
		folders = append(folders, filepath.Dir(f.Name))
	}
	slices.Sort(folders)
	var suites []*testSuite
	for _, dir := range slices.Compact(folders) {
		if slices.ContainsFunc(suites, func(above *testSuite) bool { return isIn(dir, above.dir) }) {
			continue
		}
		in := func(files []ruleset.File) []ruleset.File {
			return slices.DeleteFunc(slices.Clone(files), func(f ruleset.File) bool { return !isIn(f.Name, dir) })
		}
		suites = append(suites, &testSuite{dir: dir, rules: in(s.rules), crds: in(s.crds), files: in(s.files)})
	}
	// A folder with only CRDs is not a suite.
	return slices.DeleteFunc(suites, func(s *testSuite) bool { return len(s.rules)+len(s.files) == 0 })
}

// isIn reports whether a path is in or below a folder.
func isIn(path, dir string) bool {
	relative, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(relative)
}

// readSuite reads the files in and below a folder.
func readSuite(dir string) (*testSuite, error) {
	s := &testSuite{dir: filepath.Clean(dir)}
	names, err := offline.YAMLFiles(dir)
	if err != nil {
		return s, err
	}
	problems := make([]error, 0, len(names))
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), ".") {
			continue
		}
		text, err := ruleset.ReadBounded(name, name)
		problems = append(problems, err)
		file := ruleset.File{Name: name, Text: text, InFolder: true}
		switch roleOf(file) {
		case roleRules:
			s.rules = append(s.rules, file)
		case roleCRDs:
			s.crds = append(s.crds, file)
		case roleBoth:
			s.rules, s.crds = append(s.rules, file), append(s.crds, file)
		case roleCase:
			s.files = append(s.files, file)
		}
	}
	return s, errors.Join(problems...)
}

// A role is what a file of a suite contains.
type role int

const (
	roleCase role = iota
	roleRules
	roleCRDs
	roleBoth
)

// versionName matches the end of the name of a case's file.
var versionName = regexp.MustCompile(`\.v\d[a-z0-9]*(-to-[a-z0-9-]+)?\.[a-z]+$`)

// roleOf looks at the kinds of the documents. A file that cannot be read counts as rules, whose
// parser reports the reason, unless it has the name of a case.
func roleOf(f ruleset.File) role {
	in, err := manifest.ParseFile(f.Name, f.Text)
	if err != nil {
		if versionName.MatchString(f.Name) {
			return roleCase
		}
		return roleRules
	}
	hasRules, hasCRDs := false, false
	for _, document := range in.Documents {
		_, gvk, err := manifest.ParseObject(document)
		hasCRDs = hasCRDs || err == nil && manifest.IsDefinition(gvk)
		hasRules = hasRules || err == nil && ruleset.MayBeRules(document)
	}
	switch {
	case hasRules && hasCRDs:
		return roleBoth
	case hasRules:
		return roleRules
	case hasCRDs:
		return roleCRDs
	}
	return roleCase
}
