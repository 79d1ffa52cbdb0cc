package rules_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// The API server refuses an answer with a label that is not valid, or with an entry of metadata that is no string. What the rules
// would put there is kept instead, and no conversion fails.
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
			rules: "- {field: .metadata.labels.x, hub: .spec.a}", rest: `{"a":"Blue Team","b":"y"}`,
			edit: `{"x":"red"}`, again: `{"a":"red","b":"y"}`,
		},
		"a value that is too long": {
			rules: "- {field: .metadata.labels.x, hub: .spec.a}", rest: `{"a":` + long + `}`,
			edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
		"a valid value": {
			rules: "- {field: .metadata.labels.x, hub: .spec.a}", rest: `{"a":` + valid + `}`, want: `{"labels":{"app":"web","x":"blue"}}`,
			edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
		"a number for a string": {
			rules: "- {field: .metadata.annotations.x, hub: .spec.n}", rest: `{"n":5}`, edit: `{}`, again: `{"n":5}`,
		},
		"a number where the schema has a string": {
			rules: "- {field: .metadata.annotations.x, hub: .spec.a}", rest: `{"a":5}`, edit: `{}`, again: `{"a":5}`,
		},
		"null": {
			rules: "- {field: .metadata.annotations.x, hub: .spec.null}", rest: `{"null":null}`, edit: `{}`, again: `{"null":null}`,
		},
		"a value that a table yields": {
			rules: "- {field: .metadata.labels.x, hub: .spec.a, values: {p: P, Blue Team: B}}", rest: `{"a":"B"}`,
			edit: `{"x":"p"}`, again: `{"a":"P"}`,
		},
		"a value that an expression yields": {
			rules: `- {field: .metadata.labels.x, hub: .spec.a, fromHub: 'self + " Team"', toHub: self}`, rest: `{"a":"Blue"}`,
			edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
		"a part of a text": {
			rules: `- {field: {x: .metadata.labels.x, c: .spec.c}, hub: .spec.a, template: "{x}/{c}"}`, rest: `{"a":"Blue Team/1"}`,
			edit: `{"x":"red"}`, again: `{}`,
		},
		"a value computed from nothing": {
			rules: `- {field: .metadata.labels.x, fromHub: 'object.spec.b'}`, rest: `{"b":"Blue Team"}`,
			edit: `{"x":"red"}`, again: `{"b":"Blue Team"}`,
		},
		"a default": {
			rules: `- {field: .metadata.labels.x, hub: .spec.a, default: none}`, rest: `{"a":"Blue Team"}`,
			want: `{"labels":{"app":"web","x":"none"},"annotations":{"conversion.webhookd.io/v1":"{\"spec\":{\"a\":\"Blue Team\"}}"}}`,
			edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
		"a default that is not valid": {
			rules: `- {field: .metadata.labels.x, hub: .spec.a, default: Blue Team}`, rest: `{}`, edit: `{"x":"red"}`, again: `{"a":"red"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := pair{
				beta: "{spec: {b: string, c: string}}", v1: "{spec: {a: string, b: string, n: intorstring, 'null': 'string?'}}", rules: test.rules,
			}.kind(t)
			object := withLabels(t, head("v1", `,"spec":`+test.rest), `{"app":"web"}`)
			there := convert(t, kind, object, "v1", "v1beta1")
			holdMetadata(t, there)
			if diff := cmp.Diff(decodedJSON(t, object), decodedJSON(t, convert(t, kind, there, "v1beta1", "v1"))); diff != "" {
				t.Errorf("by way of %s (-want +got):\n%s", there, diff)
			}
			if err := roundtrip.Laws(t.Context(), kind, []byte(object)); err != nil {
				t.Error(err)
			}
			if test.want != "" {
				want := `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"n",` + test.want[1:] + `,"spec":{}}`
				if diff := cmp.Diff(decodedJSON(t, want), decodedJSON(t, there)); diff != "" {
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

// Whoever may edit an object may write a stash.
func TestForgedStashesRestoreNoInvalidLabels(t *testing.T) {
	t.Parallel()
	kind := pair{
		beta: "{spec: {b: string}}", v1: "{spec: {a: string}}",
		rules: "- {field: .metadata.labels.x, hub: .spec.a}\n- field: .metadata.labels.kept\n- field: .metadata.annotations.note",
	}.kind(t)
	for name, stash := range map[string]string{
		"a value":                  `{"metadata":{"labels":{"kept":"Blue Team"}}}`,
		"an exact value":           `{"metadata":{"labels":{"x":{"":"Blue Team"}}}}`,
		"an unchecked value":       `{"metadata":{"labels":{"x":{"":"Blue Team","unchecked":true},"kept":{"":7,"unchecked":true}}}}`,
		"an annotation, unchecked": `{"metadata":{"annotations":{"note":{"":{"a":1},"unchecked":true}}}}`,
		"null":                     `{"metadata":{"labels":{"kept":{"":null,"unchecked":true}}}}`,
		"a whole":                  `{"":{"metadata":{"labels":{"x":"Blue Team"}},"spec":{}}}`,
		"a repeated name":          `{"":{"metadata":{"labels":{"x":"Blue Team","x":"Blue Team"}},"spec":{}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			holdMetadata(t, convert(t, kind, stashed("v1", "v1beta1", stash, `,"spec":{"a":"Blue Team"}`), "v1", "v1beta1"))
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
