package rules_test

import "testing"

// What a condition keeps from the other version returns there until an edit here: a value of an
// object or a list that is gone on this side does not come back.
func TestConditionsUndoNoEdit(t *testing.T) {
	t.Parallel()
	objects := two("{spec: {note: string, w: {a: string, b: enum A B}}}", "{spec: {note: string, w: {a: string, c: enum X Y}}}",
		"- {spoke: .spec.w, hub: .spec.w, whenToHub: 'false'}\n- {spoke: .spec.w.b, hub: .spec.w.c, values: {A: X, B: X}, hubValues: {Y: A}}")
	lists := two("{spec: {note: string, l: [{id: string, a: string, b: string}, id]}}", "{spec: {note: string, l: [{id: string, a: string, c: string}, id]}}",
		"- {spoke: .spec.l, hub: .spec.l, whenToSpoke: 'false'}\n- {spoke: '.spec.l[].b', hub: '.spec.l[].c'}")
	renamed := two("{spec: {note: string, l: [{id: string, a: string, b: string}, id]}}", "{spec: {note: string, l: [{name: string, a: string, c: string}, name]}}",
		"- {spoke: .spec.l, hub: .spec.l, whenToSpoke: 'false'}\n- {spoke: '.spec.l[].id', hub: '.spec.l[].name'}\n- {spoke: '.spec.l[].b', hub: '.spec.l[].c'}")
	decided := two("{spec: {note: string, w: {a: string}, off: string}}", "{spec: {note: string, w: {a: string}}}",
		"- {spoke: .spec.w, hub: .spec.w, whenToHub: '!has(object.spec.off)', whenToSpoke: 'false'}\n- {spoke: .spec.off}")
	rows{
		"an object is removed": {world: objects, steps: []step{
			create("v1", `{spec: {w: {a: q}}}`), shows("v1beta1", `{spec: {w: {a: q}}}`), edit("v1beta1", `{spec: {w: null}}`),
			shows("v1", `{spec: {}}`), shows("v1beta1", `{spec: {}}`),
		}},
		"a member of it is removed": {world: objects, steps: []step{
			create("v1", `{spec: {w: {a: q, c: Y}}}`), edit("v1beta1", `{spec: {w: {a: null}}}`), edit("v1", `{spec: {note: x}}`),
			shows("v1beta1", `{spec: {note: x, w: {b: A}}}`),
		}},
		"neither is edited": {world: objects, steps: []step{
			create("v1", `{spec: {w: {a: q, c: Y}}}`), edit("v1beta1", `{spec: {note: x}}`), shows("v1", `{spec: {note: x, w: {a: q, c: Y}}}`),
		}},
		"an element is removed": {world: lists, steps: []step{
			create("v1beta1", `{spec: {l: [{id: z, a: q, b: r}, {id: y}]}}`), shows("v1", `{spec: {l: [{id: z, a: q, c: r}, {id: y}]}}`),
			edit("v1", `{spec: {l: [{id: y}]}}`), shows("v1beta1", `{spec: {l: [{id: y}]}}`), shows("v1", `{spec: {l: [{id: y}]}}`),
		}},
		"a field of an element is removed": {world: lists, steps: []step{
			create("v1beta1", `{spec: {l: [{id: z, a: q, b: r}]}}`), edit("v1", `{spec: {l: [{id: z, c: r}]}}`),
			shows("v1beta1", `{spec: {l: [{id: z, b: r}]}}`), shows("v1", `{spec: {l: [{id: z, c: r}]}}`),
		}},
		"no element is edited": {world: lists, steps: []step{
			create("v1beta1", `{spec: {l: [{id: z, a: q, b: r}]}}`), edit("v1", `{spec: {note: x}}`),
			shows("v1beta1", `{spec: {note: x, l: [{id: z, a: q, b: r}]}}`),
		}},
		"an element with another name of its key is removed": {world: renamed, steps: []step{
			create("v1beta1", `{spec: {l: [{id: z, a: q, b: r}, {id: y}]}}`), edit("v1", `{spec: {l: [{name: y}]}}`),
			shows("v1beta1", `{spec: {l: [{id: y}]}}`), shows("v1", `{spec: {l: [{name: y}]}}`),
		}},
		"a field of one is removed": {world: renamed, steps: []step{
			create("v1beta1", `{spec: {l: [{id: z, a: q, b: r}]}}`), edit("v1", `{spec: {l: [{name: z, c: r}]}}`),
			shows("v1beta1", `{spec: {l: [{id: z, b: r}]}}`), shows("v1", `{spec: {l: [{name: z, c: r}]}}`),
		}},
		"what comes back alone is no edit of the other version": {world: decided, steps: []step{
			create("v1", `{spec: {note: x}}`), annotated(map[string]string{"conversion.webhookd.io/v1beta1.spec.w.a": `{"value":"q","in":0}`}),
			shows("v1", `{spec: {note: x}}`), edit("v1beta1", `{spec: {note: y}}`), shows("v1", `{spec: {note: y}}`),
		}},
	}.hold(t)
}
