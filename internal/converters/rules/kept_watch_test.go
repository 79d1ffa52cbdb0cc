package rules_test

import (
	"strings"
	"testing"
)

// A kept value does not return where it would change what a condition says of an edit.
func TestKeptValuesLeaveConditionsAlone(t *testing.T) {
	t.Parallel()
	const number = "- {spoke: .spec.o.a, hub: .spec.n, toHub: int(self), toSpoke: string(self)}\n"
	watched := two("{spec: {note: string, o: {a: string}, b: string}}", "{spec: {note: string, n: integer, m: string}}",
		number+"- {spoke: .spec.b, hub: .spec.m, whenToHub: '!has(object.spec.o)'}")
	rows{
		"it returns if nothing was edited": {world: watched, steps: []step{
			create("v1beta1", `{spec: {o: {a: x}}}`), edit("v1", `{spec: {note: y}}`), shows("v1beta1", `{spec: {note: y, o: {a: x}}}`),
		}},
		"it goes if the edit would be hidden": {world: watched, steps: []step{
			create("v1beta1", `{spec: {o: {a: x}}}`), edit("v1", `{spec: {m: y}}`), shows("v1beta1", `{spec: {b: y}}`), shows("v1", `{spec: {m: y}}`),
		}},
		"it stays next to what was there before": {world: watched, steps: []step{
			create("v1", `{spec: {m: y}}`), edit("v1beta1", `{spec: {o: {a: x}}}`), shows("v1", `{spec: {}}`),
			edit("v1", `{spec: {note: z}}`), shows("v1beta1", `{spec: {note: z, o: {a: x}, b: y}}`),
		}},
		"a list that only one version shows is edited": {
			world: two("{spec: {l: [{id: string}, id], b: string, c: string}}", "{spec: {k: [{id: string}, id], m: string, d: string}}",
				"- {spoke: .spec.l, hub: .spec.k, whenToHub: 'has(object.spec.c)'}\n- {spoke: .spec.b, hub: .spec.m, whenToHub: '!has(object.spec.l)'}\n- {spoke: .spec.c, hub: .spec.d}"),
			steps: []step{
				create("v1", `{spec: {m: y, k: [{id: a}]}}`), edit("v1beta1", `{spec: {l: [{id: b}]}}`), shows("v1beta1", `{spec: {b: y, l: [{id: b}]}}`),
			},
		},
	}.hold(t)
}

// A kept value that says what was watched is the same every time, so an object that is applied
// again as it is does not change.
func TestWatchedValuesAreKeptTheSameAgain(t *testing.T) {
	t.Parallel()
	kind := two("{spec: {o: {a: string}, b: string}}", "{spec: {n: integer, m: string}}",
		"- {spoke: .spec.o.a, hub: .spec.n, toHub: int(self), toSpoke: string(self)}\n- {spoke: .spec.b, hub: .spec.m, whenToHub: '!has(object.spec.o)'}").kind(t)
	kept := head("v1beta1", `,"spec":{"o":{"a":"x"}}`)
	for name, object := range map[string]string{
		"nothing is shown of what is watched": kept,
		"something is, which is kept as well": strings.Replace(kept, `"o":`, `"b":"y","o":`, 1),
		"something is, and a value for it is kept, too": `{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"name":"n","annotations":{` +
			`"conversion.webhookd.io/v1.spec.m":"{\"value\":\"z\"}"}},"spec":{"o":{"a":"x"}}}`,
	} {
		there := convert(t, kind, object, "v1beta1", "v1")
		back := convert(t, kind, there, "v1", "v1beta1")
		if again := convert(t, kind, back, "v1beta1", "v1"); again != there {
			t.Errorf("%s: %s, and again %s", name, there, again)
		}
	}
}

// An element of both lists is there as long as one of them has it, though a rule takes all of it
// elsewhere.
func TestARemovedElementStaysAway(t *testing.T) {
	t.Parallel()
	w := two("{spec: {note: string, l: [{id: string, key: string, a: string}, id]}}", "{spec: {note: string, k: string, m: [{id: string, b: string}, id]}}",
		"- {spoke: '.spec.l[id=x].key', hub: .spec.k}\n- {spoke: '.spec.l[id].a', hub: '.spec.m[id].b', whenToHub: 'has(element.a)'}")
	const both = `{spec: {k: v, m: [{id: x}, {id: y, b: w}]}}`
	rows{
		"it returns if nothing was edited": {world: w, steps: []step{
			create("v1", both), edit("v1beta1", `{spec: {note: n}}`), shows("v1", `{spec: {note: n, k: v, m: [{id: x}, {id: y, b: w}]}}`),
		}},
		"and if its field was": {world: w, steps: []step{
			create("v1", both), editList("v1beta1", func(list []any) []any {
				list[0].(map[string]any)["key"] = "z" //nolint:forcetypeassert // by the schema
				return list
			}), shows("v1", `{spec: {k: z, m: [{id: x}, {id: y, b: w}]}}`),
		}},
		"but not if it was removed": {world: w, steps: []step{
			create("v1", both), editList("v1beta1", func(list []any) []any { return list[1:] }), shows("v1", `{spec: {m: [{id: y, b: w}]}}`),
		}},
	}.hold(t)
}
