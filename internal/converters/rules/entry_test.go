package rules_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
)

// The API server refuses an answer with an invalid label, or with a label or annotation that is not
// a string. Such values are kept instead, and no conversion fails.
func TestLabelsAndAnnotationsAreOnesThatTheAPIServerTakes(t *testing.T) {
	t.Parallel()
	const valid, long = `"blue"`, `"a123456789012345678901234567890123456789012345678901234567890123"`
	for name, test := range map[string]struct {
		rules       string
		rest        string // the spec in v1
		want        string // the metadata in v1beta1, where it is not just kept
		edit, again string // the labels in v1beta1, and what the spec in v1 is then
	}{
		"a value with a space": {
			rules: "- {spoke: .metadata.labels.x, hub: .spec.a}", rest: `{"a":"Blue Team","b":"y"}`,
			edit: `{"x":"red"}`, again: `{"a":"red","b":"y"}`,
		},
		"a value that is too long": {
			rules: "- {spoke: .metadata.labels.x, hub: .spec.a}", rest: `{"a":` + long + `}`,
			edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
		"a valid value": {
			rules: "- {spoke: .metadata.labels.x, hub: .spec.a}", rest: `{"a":` + valid + `}`, want: `{"labels":{"app":"web","x":"blue"}}`,
			edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
		"a number for a string": {
			rules: "- {spoke: .metadata.annotations.x, hub: .spec.n}", rest: `{"n":5}`, edit: `{}`, again: `{"n":5}`,
		},
		"null": {
			rules: "- {spoke: .metadata.annotations.x, hub: .spec.null}", rest: `{"null":null}`, edit: `{}`, again: `{"null":null}`,
		},
		"a value that a table yields": {
			rules: "- {spoke: .metadata.labels.x, hub: .spec.a, values: {p: P, Blue Team: B}}", rest: `{"a":"B"}`,
			edit: `{"x":"p"}`, again: `{"a":"P"}`,
		},
		"a value that an expression yields": {
			rules: `- {spoke: .metadata.labels.x, hub: .spec.a, toSpoke: 'self + " Team"', toHub: self}`, rest: `{"a":"Blue"}`,
			edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
		"a part of a text": {
			rules: `- {spoke: {x: .metadata.labels.x, c: .spec.c}, hub: .spec.a, template: "{x}/{c}"}`, rest: `{"a":"Blue Team/1"}`,
			edit: `{"x":"red"}`, again: `{}`,
		},
		"a value computed from nothing": {
			rules: `- {spoke: .metadata.labels.x, toSpoke: 'object.spec.b'}`, rest: `{"b":"Blue Team"}`,
			edit: `{"x":"red"}`, again: `{"b":"Blue Team"}`,
		},
		"a default": {
			rules: `- {spoke: .metadata.labels.x, hub: .spec.a, defaultInSpoke: none}`, rest: `{"a":"Blue Team"}`,
			want: `{"labels":{"app":"web","x":"none"}}`,
			edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
		"a default that is not valid": {
			rules: `- {spoke: .metadata.labels.x, hub: .spec.a, defaultInSpoke: Blue Team}`, rest: `{}`, edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			both := pair{
				beta: "{spec: {b: string, c: string}}", v1: "{spec: {a: string, b: string, n: intorstring, 'null': 'string?'}}", rules: test.rules,
			}
			kind := both.kind(t)
			object := withLabels(t, head("v1", `,"spec":`+test.rest), `{"app":"web"}`)
			there := convert(t, kind, object, "v1", "v1beta1")
			holdMetadata(t, there)
			if diff := cmp.Diff(decodedJSON(t, object), decodedJSON(t, convert(t, kind, there, "v1beta1", "v1"))); diff != "" {
				t.Errorf("by way of %s (-want +got):\n%s", there, diff)
			}
			if err := (engineCase{pair: both}).suite(t).Check(t.Context(), slices.Values([][]byte{[]byte(object)})); err != nil {
				t.Error(err)
			}
			if test.want != "" {
				want := `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"n",` + test.want[1:] + `,"spec":{}}`
				bare, _ := bareAndKept(t, there)
				if diff := cmp.Diff(decodedJSON(t, want), decodedJSON(t, bare)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
			again := convert(t, kind, withLabels(t, there, test.edit), "v1beta1", "v1")
			if diff := cmp.Diff(decodedJSON(t, test.again), specOf(t, again)); diff != "" {
				t.Errorf("after an edit (-want +got):\n%s", diff)
			}
		})
	}
}

// A client that may edit an object may write annotations.
func TestForgedAnnotationsRestoreNoInvalidLabels(t *testing.T) {
	t.Parallel()
	kind := pair{
		beta: "{spec: {b: string}}", v1: "{spec: {a: string}}",
		rules: "- {spoke: .metadata.labels.x, hub: .spec.a}\n- spoke: .metadata.labels.kept\n- spoke: .metadata.annotations.note",
	}.kind(t)
	for name, annotations := range map[string]string{
		"a value":                        `{"v1beta1.metadata.labels.kept":{"value":"Blue Team"}}`,
		"a value in the place of a rule": `{"v1beta1.metadata.labels.x":{"value":"Blue Team"}}`,
		"a number":                       `{"v1beta1.metadata.labels.kept":{"value":7}}`,
		"an object":                      `{"v1beta1.metadata.annotations.note":{"value":{"a":1}}}`,
		"null":                           `{"v1beta1.metadata.labels.kept":{"value":null}}`,
		"all labels":                     `{"v1beta1.metadata.labels":{"value":{"kept":"Blue Team"}}}`,
		"a name that is none":            `{"v1beta1.metadata":{"parts":[{"value":"a","path":["labels","Blue Team"]}]}}`,
		"one of webhookd's own":          `{"v1beta1.metadata":{"parts":[{"value":"a","path":["annotations","conversion.webhookd.io/v1.x"]}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			there := convert(t, kind, keptObject(t, "v1", annotations, `,"spec":{"a":"Blue Team"}`), "v1", "v1beta1")
			holdMetadata(t, there)
			if _, ok := specOf(t, there)["a"]; ok || strings.Contains(there, "other") {
				t.Error(there)
			}
		})
	}
}

// holdMetadata fails for labels and annotations that the API server refuses.
func holdMetadata(t *testing.T, object string) {
	t.Helper()
	var read struct {
		Metadata struct {
			Labels      map[string]*string `json:"labels"`
			Annotations map[string]*string `json:"annotations"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal([]byte(object), &read); err != nil {
		t.Errorf("%v: %s", err, object)
	}
	for key, value := range read.Metadata.Labels {
		if value == nil || len(validation.IsValidLabelValue(*value)) > 0 {
			t.Errorf("label %s is not valid: %s", key, object)
		}
	}
	for key, value := range read.Metadata.Annotations {
		if value == nil {
			t.Errorf("annotation %s is null: %s", key, object)
		}
	}
}

// withLabels replaces the labels of an object.
func withLabels(t *testing.T, text, labels string) string {
	t.Helper()
	object := decodedJSON(t, text)
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		t.Fatal(text)
	}
	metadata["labels"] = decodedJSON(t, labels)
	out, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
