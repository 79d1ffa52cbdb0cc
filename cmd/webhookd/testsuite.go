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
func (p *program) findSuites(ctx context.Context, dir string, named namedFiles) ([]*testSuite, error) {
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
	suites, err := searchSuites(ctx, dir)
	if err == nil && len(suites) == 0 {
		err = fmt.Errorf("no Conversion and no CRD in or below this folder, name them with --rules and --crd: %s", dir)
	}
	return suites, err
}

func placeOfCases() place { return place{"cases", "name the folder that they are in"} }

// searchSuites returns the folder if it is a suite, else those below it.
func searchSuites(ctx context.Context, dir string) ([]*testSuite, error) {
	files, err := readTexts(ctx, readerOfVerbs(), placeOfCases(), dir)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(files, func(f textFile) bool { return roleOf(f) != roleCase }) {
		suite, err := readSuite(dir)
		// A folder of CRDs alone is none: others refer to it.
		if err != nil || len(suite.rules)+len(suite.files) == 0 {
			return nil, err
		}
		return []*testSuite{suite}, nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var suites []*testSuite
	var problems []error
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		found, err := searchSuites(ctx, filepath.Join(dir, e.Name()))
		suites = append(suites, found...)
		problems = append(problems, err)
	}
	return suites, errors.Join(problems...)
}

// readSuite reads the files in and below a folder.
func readSuite(dir string) (*testSuite, error) {
	s := &testSuite{dir: filepath.Clean(dir)}
	names, err := yamlFiles(dir)
	if err != nil {
		return nil, err
	}
	var problems []error
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
