package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// kindCRD is what documents that are CRDs say of themselves.
const kindCRD = "CustomResourceDefinition"

// A testSuite is a folder with cases, and what converts them.
type testSuite struct {
	dir         string
	rules, crds []textFile
	files       []textFile // of cases
	out         *program
	verbose     bool

	set         *ruleSet
	ruleProblem bool // some kinds cannot be converted, which is told
	converter   *offline
	cases       []*testCase
	tally       tally
}

// namedFiles are those of --rules and --crd, which belong to every suite.
type namedFiles struct {
	given       bool // either flag was
	rules, crds []textFile
}

// named reads them, once, since stdin may be among them.
func (p *program) named(ctx context.Context, f *ruleFlags) (namedFiles, error) {
	named := namedFiles{given: len(f.rules)+len(f.crds) > 0}
	ruleFiles, crdFiles, err := p.texts(ctx, f)
	named.rules, named.crds = filesOfRules(ruleFiles), crdFiles
	if err == nil && len(f.rules) > 0 && len(named.rules) == 0 {
		err = noConversion(f.rules)
	}
	return named, err
}

// findSuites returns the suites in and below a folder.
func (p *program) findSuites(dir string, named namedFiles) ([]*testSuite, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, placeOfCases().unread(dir, err)
	case !info.IsDir():
		return nil, fmt.Errorf("not a folder, name the one that the cases are in: %s", dir)
	case named.given:
		suite, err := readSuite(dir)
		if err != nil {
			return nil, err
		}
		suite.rules = once(append(suite.rules, named.rules...))
		suite.crds = once(append(suite.crds, named.crds...))
		return []*testSuite{suite}, nil
	}
	all, err := readSuite(dir)
	suites := all.split()
	if err == nil && len(suites) == 0 {
		err = fmt.Errorf("no Conversion and no CRD in or below this folder, name them with --rules and --crd: %s", dir)
	}
	return suites, err
}

func placeOfCases() place { return place{"cases", "name the folder that they are in"} }

// split returns a suite for each folder with a Conversion or a CRD, but for folders below such a folder.
func (s *testSuite) split() []*testSuite {
	var folders []string
	for _, f := range slices.Concat(s.rules, s.crds) {
		folders = append(folders, filepath.Dir(f.name))
	}
	slices.Sort(folders)
	var suites []*testSuite
	for _, dir := range slices.Compact(folders) {
		if slices.ContainsFunc(suites, func(above *testSuite) bool { return isIn(dir, above.dir) }) {
			continue
		}
		in := func(files []textFile) []textFile {
			return slices.DeleteFunc(slices.Clone(files), func(f textFile) bool { return !isIn(f.name, dir) })
		}
		suites = append(suites, &testSuite{dir: dir, rules: in(s.rules), crds: in(s.crds), files: in(s.files)})
	}
	// Suites refer to a folder of CRDs alone; it is not one itself.
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
	names, err := yamlFiles(dir)
	if err != nil {
		return s, err
	}
	problems := make([]error, 0, len(names))
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), ".") {
			continue
		}
		text, err := readBounded(name, name)
		problems = append(problems, err)
		file := textFile{name: name, text: text, inFolder: true}
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

// A role is what a file of a suite is there for.
type role int

const (
	roleCase role = iota
	roleRules
	roleCRDs
	roleBoth
)

// versionName is how the last part of the name of a case's file begins.
var versionName = regexp.MustCompile(`\.v\d[a-z0-9]*(-to-[a-z0-9-]+)?\.[a-z]+$`)

// roleOf tells it by the kinds of the documents. A file that cannot be read is one of rules, for the parser of rules to say
// why, unless it has the name of a case.
func roleOf(f textFile) role {
	in, err := parseInput(f.name, f.text)
	if err != nil {
		if versionName.MatchString(f.name) {
			return roleCase
		}
		return roleRules
	}
	hasRules, hasCRDs := false, false
	for _, document := range in.documents {
		_, gvk, err := parse(document)
		hasCRDs = hasCRDs || err == nil && gvk.Kind == kindCRD
		hasRules = hasRules || err == nil && mayBeConversion(document)
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
