package rules_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The kept values of a version that the CRD no longer has go with the next write through webhookd,
// and only then. Annotations of versions that webhookd does not know, or not yet, pass untouched.
func TestAnnotationsOfOtherVersions(t *testing.T) {
	t.Parallel()
	const value = `{"value":"x"}`
	for name, test := range map[string]struct {
		key, text string
		goes      bool
	}{
		"a removed version":                   {specPrefix + "v1alpha1.spec.old", value, true},
		"a removed version's status":          {statusPrefix + "v1alpha1.status.old", value, true},
		"a removed version's absence":         {specPrefix + "v1alpha1.spec.old", `{"absent":true,"inputs":"x"}`, true},
		"a removed version of another number": {specPrefix + "v1alpha2.spec.old", value, true},
		"a newer version":                     {specPrefix + "v2.spec.fresh", value, false},
		"a newer version's status":            {statusPrefix + "v2.status.fresh", value, false},
		"a newer beta":                        {specPrefix + "v2beta1.spec.fresh", value, false},
		"a version between":                   {specPrefix + "v1beta2.spec.fresh", value, false},

		"a removed version in another format":    {specPrefix + "v1alpha1", `{"spec":{"old":"x"}}`, false},
		"a removed version, with more members":   {specPrefix + "v1alpha1.spec.old", `{"value":"x","since":"2"}`, false},
		"a removed version, but no object":       {specPrefix + "v1alpha1.spec.old", `x`, false},
		"a removed version, with nothing":        {specPrefix + "v1alpha1.spec.old", `{}`, false},
		"no version":                             {specPrefix + "owner", value, false},
		"one of the versions, with more members": {specPrefix + "v1.spec.owner", `{"value":"x","since":"2"}`, false},
		"the other one, with more members":       {specPrefix + "v1beta1.spec.mine", `{"value":"x","since":"2"}`, false},
		"one of the versions in another format":  {specPrefix + "v1", `{"spec":{"owner":"x"}}`, false},
		"one of the versions, but no object":     {specPrefix + "v1.spec.owner", `"x"`, false},
		"another prefix":                         {"conversion.webhookd.io.example.com/v1alpha1.spec.old", value, false},
		"no prefix":                              {"conversion.webhookd.io", value, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stays := map[string]string{test.key: test.text}
			left := maps.Clone(stays)
			if test.goes {
				left = map[string]string{}
			}
			w := two("{spec: {note: string, mine: string}}", "{spec: {note: string, owner: string}}", "")
			for storage, to := range map[string]string{"v1": "v1beta1", "v1beta1": "v1"} {
				row{world: w, steps: []step{
					create(storage, `{spec: {note: a}}`), annotated(stays), shows(to, visibleWith(left, `{spec: {note: a}}`)), carries(stays),
					edit(storage, `{spec: {note: b}}`), carries(stays), // which calls no webhook
					edit(to, `{spec: {note: c}}`), carries(left), shows(storage, visibleWith(left, `{spec: {note: c}}`)),
				}}.walk(t, storage)
			}
		})
	}
}

// The kept values of a version are computed again from that version, and go when it is read.
func TestAnnotationsOfTheVersionsThemselves(t *testing.T) {
	t.Parallel()
	w := two("{spec: {note: string, mine: string}}", "{spec: {note: string, owner: string}}", "")
	rows{
		"a value that its own version does not have any more": {world: w, storage: "v1", steps: []step{
			create("v1", `{spec: {note: a}}`), annotated(map[string]string{specPrefix + "v1.spec.owner": `{"value":"x"}`}),
			edit("v1beta1", `{spec: {note: b}}`), keepsNothing, shows("v1", `{spec: {note: b}}`),
		}},
		"a value that is restored": {world: w, storage: "v1beta1", steps: []step{
			create("v1", `{spec: {owner: ops}}`), edit("v1", `{spec: {owner: null}}`), keepsNothing, shows("v1", `{spec: {}}`),
		}},
		"values of both": {world: w, steps: []step{
			create("v1", `{spec: {owner: ops}}`), edit("v1beta1", `{spec: {mine: me}}`), edit("v1", `{spec: {note: x}}`),
			shows("v1", `{spec: {owner: ops, note: x}}`), shows("v1beta1", `{spec: {mine: me, note: x}}`),
			edit("v1", `{spec: {owner: null}}`), edit("v1beta1", `{spec: {mine: null}}`), keepsNothing,
		}},
	}.hold(t)
}

// A version is removed from the CRD and the rules while stored objects have kept values of it.
func TestAVersionIsRemoved(t *testing.T) {
	t.Parallel()
	schemas := map[string]string{
		"v1alpha1": "{spec: {note: string, old: string}, status: {was: string}}",
		"v1beta1":  "{spec: {note: string, mine: string}}", "v1": "{spec: {note: string, owner: string}}",
	}
	fewer := maps.Clone(schemas)
	delete(fewer, "v1alpha1")
	three, remaining := world{schemas: schemas}, world{schemas: fewer}
	for _, storage := range slices.Sorted(maps.Keys(fewer)) {
		to := other(storage)
		r := row{world: three, steps: []step{
			create("v1alpha1", `{spec: {old: o}, status: {was: w}}`), edit("v1", `{spec: {owner: ops}}`), edit("v1beta1", `{spec: {mine: me}}`),
			shows("v1alpha1", `{spec: {old: o}, status: {was: w}}`),
			becomes(remaining), edit(to, `{spec: {note: x}}`),
			shows("v1", `{spec: {owner: ops, note: x}}`), shows("v1beta1", `{spec: {mine: me, note: x}}`),
			edit("v1", `{spec: {owner: null}}`), edit("v1beta1", `{spec: {mine: null}}`), rewritten("v1"), rewritten("v1beta1"), keepsNothing,
		}}
		t.Run("stored at "+storage, func(t *testing.T) { t.Parallel(); r.walk(t, storage) })
	}
}

// carries compares the annotations of the stored object.
func carries(want map[string]string) step {
	return func(w *walk) {
		w.t.Helper()
		if diff := cmp.Diff(want, annotationsOf(w.stored)); diff != "" {
			w.t.Fatalf("step %d: annotations at %s (-want +got):\n%s", w.at, w.storage, diff)
		}
	}
}

// visibleWith is an object with those of the annotations that users see.
func visibleWith(annotations map[string]string, members string) string {
	for key, text := range annotations {
		if !isKept(key) {
			return `{metadata: {annotations: {"` + key + `": '` + text + `'}}, ` + members[1:]
		}
	}
	return members
}
