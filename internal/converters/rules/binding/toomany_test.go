package binding_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// A large rule set that is applied in many places is refused, with one finding, before it takes all
// memory.
func TestRulesAreCountedAtEachPlace(t *testing.T) {
	t.Parallel()
	const places = 10
	var rules, beta, v1 strings.Builder
	for i := range places {
		fmt.Fprintf(&rules, "    - {spoke: .a%d, hub: .b%d, use: s}\n", i, i)
		fmt.Fprintf(&beta, "a%d: {type: object, properties: {x: {type: string}}}, ", i)
		fmt.Fprintf(&v1, "b%d: {type: object, properties: {z: {type: string}}}, ", i)
	}
	file, findings := syntax.Parse("rules.yaml", []byte(`apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: widgets.example.com}
spec:
  hub: v1
  ruleSets: {s: [{spoke: .x, hub: .z}]}
  versions:
  - name: v1beta1
    rules:
`+rules.String()))
	syntax.Link([]*syntax.File{file})
	if len(findings) > 0 {
		t.Fatal(findings)
	}
	schema := func(name, fields string) string {
		return "  - {name: " + name + ", served: true, storage: " + fmt.Sprint(name == "v1") +
			", schema: {openAPIV3Schema: {type: object, properties: {" + fields + "}}}}\n"
	}
	crds, err := apiserver.Parse("crd.yaml", []byte(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
`+schema("v1beta1", beta.String())+schema("v1", v1.String())))
	if err != nil {
		t.Fatal(err)
	}
	env, err := transform.NewEnv(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		most int
		want []string
	}{
		"as many as there may be": {2 * places, nil},
		"one more": {2*places - 1, []string{
			"rules.yaml:6:18: v1beta1 has more than 19 rules, those of rule sets counted at each place that they are applied to",
		}},
		"many more": {1, []string{
			"rules.yaml:10:7: v1beta1 has more than 1 rules, those of rule sets counted at each place that they are applied to",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := binding.Bind(t.Context(), file.Conversions, crds, binding.Options{Env: env, MaxRules: tt.most})
			got := make([]string, 0, len(set.Findings))
			for _, f := range set.Findings {
				got = append(got, f.String())
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			if set.Kinds[0].Refused != (tt.want != nil) {
				t.Errorf("refused: %v", set.Kinds[0].Refused)
			}
		})
	}
}
