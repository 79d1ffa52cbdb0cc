package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
)

// K5: annotations are their writers'. A value that does not fit the types and structure of its
// version is not restored, and nothing in an annotation makes a conversion fail.
func TestForgedValuesThatDoNotFitAreNotRestored(t *testing.T) {
	t.Parallel()
	for at, texts := range map[string][]string{
		"v1.spec.owner": {
			`{"value":5}`, `{"value":{"a":"b"}}`, `{"value":["a"]}`, `{"value":null}`, `{"value":true}`,
			`{"value":"x","watch":5}`, `{"value":"x","watch":"a b"}`, `{"value":"x","watch":["1p5rssy"]}`,
		},
		"v1.spec.size":        {`{"value":"5"}`, `{"value":1.5}`, `{"value":1e999}`, `{"value":99999999999999999999}`, `{"value":{}}`},
		"v1.spec.on":          {`{"value":"true"}`, `{"value":1}`},
		"v1.spec.tls":         {`{"value":"x"}`, `{"value":[]}`, `{"value":{"mode":5}}`, `{"value":{"mode":{"a":1}}}`},
		"v1.spec.tls.mode":    {`{"value":{}}`, `{"value":5,"in":1}`, `{"value":["x"],"in":0}`},
		"v1.spec.owner.first": {`{"value":"x","in":1}`, `{"value":"x","in":0}`},
		"v1.spec.tags":        {`{"value":"x"}`, `{"value":{"0":"x"}}`, `{"value":[5]}`, `{"value":["x",{}]}`},
		"v1.spec.m":           {`{"value":["x"]}`, `{"value":{"k":5}}`, `{"value":{"k":{"a":"b"}}}`},
		"v1.spec.l": {
			`{"value":{"a":"b"}}`, `{"value":["x"]}`, `{"value":[{"name":"a","x":5}]}`,
			`{"value":[{"name":"a"},{"name":"a"}]}`, `{"list":5}`, `{"list":[5]}`, `{"list":{"a":"b"}}`, `{"order":5}`, `{"order":["a",5]}`,
			`{"order":{"a":1}}`, `{"parts":5}`, `{"parts":["x"]}`, `{"parts":{"a":5}}`,
		},
		"v1.spec":     {`{"value":"x"}`, `{"value":[]}`, `{"value":5}`, `{"parts":"x"}`, `{"parts":{"owner":5}}`},
		"v1.spec.any": {`{"value":`, `{"value":"x"`, `x`, ``, ` `, `[]`, `"x"`, `5`, `null`, `{}`, `{"value":"\ud800"`, "{\"value\":\"\x01\"}"},
	} {
		for _, text := range texts {
			t.Run(at+" "+text, func(t *testing.T) {
				t.Parallel()
				for _, prefix := range []string{specPrefix, statusPrefix} {
					forge(t, map[string]string{prefix + at: text}, plain, plain)
				}
			})
		}
	}
}

// A kept value of spec is never one of status, as the two have different writers.
func TestForgedValuesOfSpecReachNoStatus(t *testing.T) {
	t.Parallel()
	const phase, under = `.status.phase`, `.metadata.annotations[\"status.conversion.webhookd.io/v1beta1.status.seen\"]`
	for name, annotations := range map[string]map[string]string{
		"the path of status in the key":       {"v1.status.phase": `{"value":"Up"}`},
		"all of status":                       {"v1.status": `{"value":{"phase":"Up"}}`},
		"a path in the value":                 {"v1.spec.owner": `{"value":"Up","path":"` + phase + `"}`},
		"a path without its first point":      {"v1.spec.owner": `{"value":"Up","path":"status.phase"}`},
		"a path as a pointer":                 {"v1.spec.owner": `{"value":"Up","path":"/status/phase"}`},
		"a path as a list":                    {"v1.spec.owner": `{"value":"Up","path":["status","phase"]}`},
		"a path below spec that leaves it":    {"v1.spec.owner": `{"value":"Up","path":".spec..status.phase"}`},
		"a key that says nothing":             {"v1.0123456789abcdef": `{"value":"Up","path":"` + phase + `"}`},
		"a key that only has the version":     {"v1": `{"value":{"status":{"phase":"Up"}}}`},
		"parts of an object":                  {"v1": `{"parts":{"status":{"phase":"Up"}}}`},
		"parts by path":                       {"v1.spec": `{"parts":{".status.phase":"Up"},"path":""}`},
		"parts by path, each with a value":    {"v1.spec": `{"parts":{".status.phase":{"value":"Up"}}}`},
		"an annotation that restores another": {"v1.metadata.annotations": `{"value":"{\"value\":\"Up\"}","path":"` + under + `"}`},
		"annotations that restore others":     {"v1.metadata.annotations": `{"value":{"status.conversion.webhookd.io/v1beta1.status.seen":"{\"value\":\"Up\"}"}}`},
		"an absence":                          {"v1.status.ready": `{"absent":true}`, "v1.status": `{"absent":true}`},
		"another spelling of the version":     {"V1.status.phase": `{"value":"Up"}`, "v1..status.phase": `{"value":"Up"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := map[string]string{}
			for key, text := range annotations {
				all[specPrefix+key] = text
			}
			w := forge(t, all, "", "")
			for range 2 { // what one conversion makes of an annotation may be what the next one reads
				for _, version := range []string{"v1", "v1beta1"} {
					obj := w.read(version)
					if diff := cmp.Diff(map[string]any{"ready": true}, obj["status"]); diff != "" {
						t.Errorf("status at %s (-want +got):\n%s", version, diff)
					}
					for key := range annotationsOf(obj) {
						if strings.HasPrefix(key, statusPrefix) {
							t.Errorf("at %s it has %s", version, key)
						}
					}
				}
				rewritten("v1")(w)
			}
		})
	}
}

// The kept value of status that a client may write is status.
func TestForgedValuesOfStatusReachNoSpec(t *testing.T) {
	t.Parallel()
	for name, annotations := range map[string]map[string]string{
		"the path of spec in the key": {"v1.spec.owner": `{"value":"me"}`},
		"a path in the value":         {"v1.status.phase": `{"value":"me","path":".spec.owner"}`},
		"a path as a list":            {"v1.status.phase": `{"value":"me","path":["spec","owner"]}`},
		"a label":                     {"v1.metadata.labels.team": `{"value":"me"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := map[string]string{}
			for key, text := range annotations {
				all[statusPrefix+key] = text
			}
			forge(t, all, plain, plain)
		})
	}
}

// If an answer changes other metadata, the API server refuses it with its whole list.
func TestForgedValuesChangeNoMetadata(t *testing.T) {
	t.Parallel()
	for at, text := range map[string]string{
		"apiVersion": `"example.com/v2"`, "kind": `"Other"`, "metadata": `{"name":"other"}`, "metadata.name": `"other"`, "metadata.uid": `"u"`,
		"metadata.namespace": `"other"`, "metadata.generation": `7`, "metadata.resourceVersion": `"7"`, "metadata.finalizers": `["f/f"]`,
		"metadata.ownerReferences": `[{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u"}]`, "metadata.deletionTimestamp": `"2026-01-02T03:04:05Z"`,
		"metadata.managedFields": `[]`, "metadata.labels": `"x"`, "metadata.labels.team": `"Blue Team"`, "metadata.labels.n": `5`,
		"metadata.annotations": `[]`, "metadata.annotations.n": `5`,
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			for _, forged := range []string{`{"value":` + text + `}`, `{"value":` + text + `,"in":0}`} {
				forge(t, map[string]string{specPrefix + "v1." + at: forged}, plain, plain)
			}
			forge(t, map[string]string{specPrefix + "v1." + at: `{"absent":true}`}, plain, plain)
		})
	}
}

// Ranges, patterns and enums are checked by the guard, since this copy of the CRD may be old.
func TestValuesThatOnlyValidationRefusesAreRestored(t *testing.T) {
	t.Parallel()
	w := strictWorld()
	for at, test := range map[string]struct{ text, want string }{
		"v1.spec.percent": {`{"value":150}`, `{percent: 150}`},
		"v1.spec.name":    {`{"value":"UPPER"}`, `{name: UPPER}`},
		"v1.spec.mode":    {`{"value":"C"}`, `{mode: C}`},
		"v1.spec.short":   {`{"value":"very long"}`, `{short: very long}`},
		"v1.spec.fixed":   {`{"value":"other"}`, `{fixed: other}`},
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			row{world: w, steps: []step{
				create("v1beta1", `{spec: {}}`), annotated(map[string]string{specPrefix + at: test.text}), shows("v1", `{spec: `+test.want+`}`),
			}}.walk(t, "v1beta1")
		})
	}
	rows{"a newer enum, range and pattern in the cluster": {world: w, steps: []step{
		clusterHas(two("{spec: {}}", "{spec: {percent: integer, name: string, mode: enum A B C, short: string, fixed: string}}", "")),
		create("v1", `{spec: {percent: 150, name: UPPER, mode: C, short: very long}}`), rewritten("v1beta1"),
		shows("v1", `{spec: {percent: 150, name: UPPER, mode: C, short: very long}}`),
	}}}.hold(t)
}

// A value that fits is restored by any writer, as it could have been written at its own version.
func TestValuesThatFitAreRestored(t *testing.T) {
	t.Parallel()
	forge(t, map[string]string{
		specPrefix + "v1.spec.owner": `{"value":"ops"}`, specPrefix + "v1.spec.size": `{"value":5}`,
		specPrefix + "v1.spec.tls.mode": `{"value":"strict","in":1}`, statusPrefix + "v1.status.phase": `{"value":"Up"}`,
	}, `{spec: {note: n, owner: ops, size: 5, tls: {mode: strict}}, status: {ready: true, phase: Up}}`, plain)
}

// With any text, an object that is structurally valid stays so, and nothing else in it changes.
func FuzzForgedValues(f *testing.F) {
	for _, key := range []string{
		"v1.spec.owner", "v1.spec.l", "v1.spec.tls.mode", "v1.spec", "v1", "v1.status.phase", "v1beta1.spec.note", "v1.metadata.labels.a", "v2.spec.a",
	} {
		for _, text := range []string{
			`{"value":"x"}`, `{"value":{"a":[1,{"b":null}]},"base":"x","in":1}`, `{"absent":true,"base":"0"}`, `{"list":[{"value":{"name":"a"}}]}`,
			`{"order":["a","b"]}`, `{"parts":{"a":{"value":1}}}`, `{"value":1,"path":".spec.size"}`, `{"value":1,"path":["spec","size"],"in":99}`,
		} {
			f.Add(key, text, false)
			f.Add(key, text, true)
		}
	}
	forged := forgedWorld()
	api, kind := forged.crd(f), forged.kind(f)
	f.Fuzz(func(t *testing.T, key, text string, status bool) {
		prefix := specPrefix
		if status {
			prefix = statusPrefix
		}
		w := &walk{t: t, api: api, webhookd: kind, storage: "v1beta1"}
		create("v1beta1", plain)(w)
		annotated(map[string]string{prefix + key: text})(w)
		if errs := apivalidation.ValidateAnnotations(annotationsOf(w.stored), nil); len(errs) > 0 {
			return // no client can write it
		}
		was, obj := w.read("v1beta1"), w.read("v1")
		if errs := w.api.Version("v1").Validate(obj); len(errs) > 0 {
			t.Errorf("%v: %s", errs.ToAggregate(), encoded(t, obj))
		}
		other := "status"
		if status {
			other = "spec"
		}
		if diff := cmp.Diff(was[other], obj[other]); diff != "" {
			t.Errorf("%s changes by an annotation that is none of it (-want +got):\n%s", other, diff)
		}
		w.convert(obj, "v1", "v1beta1")
	})
}

const plain = `{spec: {note: n}, status: {ready: true}}`

// forgedWorld is a world in which v1 has fields of each type that v1beta1 lacks.
func forgedWorld() world {
	return two("{spec: {note: string}, status: {ready: boolean}}", `{spec: {note: string, owner: string, size: integer, "on": boolean, tls: {mode: string},
		tags: [string], m: {'*': string}, l: [{name: string, x: string}, name], any: intorstring}, status: {ready: boolean, phase: string}}`, "")
}

// strictWorld is a world whose v1 has validations.
func strictWorld() world {
	return two("{spec: {}}", "{spec: {percent: integer, name: string, mode: enum A B, short: string, fixed: string}}", "").patched("v1", `
properties:
  spec:
    properties:
      percent: {maximum: 100}
      name: {pattern: "^[a-z]*$"}
      short: {maxLength: 3}
      fixed: {x-kubernetes-validations: [{rule: self == oldSelf}]}`)
}

// forge writes an object with annotations at v1beta1, and compares what is read at v1, and at
// v1beta1 if that is given.
func forge(t *testing.T, annotations map[string]string, v1, beta string) *walk {
	t.Helper()
	w := row{world: forgedWorld(), steps: []step{create("v1beta1", plain), annotated(annotations)}}.walk(t, "v1beta1")
	if v1 != "" {
		shows("v1", v1)(w)
		rewritten("v1")(w)
		shows("v1beta1", beta)(w)
	}
	return w
}
