package rules_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	kjson "sigs.k8s.io/json"
)

// The defaults that the API server adds to a stored object are not edits: values that only the
// other version can say come back.
func TestDefaultsAreNotEdits(t *testing.T) {
	t.Parallel()
	duration := pair{
		beta: "{spec: {timeout: string}}", v1: "{spec: {timeoutSeconds: integer = 30}}",
		rules: "- {spoke: .spec.timeout, hub: .spec.timeoutSeconds, codec: DurationSeconds}",
	}
	text := pair{
		beta: "{spec: {config: string}}", v1: "{spec: {config: {a: string, level: integer = 1}}}",
		rules: "- {spoke: .spec.config, hub: .spec.config, codec: YAML}",
	}
	tests := map[string]struct {
		pair
		beta string         // the spec there
		edit map[string]any // at v1, once that is stored
		want string         // the spec at v1beta1 then; "" for the same
	}{
		"a duration that is not whole seconds": {
			pair: duration,
			beta: `{"timeout":"500ms"}`,
		},
		"unless it is edited": {
			pair: duration,
			beta: `{"timeout":"500ms"}`, edit: map[string]any{"timeoutSeconds": 40}, want: `{"timeout":"40s"}`,
		},
		"a text that no template matches": {
			pair: pair{
				beta: "{spec: {hostPort: string}}", v1: "{spec: {host: string, port: integer = 80}}",
				rules: "- {spoke: .spec.hostPort, hub: {host: .spec.host, port: .spec.port}, template: '{host}:{port}'}",
			},
			beta: `{"hostPort":"h"}`,
		},
		"a text in a list": {
			pair: pair{
				beta: "{spec: {l: [{hp: string}]}}", v1: "{spec: {l: [{host: string, port: integer = 80}]}}",
				rules: "- {spoke: '.spec.l[].hp', hub: {host: '.spec.l[].host', port: '.spec.l[].port'}, template: '{host}:{port}'}",
			},
			beta: `{"l":[{"hp":"h"},{"hp":"g:1"}]}`,
		},
		"a value that only one enum has": {
			pair: pair{beta: "{spec: {mode: enum a b c}}", v1: `{spec: {mode: 'enum a b = "a"'}}`},
			beta: `{"mode":"c"}`,
		},
		"the comments of a text that is an object": {
			pair: text,
			beta: `{"config":"a: x # why\n"}`,
		},
		"the comments of a text that is an embedded resource": {
			pair: pair{
				beta: "{spec: {template: string}}", v1: "{spec: {template: embedded}}",
				rules: "- {spoke: .spec.template, hub: .spec.template, codec: YAML}",
			},
			beta: `{"template":"apiVersion: v1 # why\nkind: Pod\nmetadata: {creationTimestamp: null}\n"}`,
		},
		"and elements without keys are found when the first goes": {
			pair: pair{beta: "{spec: {l: [{a: string, p: string, h: string}]}}", v1: `{spec: {l: [{a: string, p: 'string = "TCP"'}]}}`},
			beta: `{"l":[{"a":"1","h":"x"},{"a":"2","h":"y"}]}`, edit: map[string]any{"l": []any{map[string]any{"a": "2", "p": "TCP"}}},
			want: `{"l":[{"a":"2","p":"TCP","h":"y"}]}`,
		},
		"and edits of a text": {
			pair: text,
			beta: `{"config":"a: x # why\n"}`, edit: map[string]any{"config": map[string]any{"a": "y", "level": 1}},
			want: `{"config":"a: \"y\"\nlevel: 1\n"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, hub := test.kind(t), engineCase{pair: test.pair}.suite(t).CRD.Version("v1")
			stored := asStored(t, []byte(convert(t, kind, head("v1beta1", `,"spec":`+test.beta), "v1beta1", "v1")))
			hub.Prune(stored)
			hub.Default(stored)
			there := edited(t, string(encoded(t, stored)), test.edit)
			back := convert(t, kind, there, "v1", "v1beta1")
			want := test.want
			if want == "" {
				want = test.beta
			}
			if diff := cmp.Diff(decoded(t, want), specOf(t, back)); diff != "" {
				t.Errorf("-want +got:\n%s\nthere %s\nback %s", diff, there, back)
			}
		})
	}
}

// asStored reads an object as the API server does.
func asStored(tb testing.TB, text []byte) map[string]any {
	tb.Helper()
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(text, &obj); err != nil {
		tb.Fatalf("%v: %s", err, text)
	}
	return obj
}

func encoded(tb testing.TB, obj map[string]any) []byte {
	tb.Helper()
	text, err := json.Marshal(obj)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}
