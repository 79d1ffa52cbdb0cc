package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// TestUnitsOfTheExamples shows the units of all rules in examples/ that have any of more than one
// place.
func TestUnitsOfTheExamples(t *testing.T) {
	t.Parallel()
	folders, err := filepath.Glob("../../../../examples/*/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, rules := range folders {
		folder := filepath.Dir(rules)
		crds, err := apiserver.Parse("crd.yaml", read(t, folder, "crd.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		set, _ := load(t, crds, engine.Options{Go: swapping()}, engine.Source{Name: "rules.yaml", Text: read(t, rules)})
		for _, units := range check.FindUnits(set.Bound().Kinds[0]) {
			for _, u := range units.Units {
				got.WriteString(filepath.Base(folder) + " " + units.Version + "\n")
				for _, version := range []string{units.Version, units.Hub} {
					got.WriteString("  " + version + ": " + u.TextOf(version) + "\n")
					if reads := u.ReadsOf(version); reads != "" {
						got.WriteString("  " + version + " reads: " + reads + "\n")
					}
				}
				got.WriteString("  " + strings.Join(u.Why, "\n  ") + "\n")
			}
		}
	}
	const golden = "testdata/units.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, golden)), got.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
