package database_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/examples/crds"
	"github.com/crdconvert/webhookd/examples/custom-server/database"
)

// convert returns an object, given without its apiVersion and kind, after a conversion.
func convert(t *testing.T, object, from, to string) string {
	t.Helper()
	head := `{"apiVersion":"example.com/` + from + `","kind":"Database",`
	obj, err := conversion.ParseObject([]byte(head + strings.TrimPrefix(withoutHead(object), "{")))
	if err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	kind := conversion.Must(database.Kind(crds.Databases))
	if err := kind.Convert(t.Context(), obj, to); err != nil {
		t.Fatalf("%s -> %s: %v: %s", from, to, err, object)
	}
	return withoutHead(string(obj.JSON()))
}

// withoutHead returns an object without apiVersion and kind.
func withoutHead(object string) string {
	return regexp.MustCompile(`"apiVersion":"[^"]*",|"kind":"Database",`).ReplaceAllString(object, "")
}

// edit replaces or, if v is nil, removes a field of the spec.
func edit(t *testing.T, object, field string, v any) string {
	t.Helper()
	tree := decode(t, object)
	spec, ok := tree["spec"].(map[string]any)
	if !ok {
		t.Fatalf("no spec: %s", object)
	}
	if spec[field] = v; v == nil {
		delete(spec, field)
	}
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decode(t *testing.T, object string) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal([]byte(object), &tree); err != nil {
		t.Fatalf("%v: %s", err, object)
	}
	return tree
}

func checkSpec(t *testing.T, object, want string) {
	t.Helper()
	tree := decode(t, object)
	if diff := cmp.Diff(decode(t, want), tree["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	specs := map[string]string{
		"v1alpha1": `{"engine":"postgres-17","storageGB":0,"backup":"0 3 * * *"}`,
		"v1beta1":  `{"engine":"postgres-17","storageGB":0,"backupPolicy":{"schedule":"0 3 * * *"}}`,
		"v1":       `{"engine":"postgres-17","storageGiB":0,"backupPolicy":{"schedule":"0 3 * * *"}}`,
	}
	for from, spec := range specs {
		for to, want := range specs {
			t.Run(from+" to "+to, func(t *testing.T) {
				t.Parallel()
				got := convert(t, `{"spec":`+spec+`}`, from, to)
				checkSpec(t, got, want)
				if _, found := decode(t, got)["metadata"]; found {
					t.Errorf("unneeded annotation: %s", got)
				}
			})
		}
	}
}

func TestRetentionSurvivesV1alpha1(t *testing.T) {
	t.Parallel()
	const policy = `{"backupPolicy":{"schedule":"0 3 * * *","retentionDays":14}}`
	for _, version := range []string{"v1beta1", "v1"} {
		for _, test := range []struct {
			name  string
			field string
			value any
			want  string
		}{
			{"no edit", "engine", "postgres-18", `{"engine":"postgres-18","backupPolicy":{"schedule":"0 3 * * *","retentionDays":14}}`},
			{"the schedule is edited", "backup", "@daily", `{"backupPolicy":{"schedule":"@daily","retentionDays":14}}`},
			{"the schedule is emptied", "backup", "", `{"backupPolicy":{"schedule":"","retentionDays":14}}`},
			{"the schedule is removed, and what v1alpha1 cannot say stays", "backup", nil, `{"backupPolicy":{"retentionDays":14}}`},
		} {
			t.Run(version+" "+test.name, func(t *testing.T) {
				t.Parallel()
				there := convert(t, `{"metadata":{"name":"a"},"spec":`+policy+`}`, version, "v1alpha1")
				checkSpec(t, there, `{"backup":"0 3 * * *"}`)
				back := convert(t, edit(t, there, test.field, test.value), "v1alpha1", version)
				checkSpec(t, back, test.want)
				if diff := cmp.Diff(map[string]any{"name": "a"}, decode(t, back)["metadata"]); diff != "" {
					t.Errorf("metadata (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Each field, and the object that contains it, may be absent, empty or have a value.
func TestAbsentEmptyAndValueComeBack(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{
		`{}`,
		`{"backupPolicy":{}}`,
		`{"backupPolicy":{"schedule":""}}`,
		`{"backupPolicy":{"schedule":"@daily"}}`,
		`{"backupPolicy":{"retentionDays":0}}`,
		`{"backupPolicy":{"retentionDays":9007199254740993}}`,
		`{"backupPolicy":{"schedule":"","retentionDays":0}}`,
		`{"backupPolicy":{"schedule":"@daily","unknown":{"a":[1]}}}`,
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			there := convert(t, `{"spec":`+spec+`}`, "v1", "v1alpha1")
			if _, found := decode(t, there)["spec"].(map[string]any)["backupPolicy"]; found {
				t.Errorf("v1alpha1 has a field that it does not know: %s", there)
			}
			back := convert(t, there, "v1alpha1", "v1")
			checkSpec(t, back, spec)
		})
	}
}
