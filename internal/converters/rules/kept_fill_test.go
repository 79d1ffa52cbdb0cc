package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Defaults of a version's schema are not kept. They are shown even if the object is stored at
// another version, as the API server fills in nothing after a conversion.
func TestDefaultsOfOneVersionAreShown(t *testing.T) {
	t.Parallel()
	w := two("{spec: {note: string, l: [{name: string}, name], n: string}}", `{spec: {note: string, size: 'integer = 1', pair: 'integer = 2',
		box: {a: 'integer = 1', b: string}, all: {c: 'integer = 3'}, l: [{name: string, a: 'integer = 4'}, name],
		m: {'*': {a: 'integer = 5'}}, own: [{a: 'integer = 6', b: string}], n: string, gone: 'integer = 7'}}`,
		"- {spoke: .spec.n, hub: .spec.n}\n- {hub: .spec.gone, drop: no one reads it}\n- {hub: .spec.size}")
	given := two("{spec: {note: string}}", "{spec: {note: string, m: {'*': 'integer = 3'}, l: ['integer = 4']}}", "")
	two := w.by(w.rules["v1beta1"]+"\n- {spoke: .spec.other, hub: .spec.pair, codec: String}").with("v1beta1", "{spec: {other: string}}")
	const uid = "metadata: {uid: u}"
	const filled = `size: 1, pair: 2, gone: 7`
	rows{
		"of what is created there": {world: w, steps: []step{
			create("v1", `{`+uid+`, spec: {}}`), keepsNothing, showsAsItIs("v1", `{spec: {`+filled+`}}`),
		}},
		"and of what is created at the other version": {world: w, steps: []step{
			create("v1beta1", `{`+uid+`, spec: {l: [{name: x}]}}`), keepsNothing,
			showsAsItIs("v1", `{spec: {l: [{name: x, a: 4}], `+filled+`}}`), edit("v1", `{spec: {note: y}}`), keepsNothing,
			showsAsItIs("v1beta1", `{spec: {note: y, l: [{name: x}]}}`),
		}},
		"next to what was kept": {world: w, steps: []step{
			create("v1", `{`+uid+`, spec: {box: {b: x}, l: [{name: x, a: 0}, {name: y}], m: {k: {}}, own: [{b: z}], size: 9}}`),
			edit("v1beta1", `{spec: {note: y}}`),
			showsAsItIs("v1", `{spec: {note: y, box: {a: 1, b: x}, l: [{name: x, a: 0}, {name: y, a: 4}], m: {k: {a: 5}}, own: [{a: 6, b: z}],
				size: 9, pair: 2, gone: 7}}`),
		}},
		"and what looks like one, where none is filled in: an entry of a map, an element": {
			world: given, steps: []step{
				create("v1", `{`+uid+`, spec: {m: {k: 3}, l: [4]}}`), edit("v1beta1", `{spec: {note: y}}`),
				showsAsItIs("v1", `{spec: {note: y, m: {k: 3}, l: [4]}}`),
			},
		},
		"but not of what is absent with what it is in": {world: w, steps: []step{
			create("v1", `{`+uid+`}`), showsAsItIs("v1", `{}`),
		}},
		"and where the other version says that there is none": {world: two, steps: []step{
			create("v1beta1", `{`+uid+`, spec: {}}`), showsAsItIs("v1", `{spec: {`+filled+`}}`), showsAsItIs("v1beta1", `{spec: {}}`),
		}},
	}.hold(t)
}

// A fragment of server-side apply has no uid. Its manager would come to own any defaults that were
// filled in.
func TestFragmentsGetNoDefaults(t *testing.T) {
	t.Parallel()
	kind := two("{spec: {note: string}}", `{spec: {note: string, size: 'integer = 1'}}`, "").kind(t)
	for object, want := range map[string]string{
		head("v1beta1", `,"spec":{"note":"x"}`):                                                 head("v1", `,"spec":{"note":"x"}`),
		`{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"uid":""},"spec":{}}`:   `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"uid":""},"spec":{}}`,
		`{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"uid":null},"spec":{}}`: `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"uid":null},"spec":{}}`,
		`{"apiVersion":"example.com/v1beta1","kind":"Thing","metadata":{"uid":"u"},"spec":{}}`:  `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"uid":"u"},"spec":{"size":1}}`,
	} {
		if diff := cmp.Diff(decodedJSON(t, want), decodedJSON(t, convert(t, kind, object, "v1beta1", "v1"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", object, diff)
		}
	}
}

// Expressions read defaults that an object has once it is stored, also in fragments, and in objects
// that come from elsewhere than the API server.
func TestExpressionsReadDefaults(t *testing.T) {
	t.Parallel()
	kind := two("{spec: {s: string}}", `{spec: {h: string, k: 'string = "B"'}}`,
		`- {spoke: .spec.s, hub: .spec.h, whenToSpoke: 'object.?spec.?k.orValue("") == "B"'}`).kind(t)
	for name, metadata := range map[string]string{"a fragment": "{}", "an object": `{"uid":"u"}`} {
		object := `{"apiVersion":"example.com/v1","kind":"Thing","metadata":` + metadata + `,"spec":{"h":"x"}}`
		if diff := cmp.Diff(map[string]any{"s": "x"}, specOf(t, convert(t, kind, object, "v1", "v1beta1"))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What the schema or a rule fills in anyway is not kept.
func TestDefaultsAreNotKept(t *testing.T) {
	t.Parallel()
	held := two("{spec: {s: string}}", `{spec: {k: 'string = "B"'}}`, "- {spoke: .spec.s, hub: .spec.k, whenToSpoke: 'false'}")
	made := two("{spec: {s: string}}", "{spec: {framework: {name: string, rest: string}}}",
		"- {hub: .spec.framework.name, defaultInHub: tfx}\n- {hub: .spec.framework.rest}\n- {spoke: .spec.s}")
	for _, c := range []struct {
		world
		spec, kept string
	}{
		{held, `{"k":"B"}`, ""},
		{held, `{"k":"C"}`, `{"v1.spec.k":{"value":"C"}}`},
		{made, `{"framework":{"name":"tfx"}}`, `{"v1.spec.framework":{"value":{}}}`},
		{made, `{"framework":{"name":"kfp"}}`, `{"v1.spec.framework.name":{"in":1,"value":"kfp"}}`},
	} {
		object := `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"uid":"u"},"spec":` + c.spec + `}`
		if _, kept := bareAndKept(t, convert(t, c.kind(t), object, "v1", "v1beta1")); kept != c.kept {
			t.Errorf("of %s is kept %s, want %s", c.spec, kept, c.kept)
		}
	}
}

// A conversion by way of the hub shows the defaults of the version that was asked for, not those of
// the hub.
func TestDefaultsOfTheHubStayThere(t *testing.T) {
	t.Parallel()
	w := world{schemas: map[string]string{
		"v1alpha1": "{spec: {note: string}}", "v1beta1": "{spec: {note: string, size: integer}}", "v1": "{spec: {note: string, size: 'integer = 1'}}",
	}}
	rows{
		"nothing is filled in on the way": {world: w, storage: "v1alpha1", steps: []step{
			create("v1beta1", `{metadata: {uid: u}, spec: {note: x}}`), showsAsItIs("v1beta1", `{spec: {note: x}}`),
			showsAsItIs("v1", `{spec: {note: x, size: 1}}`),
		}},
	}.hold(t)
}

// showsAsItIs is shows without the defaults that the API server fills in when the object is
// written.
func showsAsItIs(version, members string) step {
	return func(w *walk) {
		w.t.Helper()
		got, want := visible(w.read(version)), fromYAML(w.t, members)
		delete(got, "metadata")
		if diff := cmp.Diff(want, got); diff != "" {
			w.t.Fatalf("step %d: at %s (-want +got):\n%s\nstored: %.2000s", w.at, version, diff, encoded(w.t, w.stored))
		}
	}
}

// A manifest that leaves a computed field to the API server, which fills in its default, converts
// without annotations: rewrite writes it. A value that is not the default is kept.
func TestManifestsKeepNoDefaults(t *testing.T) {
	t.Parallel()
	kind := two("{spec: {source: {type: 'string = \"Git\"', url: string}}}", "{spec: {source: {git: {url: string}}}}",
		"- {spoke: .spec.source.url, hub: .spec.source.git.url}\n- {spoke: .spec.source.type, toSpoke: '\"Git\"'}").kind(t)
	for rest, kept := range map[string]bool{
		`,"spec":{"source":{"url":"u"}}`:                false,
		`,"spec":{"source":{"type":"Git","url":"u"}}`:   false,
		`,"spec":{"source":{"type":"Other","url":"u"}}`: true,
	} {
		manifest := head("v1beta1", rest)
		if there := convert(t, kind, manifest, "v1beta1", "v1"); strings.Contains(there, "annotations") != kept {
			t.Errorf("%s becomes %s", manifest, there)
		}
	}
}
