package diagnosis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/laws/diagnosis"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

func load(t *testing.T) *ruleset.Set {
	t.Helper()
	set, err := ruleset.Compiled{}.Load(t.Context(), []ruleset.File{{Name: "rules.yaml", Text: []byte(rules)}}, []ruleset.File{{Name: "crd.yaml", Text: []byte(crd)}})
	if err != nil {
		t.Fatal(err)
	}
	return &set
}

func TestCauseAndRemedy(t *testing.T) {
	t.Parallel()
	set := load(t)
	const bug = "rules alone cannot break a law: report this output, the rules and the CRD as a bug of webhookd"
	ruled, none := diagnosis.Of(set.BoundKind(set.Kinds[0].GroupKind)), &diagnosis.Rules{}
	for _, test := range []struct {
		name        string
		cause       *diagnosis.Rules
		v           hold.ViolationError
		why, remedy string
	}{
		{
			name: "a rule", cause: ruled, v: hold.ViolationError{Law: "L1 round trip", From: "v1", To: "v1beta1", At: "v1", Path: ".spec.steps[0].picture"},
			why: "rules.yaml:9:7: rule 1, v1 .spec.steps[].picture is mapped to v1beta1 .spec.steps[].image", remedy: bug,
		},
		{
			name: "no rule", cause: ruled, v: hold.ViolationError{Law: "L1 round trip", From: "v1", To: "v1beta1", At: "v1", Path: ".spec"},
			why: "no rule, v1 .spec is copied to v1beta1", remedy: bug,
		},
		{
			name: "a place that nothing names", cause: ruled, v: hold.ViolationError{Law: "L6 nothing to prune", From: "v1", To: "v1beta1", At: "v1beta1", Path: ".other"},
			why: "no rule names the place", remedy: bug,
		},
		{
			name: "a default", cause: none, v: hold.ViolationError{
				Law: "L1 round trip", From: "v1", To: "v1beta1", At: "v1", Path: ".spec.a",
				Default: &hold.Default{Version: "v1beta1", Path: ".spec.b", Value: "3"},
			},
			why:    "v1beta1 .spec.b has the default 3, which the API server fills in when it stores the object there",
			remedy: "give v1beta1 and v1 the same default in the CRD",
		},
		{
			name: "a converter", cause: none, v: hold.ViolationError{Law: "L1 round trip", From: "v1", To: "v1beta1", At: "v1", Path: ".spec.a"},
			why: "the compiled-in converter", remedy: "wrap the converter in conversion.Lossless, which keeps what it loses",
		},
		{name: "an error of rules", cause: ruled, v: hold.ViolationError{Law: "L7 total", From: "v1", To: "v1beta1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			why, remedy := test.cause.Explain(&test.v)
			if diff := cmp.Diff([]string{test.why, test.remedy}, []string{why, remedy}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNotes(t *testing.T) {
	t.Parallel()
	set := load(t)
	many := make([]generate.Refusal, 7)
	for i := range many {
		many[i] = generate.Refusal{Path: ".spec", Reason: "duplicate value", Objects: uint64(7 - i)}
	}
	stats := hold.Stats{
		Shortfalls: []generate.Shortfall{
			{
				Version: "v1beta1", Asked: 200, Missed: 20, Different: 3,
				Causes: []generate.Refusal{{Path: ".spec.id", Reason: "should match '^a$'", Objects: 20}},
				Never:  []generate.Refusal{{Path: ".spec.l[].x", Reason: "validation rule: x is not y", Objects: 1}},
			},
			{Version: "v1", Asked: 5, Missed: 5, Never: []generate.Refusal{{Path: ".spec.id", Reason: "required value", Objects: 5}}},
		},
		Rejections: []hold.Rejection{
			{From: "v1beta1", To: "v1", Objects: 3, All: 4, Causes: []generate.Refusal{
				{Path: ".spec.steps[].picture", Reason: "required value", Objects: 2}, {Path: ".spec.steps", Reason: "should have at least 1 items", Objects: 1},
			}},
			{From: "v1", To: "v1beta1", Objects: 1, All: 4, Causes: many},
		},
	}
	want := `note: 20 of 200 objects of v1beta1 could not be made
  .spec.id: should match '^a$' (20 objects)
note: no object of v1beta1 has these fields, every value that was tried is invalid
  .spec.l[].x: validation rule: x is not y (1 object)
note: only 3 of the 180 objects of v1beta1 are different apart from their metadata, the schema allows few
note: 5 of 5 objects of v1 could not be made
note: 3 of 4 valid objects of v1beta1 are not valid in v1
  .spec.steps[].picture: required value (2 objects, rules.yaml:9:7: rule 1)
  .spec.steps: should have at least 1 items (1 object, rules.yaml:9:7: rule 1)
note: 1 of 4 valid objects of v1 are not valid in v1beta1
  .spec: duplicate value (7 objects, copied)
  .spec: duplicate value (6 objects, copied)
  .spec: duplicate value (5 objects, copied)
  .spec: duplicate value (4 objects, copied)
  .spec: duplicate value (3 objects, copied)
  and 2 more
`
	if diff := cmp.Diff(want, diagnosis.Of(set.BoundKind(set.Kinds[0].GroupKind)).Notes(&stats)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const rules = `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: widgets.example.com}
spec:
  hub: v1
  versions:
  - name: v1beta1
    rules:
    - {spoke: ".spec.steps[].image", hub: ".spec.steps[].picture"}
`

const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      steps: {type: array, items: {type: object, properties: {picture: {type: string}}}}}}}}}}
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {
      steps: {type: array, items: {type: object, properties: {image: {type: string}}}}}}}}}}
`
