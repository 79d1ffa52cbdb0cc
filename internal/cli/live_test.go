package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/test/helpers/clustertest"
)

const (
	enginesCRD = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"engines.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"engines","singular":"engine","kind":"Engine","listKind":"EngineList"},
"versions":[
{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
	"power":{"type":"integer","maximum":100},"color":{"type":"string","default":"red"}}}}}}},
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
	"watts":{"type":"integer"},"color":{"type":"string"},"owner":{"type":"string"},"note":{"type":"string"}}}}}}}]}}`
	enginesPath  = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/engines.example.com"
	enginesRules = `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata:
  name: engines.example.com
spec:
  hub: v1
  versions:
  - name: v1beta1
    unmapped: Preserve
    rules:
    - {spoke: .spec.power, hub: .spec.watts}
    - {hub: .spec.note, drop: a note of v1 means nothing in v1beta1}
`
)

// engine stores an Engine of v1.
func (c *testCluster) engine(t *testing.T, name, spec string) {
	t.Helper()
	namespace, short, _ := strings.Cut(name, "/")
	c.Put(t, "/apis/example.com/v1/namespaces/"+namespace+"/engines/"+short, "kubectl", fmt.Sprintf(
		`{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"namespace":%q,"name":%q},"spec":%s}`, namespace, short, spec))
}

// engines returns a cluster with Engines, some of which the rules do not convert well, and the file
// of the rules.
func engines(t *testing.T) (c *testCluster, rules string) {
	t.Helper()
	c = newCluster(t)
	c.PageSize = 3
	c.Put(t, enginesPath, "kubectl", enginesCRD)
	c.engine(t, "a/plain", `{"watts":1,"color":"blue"}`)
	c.engine(t, "a/kept", `{"watts":2,"color":"blue","owner":"the-secret-owner"}`)
	c.engine(t, "a/refused", `{"watts":1234,"color":"blue"}`)
	c.engine(t, "b/default", `{"watts":3}`)
	c.engine(t, "b/dropped", `{"watts":4,"color":"blue","note":"the-secret-note"}`)
	c.engine(t, "b/invalid", `{"watts":"the-secret-watts","color":"blue"}`)
	c.engine(t, "b/too-large", `{"watts":5,"color":"blue","owner":"`+strings.Repeat("x", 300<<10)+`"}`)
	rules = filepath.Join(t.TempDir(), "rules.yaml")
	writeFile(t, rules, enginesRules)
	return c, rules
}

// told returns what a run printed, without the folder of the rules.
func told(r result, rules string) string {
	return strings.ReplaceAll(r.Stdout+r.Stderr, filepath.Dir(rules)+"/", "")
}

// The how-to shows what the commands print about these Engines. With -update it is rewritten.
//
//nolint:paralleltest // it works in a folder of its own, with KUBECONFIG
func TestTheHowToOfLiveObjectsIsTrue(t *testing.T) {
	file, err := filepath.Abs("../../docs/how-to/check-live-objects.md")
	if err != nil {
		t.Fatal(err)
	}
	c, rules := engines(t)
	writeFile(t, filepath.Join(filepath.Dir(rules), "tuned.yaml"), `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"namespace":"a","name":"tuned",
		"annotations":{"conversion.webhookd.io/v1beta1.spec.gauge":"{\"value\":\"analog\"}","team":"b"}},"spec":{"watts":1,"color":"blue"}}`)
	t.Setenv("KUBECONFIG", c.flags[1])
	t.Chdir(filepath.Dir(rules))
	if commands := followFile(t, file, "webhookd"); commands < 2 {
		t.Errorf("%d commands, the page is not read as it is written", commands)
	}
}

func TestCheckLive(t *testing.T) {
	t.Parallel()
	c, rules := engines(t)
	got := c.run(t, "check", rules, "--live")
	const want = `rules.yaml:4:9: v1 -> v1beta1 -> v1: .spec.color: another value comes back (1 of 7 live objects, such as b/default) (live-differs)
  4 |   name: engines.example.com
    |         ^
  hint: --show-values prints what it was and is
rules.yaml:4:9: note: v1: .spec.watts: the object's own schema refuses the value, must be of type integer (1 of 7 live objects, such as b/invalid) (live-invalid)
  4 |   name: engines.example.com
    |         ^
rules.yaml:4:9: note: v1 -> v1beta1: values are kept, at most 64 bytes an object (1 of 7 live objects, such as a/kept with 64 of 262144 bytes of annotations): .spec.owner (1 object) (live-kept)
  4 |   name: engines.example.com
    |         ^
rules.yaml:4:9: v1 -> v1beta1: more has to be kept than fits into annotations, so every list at the other version fails (1 of 7 live objects, such as b/too-large) (live-too-large)
  4 |   name: engines.example.com
    |         ^
  hint: make them smaller, or give both versions the fields; kubectl get engines.example.com -A -o json | webhookd convert - --to v1beta1 names all of them
rules.yaml:8:11: note: v1 -> v1beta1: only v1beta1 has a default for .spec.color: an annotation keeps that an object at v1 has none (default-in-one-version)
  8 |   - name: v1beta1
    |           ^
  hint: give both versions the same default, or none
rules.yaml:11:7: warning: v1 -> v1beta1: .spec.power: the schema refuses the value, should be less than or equal to 100 (1 of 7 live objects, such as a/refused) (live-refused)
  11 |     - {spoke: .spec.power, hub: .spec.watts}
     |       ^
  hint: an update at v1beta1 that leaves the value as it is passes, the first write that changes it is refused
rules.yaml:11:33: note: v1 -> v1beta1: .spec.watts may be 101, which v1beta1 refuses: an update that leaves it as it is passes, the first write that changes it is refused (narrower-schema)
  11 |     - {spoke: .spec.power, hub: .spec.watts}
     |                                 ^
  hint: relax the schema of v1beta1, or convert the value
rules.yaml:12:7: note: v1 -> v1beta1 -> v1: .spec.note: the rules drop a value (1 of 7 live objects, such as b/dropped) (live-dropped)
  12 |     - {hub: .spec.note, drop: a note of v1 means nothing in v1beta1}
     |       ^
webhookd: Engine.example.com: 7 live objects of v1
webhookd: 2 errors, 1 warning, 5 notes in 1 file
`
	if diff := cmp.Diff(want, told(got, rules)); diff != "" || got.Code != 1 {
		t.Errorf("code %d (-want +got):\n%s", got.Code, diff)
	}
	for _, request := range c.Requests() {
		if verb, _, _ := strings.Cut(request, " "); verb != "get" && verb != "list" {
			t.Errorf("a request that is more than reading: %s", request)
		}
	}
}

// Values of live objects are not printed, unless --show-values asks for them.
func TestLiveValuesStayInTheCluster(t *testing.T) {
	t.Parallel()
	c, rules := engines(t)
	got := c.run(t, "check", rules, "--live")
	if got.Code != 1 || strings.Contains(got.Stdout+got.Stderr, "the-secret") {
		t.Errorf("without values: %+v", got)
	}
	got = c.run(t, "check", rules, "--live", "--show-values")
	for _, want := range []string{`.spec.note: the rules drop a value`, `was "the-secret-note", is absent`} {
		if got.Code != 1 || !strings.Contains(got.Stdout, want) {
			t.Errorf("with values: not printed: %s\n%+v", want, got)
		}
	}
}

func TestLiveExitCodes(t *testing.T) {
	t.Parallel()
	c, rules := engines(t)
	for args, want := range map[string]int{
		"-n a": 0, "-n a --fail-on warning": 1, "-n c --fail-on note": 1, // the rules alone have a warning
		"-n a -o json": 0, "-n b -o sarif": 1,
	} {
		if got := c.run(t, append([]string{"check", rules, "--live"}, strings.Fields(args)...)...); got.Code != want {
			t.Errorf("%s: %+v, want %d", args, got, want)
		}
	}
}

// The CRD may be one that the cluster does not have yet.
func TestLiveWithANewCRD(t *testing.T) {
	t.Parallel()
	c, rules := engines(t)
	crd := filepath.Join(t.TempDir(), "crd.json")
	writeFile(t, crd, strings.Replace(enginesCRD, `"maximum":100`, `"maximum":2000`, 1))
	if got := c.run(t, "check", rules, "--live", "--crds", crd, "-n", "a", "-o", "json"); got.Code != 0 || strings.Contains(got.Stdout, "live-refused") {
		t.Errorf("%+v", got)
	}
}

func TestLiveErrors(t *testing.T) {
	t.Parallel()
	c, rules := engines(t)
	few := newCluster(t)
	few.Put(t, enginesPath, "kubectl", enginesCRD)
	few.Rules = []clustertest.Rule{{Verb: "get", Path: enginesPath}}
	none := newCluster(t)
	crd := filepath.Join(t.TempDir(), "crd.json")
	writeFile(t, crd, enginesCRD)
	for name, tt := range map[string]struct {
		cluster *testCluster
		args    string
		code    int
		want    string
	}{
		"no right to list": {
			few, "check RULES --live", 1,
			"\nwebhookd: allow list of engines.example.com, in a ClusterRole, or name a namespace that you may list with --namespace\n",
		},
		"no right to list in a namespace": {few, "check RULES --live -n a", 1, "\nwebhookd: allow list of engines.example.com, in a Role of the namespace a\n"},
		"no CRD":                          {none, "check RULES --live", 1, "there is no CRD engines.example.com"},
		"no such kind in the cluster": {
			none, "check RULES --live --crds CRD", 1,
			"webhookd: Engine.example.com: the cluster has none of these kinds\nhint: choose another cluster with --context, or apply the CRD first\n",
		},
		"without --live": {
			c, "check RULES --crds CRD -n a --show-values", 2, "webhookd: --namespace, --kubeconfig, --show-values: of no use without --live\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(strings.NewReplacer("RULES", rules, "CRD", crd).Replace(tt.args))
			got := tt.cluster.run(t, args...)
			if got.Code != tt.code || !strings.Contains(got.Stderr+got.Stdout, tt.want) {
				t.Errorf("%+v, want %d, %s", got, tt.code, tt.want)
			}
		})
	}
}
