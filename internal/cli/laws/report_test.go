package laws

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// TestViolation checks the report of a violated law. It makes one up, since rules are lossless.
func TestViolation(t *testing.T) {
	t.Parallel()
	set, err := ruleset.Compiled{}.Load(t.Context(), []ruleset.File{{Name: "rules.yaml", Text: []byte(violatedRules)}}, []ruleset.File{{Name: "crd.yaml", Text: []byte(violatedCRD)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Findings) > 0 {
		t.Fatal(set.Findings)
	}
	cause := diagnosis.Of(set.BoundKind(set.Kinds[0].GroupKind))
	var out bytes.Buffer
	p := &voice.Program{Stdout: &out}
	o := &fuzzOptions{sampleFlags: sampleFlags{ruled: offline.Flags{Rules: []string{"my rules.yaml"}, CRDs: []string{"crd.yaml"}}}}
	v := &hold.ViolationError{
		Law: "L1 round trip", From: "v1beta1", To: "v1", Problem: `.spec.steps[3].image differs: there {"a":1}`,
		Path: ".spec.steps[3].image", At: "v1beta1", Was: `"x"`, Walk: &generate.Walk{
			Object: []byte(`{"apiVersion":"example.com/v1beta1"}`), Storage: "v1", Steps: []generate.Step{
				{Storage: "v1beta1"}, {Version: "v1", Changes: []generate.Change{{Path: []any{"spec", "steps", 3, "picture"}, Remove: true}}},
			},
		},
		Object: []byte(`{"kind":"Widget","spec":{"steps":[]}}`), Seed: 7, Index: 41,
	}
	if err := printViolation(p, o, &set.Kinds[0], cause, v); err != nil {
		t.Fatal(err)
	}
	want := `Widget.example.com: law L1 round trip does not hold, v1beta1 -> v1
differs: .spec.steps[3].image
  should be: "x"
  is:        absent
steps: there {"a":1}
cause: rules.yaml:9:7: rule 1, v1beta1 .spec.steps[].image is mapped to v1 .spec.steps[].picture
remedy: rules alone cannot break a law: report this output, the rules and the CRD as a bug of webhookd
walk:
  create at v1beta1, stored at v1
  store at v1beta1
  edit at v1: no .spec.steps[3].picture
object:
  kind: Widget
  spec:
    steps: []
seed: 7
again: webhookd fuzz --rules 'my rules.yaml' --crds crd.yaml --kind Widget.example.com --seed 7 --objects 42
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const violatedRules = `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: widgets.example.com}
spec:
  hub: v1
  versions:
  - name: v1beta1
    rules:
    - {spoke: ".spec.steps[].image", hub: ".spec.steps[].picture"}
`

const violatedCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      steps: {type: array, items: {type: object, properties: {image: {type: string}}}}}}}}}
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      steps: {type: array, items: {type: object, properties: {picture: {type: string}}}}}}}}}
`
