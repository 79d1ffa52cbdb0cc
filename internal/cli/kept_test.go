package cli

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExplainObject(t *testing.T) {
	t.Parallel()
	c, rules := engines(t)
	const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"engines.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"engines","singular":"engine","kind":"Engine","listKind":"EngineList","shortNames":["en"]},
"versions":[
{"name":"v1alpha1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},
{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
	"watts":{"type":"integer"},"gauge":{"type":"string"},"mode":{"type":"string"}}}}}}},
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
	"watts":{"type":"integer"},"mode":{"type":"string"}}}}}}}]}}`
	c.Put(t, enginesPath, "kubectl", crd)
	const path = "/apis/example.com/v1/namespaces/a/engines/laden"
	laden := `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"namespace":"a","name":"laden","annotations":{
		"conversion.webhookd.io/v1beta1.spec.gauge":"{\"value\":\"the-secret-gauge\"}",
		"conversion.webhookd.io/v1beta1.spec.mode":"{\"value\":\"the-secret-mode\",\"inputs\":\"stale\"}",
		"conversion.webhookd.io/v1alpha1.spec.old":"{\"value\":\"the-secret-old\"}",
		"conversion.webhookd.io/v1alpha0.spec.older":"{\"value\":\"the-secret-older\"}",
		"conversion.webhookd.io/v1beta1.spec.new":"[a new format]",
		"example.com/other":"x"}},"spec":{"watts":1,"mode":"A"}}`
	c.Put(t, path, "kubectl", laden)
	c.Put(t, path, "old-controller", strings.Replace(laden, `"watts":1`, `"watts":2`, 1))
	writeFile(t, rules, `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: engines.example.com}
spec:
  hub: v1
  versions:
  - name: v1beta1
    unmapped: Preserve
    rules:
    - {spoke: .spec.mode, hub: .spec.mode, values: {A: A, B: A}}
  - name: v1alpha1
    unmapped: Preserve
    rules: []
`)
	file := filepath.Join(t.TempDir(), "object.json")
	writeFile(t, file, laden)
	const head = `Engine a/laden at v1: kept values have 342 bytes; 360 of 262144 bytes of annotations are used (0.1 %)
  OF        BYTES  PLACE
`
	const gone = ", at the latest since the last change of the CRD at TIME: no client can read these values, "
	const served = `  needed as long as clients read or write v1beta1, which is served; managedFields has no write at it
  1 annotation in a format that this build does not know, which conversions pass on
`
	const tail = `  v1alpha0 is not a version of the CRD` + gone + `so they can be dropped
  v1alpha1 is not served` + gone + `and they can be dropped if it stays so
` + served
	const needed = " is served, which its CRD says: give it with --crds, or name the object as KIND/NAME\n"
	for name, tt := range map[string]struct{ args, want string }{
		"file": {file, head + `  v1alpha0  70     .spec.older: its value
  v1alpha1  66     .spec.old: its value
  v1beta1   69     .spec.gauge: its value
  v1beta1   84     .spec.mode: its value
  needed as long as v1alpha0` + needed + "  needed as long as v1alpha1" + needed + "  needed as long as v1beta1" + needed +
			"  1 annotation in a format that this build does not know, which conversions pass on\n"},
		"cluster": {"engines.example.com/laden -n a", head + `  v1alpha0  70     .spec.older: its value
  v1alpha1  66     .spec.old: its value
  v1beta1   69     .spec.gauge: its value
  v1beta1   84     .spec.mode: its value
` + tail},
		"with rules": {"en/laden -n a --rules " + rules, head + `  v1alpha0  70     .spec.older: its value
  v1alpha1  66     .spec.old: its value, which returns when v1alpha1 is read
  v1beta1   69     .spec.gauge: its value, which returns when v1beta1 is read
  v1beta1   84     .spec.mode: its value, which will not return: v1 was edited since, or the schema lacks the place
` + tail},
		"with values": {"engines.v1.example.com/laden -n a --show-values", head + `  v1alpha0  70     .spec.older: its value
                     .spec.older = "the-secret-older"
  v1alpha1  66     .spec.old: its value
                     .spec.old = "the-secret-old"
  v1beta1   69     .spec.gauge: its value
                     .spec.gauge = "the-secret-gauge"
  v1beta1   84     .spec.mode: its value
                     .spec.mode = "the-secret-mode"
` + tail},
		"one version":  {"Engine/laden -n a --version v1beta1", strings.Replace(head, "OF        ", "OF       ", 1) + "  v1beta1  69     .spec.gauge: its value\n  v1beta1  84     .spec.mode: its value\n" + served},
		"nothing kept": {"engine/plain -n a", "Engine a/plain at v1: nothing is kept; 0 of 262144 bytes of annotations are used\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.run(t, append([]string{"kept"}, strings.Fields(tt.args)...)...)
			text := regexp.MustCompile(`20\d\d-\S+Z`).ReplaceAllString(got.Stdout, "TIME")
			if diff := cmp.Diff(tt.want, text); diff != "" || got.Code != 0 {
				t.Errorf("%+v (-want +got):\n%s", got, diff)
			}
		})
	}
}

// The last write at a version is in managedFields, if a manager of it is left.
func TestExplainSaysTheLastWrite(t *testing.T) {
	t.Parallel()
	c, rules := engines(t)
	file := filepath.Join(t.TempDir(), "list.yaml")
	writeFile(t, file, `apiVersion: v1
kind: List
items:
- apiVersion: example.com/v1
  kind: Engine
  metadata:
    name: a
    annotations: {conversion.webhookd.io/v1beta1.spec.gauge: '{"value":"x"}'}
    managedFields:
    - {manager: first, apiVersion: example.com/v1beta1, time: "2026-01-02T03:04:05Z"}
    - {manager: last, apiVersion: example.com/v1beta1, time: "2026-02-03T04:05:06Z"}
    - {manager: other, apiVersion: example.com/v1, time: "2026-03-04T05:06:07Z"}
- {apiVersion: example.com/v1, kind: Engine, metadata: {name: b}}
`)
	crd := filepath.Join(t.TempDir(), "crd.json")
	writeFile(t, crd, enginesCRD)
	got := runWith(t, nil, strings.NewReader(""), "kept", file, "--crds", crd)
	for _, want := range []string{
		"  needed as long as clients read or write v1beta1, which is served; the last write at it was at 2026-02-03T04:05:06Z by last\n",
		"\n\nEngine b at v1: nothing is kept",
	} {
		if got.Code != 0 || !strings.Contains(got.Stdout, want) {
			t.Errorf("%+v, want %s", got, want)
		}
	}
	if got := c.run(t, "kept", file, "--version", "v8"); got.Code != 0 || got.Stderr != "webhookd: --version \"v8\": no object keeps values of this version\n" {
		t.Errorf("without a CRD: %+v", got)
	}
	for args, want := range map[string]string{
		file + " --crds " + crd + " --version v8": "webhookd: --version \"v8\": no such version, choose one of ",
		"nothing":        `webhookd: "nothing": neither a file nor an object of a cluster, write its path or KIND/NAME` + "\n",
		"a/b/c":          `webhookd: "a/b/c": neither a file nor an object of a cluster, write its path or KIND/NAME` + "\n",
		"motors/x":       "webhookd: motors: no CRD of this kind in the cluster, write PLURAL.GROUP/NAME\n",
		"engines/x -n a": `webhookd: /apis/example.com/v1/namespaces/a/engines/x: cannot get: engines.example.com "x" not found (404)` + "\n",
		rules:            "\nhint: these are rules, not an object: give rules with --rules\n",
		crd:              "\nhint: this is a CRD, not an object of its kind: give CRDs with --crds\n",
		"a b":            "webhookd: give one object, or a file or folder with all\n",
	} {
		if got := c.run(t, append([]string{"kept"}, strings.Fields(args)...)...); got.Code == 0 || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: %+v, want %s", args, got, want)
		}
	}
}
