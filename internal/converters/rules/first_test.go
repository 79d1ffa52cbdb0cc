package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// If an object is the first element of a list at the other version, what only its own version has
// of it never moves to another element.
func TestWhatAFirstElementHidesIsNotOfAnother(t *testing.T) {
	t.Parallel()
	lists := func(list string) pair {
		return pair{
			beta:  "{spec: {p: {name: string, a: string, b: string, mode: enum A B C, o: {hidden: string}}}}",
			v1:    "{spec: {l: " + list + "}}",
			rules: "- {spoke: .spec.p, hub: '.spec.l[0]'}\n- {spoke: .spec.p.mode, hub: '.spec.l[0].mode', values: {A: A, B: B, C: B}}",
		}
	}
	const element = "{name: string, a: string, b: string, mode: enum A B, o: {c: string}}"
	const was = `{"p":{"name":"x","a":"1","b":"2","mode":"C","o":{"hidden":"h"}}}`
	keyed, plain, single := lists("["+element+", name]"), lists("["+element+"]"), lists("["+element+", 1]")
	tests := map[string]struct {
		pair
		v1   []any  // the list then
		want string // the spec at v1beta1
	}{
		"it is another by its key": {
			keyed,
			[]any{map[string]any{"name": "y", "a": "1", "b": "2", "mode": "B", "o": map[string]any{}}},
			`{"p":{"name":"y","a":"1","b":"2","mode":"B","o":{}}}`,
		},
		"it is the same by its key": {
			keyed,
			[]any{map[string]any{"name": "x", "a": "3", "b": "4", "mode": "B", "o": map[string]any{}}},
			`{"p":{"name":"x","a":"3","b":"4","mode":"C","o":{"hidden":"h"}}}`,
		},
		"little is left of it": {
			plain,
			[]any{map[string]any{"name": "x", "a": "3", "b": "4", "mode": "A", "o": map[string]any{}}},
			`{"p":{"name":"x","a":"3","b":"4","mode":"A","o":{}}}`,
		},
		"much is left of it": {
			plain,
			[]any{map[string]any{"name": "x", "a": "1", "b": "4", "mode": "B", "o": map[string]any{}}},
			`{"p":{"name":"x","a":"1","b":"4","mode":"C","o":{"hidden":"h"}}}`,
		},
		"there is only one": {
			single,
			[]any{map[string]any{"name": "y", "a": "3", "b": "4", "mode": "B", "o": map[string]any{}}},
			`{"p":{"name":"y","a":"3","b":"4","mode":"C","o":{"hidden":"h"}}}`,
		},
		"it is gone": {plain, []any{}, `{}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := test.kind(t)
			there := convert(t, kind, head("v1beta1", `,"spec":`+was), "v1beta1", "v1")
			if diff := cmp.Diff(decoded(t, was), specOf(t, convert(t, kind, there, "v1", "v1beta1"))); diff != "" {
				t.Errorf("comes back: -want +got:\n%s", diff)
			}
			back := convert(t, kind, edited(t, there, map[string]any{"l": test.v1}), "v1", "v1beta1")
			if diff := cmp.Diff(decoded(t, test.want), specOf(t, back)); diff != "" {
				t.Errorf("-want +got:\n%s\nthere %s", diff, there)
			}
		})
	}
}

// A value that equals a default comes back with the rest of an element that was taken out of a
// list. The API server would fill it in only later; until then the versions would differ, and leave
// an annotation.
func TestDefaultsOfElementsThatRulesMove(t *testing.T) {
	t.Parallel()
	const element = "{name: string, c: 'string = \"A\"', d: string}"
	tests := map[string]struct {
		pair
		from, to, spec string
	}{
		"a rule takes the first element of a list that is itself the first of another": {
			pair{
				beta: "{spec: {b: [" + element + ", name]}}", v1: "{spec: {l: [[" + element + ", name]]}}",
				rules: "- {spoke: .spec.b, hub: '.spec.l[0]'}\n- {spoke: '.spec.b[0]'}",
			},
			"v1", "v1beta1", `{"l":[[{"name":"x","c":"A","d":"y"}]]}`,
		},
		"elements are in objects at the other version, and the first stays behind": {
			pair{
				beta: "{spec: {d: [" + element + ", name]}}", v1: "{spec: {l: [{v: " + element + "}]}}",
				rules: "- {spoke: '.spec.d[]', hub: '.spec.l[].v'}\n- {hub: '.spec.l[0]', toHub: optional.none()}",
			},
			"v1beta1", "v1", `{"d":[{"name":"x","c":"A","d":"y"}]}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind, was := test.kind(t), head(test.from, `,"spec":`+test.spec)
			there := convert(t, kind, was, test.from, test.to)
			if diff := cmp.Diff(decoded(t, was), decoded(t, convert(t, kind, there, test.to, test.from))); diff != "" {
				t.Errorf("-want +got:\n%s\nthere %s", diff, there)
			}
		})
	}
}
