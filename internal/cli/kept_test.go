package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExplainObject(t *testing.T) {
	t.Parallel()
	_, rules := engines(t)
	const crd = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"engines.example.com"},
"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"engines","singular":"engine","kind":"Engine","listKind":"EngineList","shortNames":["en"]},
"versions":[
{"name":"v1alpha1","served":false,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}},
{"name":"v1beta1","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
	"watts":{"type":"integer"},"gauge":{"type":"string"},"mode":{"type":"string"}}}}}}},
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{
	"watts":{"type":"integer"},"mode":{"type":"string"}}}}}}}]}}`
	laden := `{"apiVersion":"example.com/v1","kind":"Engine","metadata":{"namespace":"a","name":"laden","annotations":{
		"conversion.webhookd.io/v1beta1.spec.gauge":"{\"value\":\"the-secret-gauge\"}",
		"conversion.webhookd.io/v1beta1.spec.mode":"{\"value\":\"the-secret-mode\",\"inputs\":\"stale\"}",
		"conversion.webhookd.io/v1alpha1.spec.old":"{\"value\":\"the-secret-old\"}",
		"conversion.webhookd.io/v1alpha0.spec.older":"{\"value\":\"the-secret-older\"}",
		"conversion.webhookd.io/v1beta1.spec.new":"[a new format]",
		"example.com/other":"x"}},"spec":{"watts":1,"mode":"A"}}`
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
	crdFile := filepath.Join(t.TempDir(), "crd.json")
	writeFile(t, crdFile, crd)
	const head = `Engine a/laden at v1: kept values have 342 bytes; 360 of 262144 bytes of annotations are used (0.1 %)
  OF        BYTES  PLACE
`
	const tail = "  1 annotation in a format that this build does not know, which conversions pass on\n"
	for name, tt := range map[string]struct{ args, want string }{
		"without rules": {"", head + `  v1alpha0  70     .spec.older: its value
  v1alpha1  66     .spec.old: its value
  v1beta1   69     .spec.gauge: its value
  v1beta1   84     .spec.mode: its value
` + tail},
		"with rules": {" --rules " + rules + " --crds " + crdFile, head + `  v1alpha0  70     .spec.older: its value
  v1alpha1  66     .spec.old: its value, which returns when v1alpha1 is read
  v1beta1   69     .spec.gauge: its value, which returns when v1beta1 is read
  v1beta1   84     .spec.mode: its value, which will not return: v1 was edited since, or the schema lacks the place
` + tail},
		"with values": {" --show-values", head + `  v1alpha0  70     .spec.older: its value
                     .spec.older = "the-secret-older"
  v1alpha1  66     .spec.old: its value
                     .spec.old = "the-secret-old"
  v1beta1   69     .spec.gauge: its value
                     .spec.gauge = "the-secret-gauge"
  v1beta1   84     .spec.mode: its value
                     .spec.mode = "the-secret-mode"
` + tail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := runWith(t, nil, strings.NewReader(""), append([]string{"kept"}, strings.Fields(file+tt.args)...)...)
			if diff := cmp.Diff(tt.want, got.Stdout); diff != "" || got.Code != 0 {
				t.Errorf("%+v (-want +got):\n%s", got, diff)
			}
		})
	}
}

func TestKeptReadsLists(t *testing.T) {
	t.Parallel()
	_, rules := engines(t)
	file, crd := filepath.Join(t.TempDir(), "list.yaml"), filepath.Join(t.TempDir(), "crd.json")
	writeFile(t, file, `apiVersion: v1
kind: List
items:
- apiVersion: example.com/v1
  kind: Engine
  metadata: {name: a, annotations: {conversion.webhookd.io/v1beta1.spec.gauge: '{"value":"x"}'}}
- {apiVersion: example.com/v1, kind: Engine, metadata: {name: b}}
`)
	writeFile(t, crd, enginesCRD)
	got := runWith(t, nil, strings.NewReader(""), "kept", file)
	if got.Code != 0 || !strings.HasPrefix(got.Stdout, "Engine a at v1: kept values have 54 bytes; ") || !strings.Contains(got.Stdout, "\n\nEngine b at v1: nothing is kept; 0 of 262144 bytes") {
		t.Errorf("%+v", got)
	}
	for args, want := range map[string]string{
		"nothing": "webhookd: nothing: cannot read objects: no such file or directory, give their file or folder\n",
		rules:     "\nhint: these are rules, not an object: give rules with --rules\n",
		crd:       "\nhint: this is a CRD, not an object of its kind: give CRDs with --crds\n",
		"a b":     "webhookd: give a file or folder of objects, or - for stdin\n",
	} {
		if got := runWith(t, nil, strings.NewReader(""), append([]string{"kept"}, strings.Fields(args)...)...); got.Code == 0 || !strings.Contains(got.Stderr, want) {
			t.Errorf("%s: %+v, want %s", args, got, want)
		}
	}
}
