package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// rows are those of the programme, by letter and number.
func rows() []string {
	var all []string
	for letter, count := range map[string]int{"E": 6, "C": 13, "P": 5, "R": 16, "S": 1} {
		for n := range count {
			all = append(all, fmt.Sprintf("%s%d", letter, n+1))
		}
	}
	return append(all, "X3")
}

// TestRowsAreListed holds that the README has every row, and that the tests it names are there.
func TestRowsAreListed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows() {
		if !strings.Contains(string(text), "\n| "+row+" |") {
			t.Errorf("no row %s", row)
		}
	}
	for _, named := range regexp.MustCompile("`([a-z0-9/]+) (Test\\w+)`").FindAllStringSubmatch(string(text), -1) {
		files, err := filepath.Glob(filepath.Join(root, named[1], "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(source), "\nfunc "+named[2]+"(")
		}
		if !found {
			t.Errorf("no %s in %s", named[2], named[1])
		}
	}
}
