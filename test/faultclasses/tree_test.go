package faultclasses_test

import (
	"fmt"
	"go/build"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A tree is the folder of a repository whose tests are looked at, in whatever module they are. That
// none of them skips is the linter's to see.
type tree string

// problem says what is wrong with a test that a table names, if anything is.
func (t tree) problem(folder, name, subtest string) string {
	switch {
	case !slices.Contains(t.tests(folder), name):
		return fmt.Sprintf("there is no %s in %s", name, folder)
	case subtest != "" && !t.named(folder, subtest):
		return fmt.Sprintf("nothing in %s is called %q", folder, subtest)
	}
	return ""
}

var test = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(\w+ \*testing\.[TF]\) \{`)

// tests returns the tests of a folder that CI compiles, which is on Linux.
func (t tree) tests(folder string) []string {
	linux := build.Default
	linux.GOOS, linux.GOARCH, linux.BuildTags = "linux", "amd64", nil
	files, _ := filepath.Glob(filepath.Join(string(t), folder, "*_test.go")) // the pattern is good
	var names []string
	for _, file := range files {
		if compiled, err := linux.MatchFile(filepath.Split(file)); err != nil || !compiled {
			continue
		}
		text, _ := os.ReadFile(file)
		for _, found := range test.FindAllSubmatch(text, -1) {
			names = append(names, string(found[1]))
		}
	}
	return names
}

// named reports whether a string in a folder, or a file of its testdata, may be the name of a
// subtest.
func (t tree) named(folder, subtest string) (found bool) {
	_ = filepath.WalkDir(filepath.Join(string(t), folder), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.Contains(filepath.ToSlash(path), "/testdata/"):
			found = found || strings.TrimSuffix(d.Name(), filepath.Ext(d.Name())) == subtest
		case strings.HasSuffix(path, ".go"):
			text, _ := os.ReadFile(path) //nolint:gosec // of the repository
			found = found || strings.Contains(string(text), `"`+subtest+`"`)
		}
		return nil
	})
	return found
}
