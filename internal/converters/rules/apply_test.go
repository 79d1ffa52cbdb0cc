package rules_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/convertertest"
)

// Server-side apply converts the stored object, and fragments of it, to the version of a manager
// and back. What one manager does at its version must not undo what another did at a different one.
// A Database in v1alpha1 says only part of the backup's policy, which the other versions say whole.

func database(t *testing.T) (*converters.Kind, *crdschema.CRD) {
	t.Helper()
	read := func(path ...string) []byte {
		text, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	crds, err := apiserver.Parse("crd.yaml", read("..", "..", "..", "examples", "crds", "databases.example.com.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	set, findings := rules.Load(t.Context(), []rules.Source{{Name: "rules.yaml", Text: read("testdata", "database.rules.yaml")}}, crds, rules.Options{})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	return &set.Kinds()[0], crds[0]
}

func databaseAt(version, spec string) string {
	return `{"apiVersion":"example.com/` + version + `","kind":"Database","metadata":{"name":"d"},"spec":` + spec + `}`
}

func TestDatabaseHoldsLaws(t *testing.T) {
	t.Parallel()
	kind, crd := database(t)
	suite := hold.Suite{Kind: kind, CRD: crd, Seed: 1, Stored: true}
	if _, err := suite.Fuzz(t.Context(), *objects); err != nil {
		t.Error(err)
	}
}

// The conversion of a valid object has all fields that its version requires, and values of its
// types and enums.
func TestDatabaseStaysComplete(t *testing.T) {
	t.Parallel()
	kind, crd := database(t)
	for _, from := range crd.Versions {
		generator, err := generate.NewGenerator(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		for index := range *objects {
			object := generator.Object(1, index)
			for _, to := range crd.Versions {
				if object == nil || from == to {
					continue
				}
				if err := convertertest.Complete(t.Context(), kind, object, from, to); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A manager at one version changes an object that is stored at another.
func TestManagersKeepWhatOthersApplied(t *testing.T) {
	t.Parallel()
	kind, _ := database(t)
	for name, test := range map[string]struct {
		stored  string // the spec at the hub
		version string // of the manager
		change  map[string]any
		want    string // the spec at the hub then
	}{
		"the schedule goes, the retention stays": {
			stored: `{"engine":"pg","backupPolicy":{"schedule":"0 3 * * *","retentionDays":14}}`, version: "v1alpha1",
			change: map[string]any{"backup": nil}, want: `{"engine":"pg","backupPolicy":{"retentionDays":14}}`,
		},
		"the schedule changes, the retention stays": {
			stored: `{"backupPolicy":{"schedule":"0 3 * * *","retentionDays":14}}`, version: "v1alpha1",
			change: map[string]any{"backup": "0 5 * * *"}, want: `{"backupPolicy":{"schedule":"0 5 * * *","retentionDays":14}}`,
		},
		"the schedule comes, the retention stays": {
			stored: `{"backupPolicy":{"retentionDays":14}}`, version: "v1alpha1",
			change: map[string]any{"backup": "0 5 * * *"}, want: `{"backupPolicy":{"schedule":"0 5 * * *","retentionDays":14}}`,
		},
		"the schedule goes, and with it a policy that had nothing else": {
			stored: `{"engine":"pg","backupPolicy":{"schedule":"0 3 * * *"}}`, version: "v1alpha1",
			change: map[string]any{"backup": nil}, want: `{"engine":"pg"}`,
		},
		"the engine changes, an empty policy stays": {
			stored: `{"engine":"pg","backupPolicy":{}}`, version: "v1alpha1",
			change: map[string]any{"engine": "my"}, want: `{"engine":"my","backupPolicy":{}}`,
		},
		"the storage changes under its other name": {
			stored: `{"storageGB":1,"backupPolicy":{"retentionDays":14}}`, version: "v1",
			change: map[string]any{"storageGiB": 2}, want: `{"backupPolicy":{"retentionDays":14},"storageGB":2}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := convert(t, kind, databaseAt("v1beta1", test.stored), "v1beta1", test.version)
			back := convert(t, kind, edited(t, seen, test.change), test.version, "v1beta1")
			if diff := cmp.Diff(specOf(t, databaseAt("v1beta1", test.want)), specOf(t, back)); diff != "" {
				t.Errorf("by way of %s (-want +got):\n%s", seen, diff)
			}
		})
	}
}

// Three managers apply their own manifests again, in any order, and nothing changes.
func TestManagersApplyTheSameAgain(t *testing.T) {
	t.Parallel()
	kind, _ := database(t)
	manifests := map[string]map[string]any{
		"v1alpha1": {"engine": "pg", "backup": "0 3 * * *"},
		"v1beta1":  {"backupPolicy": map[string]any{"schedule": "0 3 * * *"}},
		"v1":       {"storageGiB": 20.0, "backupPolicy": map[string]any{"retentionDays": 14.0}},
	}
	stored := databaseAt("v1beta1", `{"engine":"pg","storageGB":20,"backupPolicy":{"schedule":"0 3 * * *","retentionDays":14}}`)
	for _, order := range [][]string{
		{"v1alpha1", "v1beta1", "v1"}, {"v1alpha1", "v1", "v1beta1"}, {"v1", "v1alpha1", "v1beta1"}, {"v1", "v1beta1", "v1alpha1"},
	} {
		at, object := "v1beta1", stored
		for _, version := range order {
			seen := convert(t, kind, object, at, version)
			spec := specOf(t, seen)
			for name, value := range manifests[version] {
				mine, isObject := value.(map[string]any)
				theirs, ok := spec[name].(map[string]any)
				if isObject && ok {
					maps.Copy(theirs, mine)
					value = theirs
				}
				if diff := cmp.Diff(spec[name], value); diff != "" {
					t.Errorf("%v: %s is not what %s applied (-is +applied):\n%s", order, name, version, diff)
				}
			}
			at, object = version, seen
			if diff := cmp.Diff(specOf(t, stored), specOf(t, convert(t, kind, object, at, "v1beta1"))); diff != "" {
				t.Errorf("%v: after %s (-stored +now):\n%s", order, version, diff)
			}
		}
	}
}

// What a single manager owns is converted alone, without metadata, from every version to every
// other one. It comes back, and there it says the same as within the whole object.
func TestFragmentsOfManagersConvertAlone(t *testing.T) {
	t.Parallel()
	kind, _ := database(t)
	for version, specs := range map[string][]string{
		"v1alpha1": {`{"engine":"pg"}`, `{"backup":"0 3 * * *"}`, `{}`},
		"v1beta1":  {`{"backupPolicy":{"schedule":"0 3 * * *"}}`, `{"backupPolicy":{"retentionDays":14}}`, `{"backupPolicy":{}}`},
		"v1":       {`{"storageGiB":20}`, `{"backupPolicy":{"retentionDays":14}}`},
	} {
		for _, spec := range specs {
			fragment := `{"apiVersion":"example.com/` + version + `","kind":"Database","spec":` + spec + `}`
			for _, to := range kind.Versions {
				there := convert(t, kind, fragment, version, to)
				back := convert(t, kind, there, to, version)
				if diff := cmp.Diff(specOf(t, fragment), specOf(t, back)); diff != "" {
					t.Errorf("%s by way of %s (-want +got):\n%s", fragment, there, diff)
				}
				// Only what v1alpha1 has no field for has to be kept.
				says := spec == `{"backupPolicy":{"retentionDays":14}}` || spec == `{"backupPolicy":{}}`
				if _, kept := decodedJSON(t, there)["metadata"]; kept != (says && to == "v1alpha1") {
					t.Errorf("%s -> %s: %s", fragment, to, there)
				}
			}
		}
	}
}

func decodedJSON(tb testing.TB, text string) map[string]any {
	tb.Helper()
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		tb.Fatal(err)
	}
	return object
}

func specOf(t *testing.T, text string) map[string]any {
	t.Helper()
	spec, _ := decodedJSON(t, text)["spec"].(map[string]any)
	return spec
}

// edited sets fields of the spec; nil removes one.
func edited(t *testing.T, text string, change map[string]any) string {
	t.Helper()
	object := decodedJSON(t, text)
	spec, ok := object["spec"].(map[string]any)
	if !ok {
		t.Fatal(text)
	}
	for _, name := range slices.Sorted(maps.Keys(change)) {
		if spec[name] = change[name]; change[name] == nil {
			delete(spec, name)
		}
	}
	out, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
