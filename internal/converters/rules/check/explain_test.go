package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"

	engine "github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// explainFolder returns what becomes of every atom of a folder's versions.
func explainFolder(t *testing.T, folder string) []check.Direction {
	t.Helper()
	crds, err := apiserver.Parse("crd.yaml", read(t, folder, "crd.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	set, _ := load(t, crds, engine.Options{Go: swapping()}, engine.Source{Name: "rules.yaml", Text: read(t, folder, "rules.yaml")})
	return check.Explain(set.Bound().Kinds[0])
}

// table writes directions for the golden files.
func table(directions []check.Direction) string {
	var b strings.Builder
	for _, d := range directions {
		fmt.Fprintf(&b, "%s -> %s\n", d.From, d.To)
		w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, a := range d.Atoms {
			fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t%s\n", a.Path, a.Kind, a.Class, a.Rule, a.To, a.Reason)
		}
		_ = w.Flush()
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// TestEveryAtomHasOneClass explains the clean cases. Nothing in them is unmapped, and no atom is
// there twice.
func TestEveryAtomHasOneClass(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("testdata/clean-*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		directions := explainFolder(t, folder)
		got := table(directions)
		name := filepath.Join(folder, "explain.txt")
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(read(t, name)), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", folder, diff)
		}
		for _, d := range directions {
			seen := map[string]bool{}
			for _, a := range d.Atoms {
				if a.Class == check.Unmapped {
					t.Errorf("%s: %s -> %s: %s is unmapped", folder, d.From, d.To, a.Path)
				}
				if id := a.Path + " " + string(a.Kind); seen[id] {
					t.Errorf("%s: %s -> %s: %s appears twice", folder, d.From, d.To, id)
				} else {
					seen[id] = true
				}
			}
		}
	}
}

// TestUnmappedAtomsAreExplainedToo explains a case with findings.
func TestUnmappedAtomsAreExplainedToo(t *testing.T) {
	t.Parallel()
	for _, d := range explainFolder(t, "testdata/unmapped-fields") {
		unmapped := 0
		for _, a := range d.Atoms {
			if a.Class == check.Unmapped {
				unmapped++
			}
		}
		if unmapped == 0 {
			t.Errorf("%s -> %s: nothing is unmapped", d.From, d.To)
		}
	}
}
