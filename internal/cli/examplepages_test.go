//go:build !race

// This converts for long on one goroutine, where there is nothing for the race detector.

package cli

import (
	"path/filepath"
	"strings"
	"testing"
)

// The test follows pages like a reader: it writes the files, runs the commands, and compares their
// output. With -update it rewrites the output.
//
//nolint:paralleltest // it works in folders of its own
func TestPagesAreTrue(t *testing.T) {
	folder, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{
		"tutorials/first-conversion.md":      6,
		"tutorials/crossplane.md":            3,
		"how-to/convert-manifests-in-git.md": 3,
		"how-to/wire-a-crd.md":               1,
		"how-to/write-conversion-rules.md":   0,
	} {
		t.Chdir(t.TempDir())
		if commands := followFile(t, filepath.Join(folder, name), "webhookd"); commands < least {
			t.Errorf("%d commands, %s is not read as it is written", commands, name)
		}
		if page := filepath.Join(folder, name); strings.HasSuffix(page, "first-conversion.md") {
			serveTutorial(t, page)
		}
	}
}

// The page about the examples shows the output of its commands, which -update rewrites.
//
//nolint:paralleltest // it works in the repository's folder
func TestExamplesShowWhatIsPrinted(t *testing.T) {
	t.Chdir("../..")
	if commands := followFile(t, "examples/README.md", "bin/webhookd"); commands < 4 {
		t.Errorf("%d commands, the page is not read as it is written", commands)
	}
}
