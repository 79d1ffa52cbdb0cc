package suggest_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/suggest"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestGoldens(t *testing.T) {
	t.Parallel()
	folders := glob(t, "testdata/*/crd.yaml")
	for _, file := range folders {
		t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
			t.Parallel()
			golden := filepath.Join(filepath.Dir(file), "want.yaml")
			var got []byte
			for _, crd := range crdsOf(t, file) {
				text, err := suggest.Conversion(t.Context(), crd, "")
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, text...)
			}
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A suggestion has no mistake of its own, with the guesses as comments or as rules, whatever the
// hub. The rules may still be incomplete: where required fields and different values come from is
// not known, and neither are defaults, of which check warns. The places that it lists as open are
// those that check reports, and a rule that keeps each closes them all.
func TestSuggestionsCanBeChecked(t *testing.T) {
	t.Parallel()
	files := slices.Concat(glob(t, "testdata/*/crd.yaml"), glob(t, "../../../../examples/*/crd.yaml"),
		glob(t, "../../../../examples/crds/*.yaml"), glob(t, "../../../../testdata/kinds/*/crd.yaml"), glob(t, "../check/testdata/[c-z]*/crd.yaml"))
	for _, file := range files {
		for _, crd := range crdsOf(t, file) {
			for _, hub := range crd.Versions {
				text, err := suggest.Conversion(t.Context(), crd, hub.Name)
				if err != nil {
					t.Fatal(err)
				}
				open := checked(t, file, crd, text)
				lines := regexp.MustCompile(`(?m)^ {4}#(?:- \{(?:spoke|hub): '?([^ ]+?)'?\}| {3}values of ([^ ]+) .*)$`).FindAllStringSubmatch(string(text), -1)
				listed := make([]string, 0, len(lines))
				for _, line := range lines {
					listed = append(listed, line[1]+line[2])
				}
				if diff := cmp.Diff(open, listed, cmpopts.SortSlices(strings.Compare), cmpopts.EquateEmpty()); diff != "" {
					t.Errorf("%s, hub %s: places that check reports and suggest does not list (-), or the other way round (+):\n%s", file, hub.Name, diff)
				}
				checked(t, file, crd, uncommented(text))
				if left := checked(t, file, crd, kept(text)); strings.Count(string(text), "#   values of") < len(left) {
					t.Errorf("%s, hub %s: open places that have the rule of their comment: %v", file, hub.Name, left)
				}
			}
		}
	}
}

// checked checks a suggestion. It returns the places that are open, and reports all mistakes.
func checked(t *testing.T, file string, crd *crdschema.CRD, text []byte) (open []string) {
	t.Helper()
	source := rules.Source{Name: "suggested.yaml", Text: text}
	set, findings := rules.Load(t.Context(), []rules.Source{source}, []*crdschema.CRD{crd}, rules.Options{})
	found, _ := check.Check(t.Context(), set.Bound())
	path := regexp.MustCompile(`(?:: |(?:elements|entries|fields) of )(\.[^ :]*)`)
	for _, f := range finding.Worst(append(findings, found...), finding.Error) {
		switch f.Code {
		case "unmapped-field", "place-is-taken", "types-differ", "values-do-not-fit", "unknown-fields":
			open = append(open, path.FindStringSubmatch(f.Message)[1])
		case "other-elements":
			open = append(open, path.FindStringSubmatch(f.Message)[1]+"[]")
		case "other-entries":
			open = append(open, path.FindStringSubmatch(f.Message)[1]+"{}")
		default:
			if f.Code != "values-incomplete" && !strings.HasPrefix(f.Code, "required-") {
				t.Errorf("%s: %s (%s)\n%s", file, f, f.Code, text)
			}
		}
	}
	return open
}

func TestNoSuchHub(t *testing.T) {
	t.Parallel()
	crd := crdsOf(t, "testdata/moves/crd.yaml")[0]
	_, err := suggest.Conversion(t.Context(), crd, "v7")
	if err == nil || err.Error() != "no version v7 in certificates.example.com, use one of v1, v1alpha2" {
		t.Errorf("got %v", err)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %s: %v", pattern, err)
	}
	return files
}

func crdsOf(t *testing.T, file string) []*crdschema.CRD {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	crds, err := apiserver.Parse(file, text)
	if err != nil {
		t.Fatal(err)
	}
	return crds
}
