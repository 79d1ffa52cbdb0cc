package check_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// againstFolder has a folder for each case, with the rules old.yaml and new.yaml, crd.yaml,
// old-crd.yaml if the old rules have another CRD, and the notes in want.txt. The tests of package
// rules use seen.yaml.
const againstFolder = "testdata/against"

// bound binds one file of a case to one of its CRDs. It may have notes at most.
func bound(t *testing.T, folder, rules, crd string) *binding.Set {
	t.Helper()
	crds, err := apiserver.Parse(crd, read(t, folder, crd))
	if err != nil {
		t.Fatal(err)
	}
	set, findings := load(t, crds, engine.Options{Go: swapping()}, engine.Source{Name: rules, Text: read(t, folder, rules)})
	for _, f := range finding.Worst(findings, finding.Warning) {
		t.Errorf("%s: %s", folder, f)
	}
	return set.Bound()
}

// oldCRD returns the name of the CRD of the old rules.
func oldCRD(folder string) string {
	const own = "old-crd.yaml"
	if _, err := os.Stat(filepath.Join(folder, own)); err == nil {
		return own
	}
	return "crd.yaml"
}

// TestAgainst compares the rules of each folder with the old ones. A folder whose name starts with
// "clean" has no notes about kept values, and no version is broken there.
func TestAgainst(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(againstFolder)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	for _, e := range entries {
		folder := filepath.Join(againstFolder, e.Name())
		old, now := bound(t, folder, "old.yaml", oldCRD(folder)), bound(t, folder, "new.yaml", "crd.yaml")
		notes := check.Against(old, now)
		compareChanges(t, folder, check.Changes(old, now))
		var got bytes.Buffer
		sources := map[string][]byte{"old.yaml": read(t, folder, "old.yaml"), "new.yaml": read(t, folder, "new.yaml")}
		if err := finding.Render(&got, finding.Text, notes, sources); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(folder, "want.txt"), got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(read(t, folder, "want.txt")), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.Name(), diff)
		}
		about := slices.DeleteFunc(slices.Clone(notes), func(f finding.Finding) bool { return f.Code == "transitional" })
		if strings.HasPrefix(e.Name(), "clean") != (len(about) == 0) {
			t.Errorf("%s has %d notes about kept values", e.Name(), len(about))
		}
		for _, n := range notes {
			codes[n.Code] = true
			if (n.Severity == finding.Note) == (n.Code == "version-broken") {
				t.Errorf("%s: of another severity: %s", e.Name(), n)
			}
		}
	}
	const least = 10
	if len(codes) < least {
		t.Errorf("%d different notes, want %d at least", len(codes), least)
	}
}

// compareChanges compares changes with changes.txt of a folder.
func compareChanges(t *testing.T, folder string, changes []check.Change) {
	t.Helper()
	var got strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&got, "%s -> %s %s: %q, %q: %s\n", c.From, c.To, c.Path, c.Before, c.Now, c.Effect)
	}
	name := filepath.Join(folder, "changes.txt")
	if *update {
		if err := os.WriteFile(name, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, folder, "changes.txt")), got.String()); diff != "" {
		t.Errorf("%s: changes (-want +got):\n%s", folder, diff)
	}
}

// Rules compared with themselves give no notes.
func TestAgainstItself(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../../../examples/*/rules.yaml")
	if err != nil || len(folders) < 10 {
		t.Fatal(len(folders), err)
	}
	for _, file := range folders {
		folder := filepath.Dir(file)
		crds, err := apiserver.Parse("crd.yaml", read(t, folder, "crd.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		set, _ := load(t, crds, engine.Options{Go: exampletest.Functions()}, engine.Source{Name: file, Text: read(t, file)})
		again, _ := load(t, crds, engine.Options{Go: exampletest.Functions()}, engine.Source{Name: file, Text: read(t, file)})
		for _, n := range check.Against(set.Bound(), again.Bound()) {
			t.Error(n)
		}
	}
}
