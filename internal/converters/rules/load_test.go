package rules_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
)

// A malformed document would convert without some of its rules, and every field that those are
// about would be missing in the other version.
func TestMalformedDocumentsAreNotServed(t *testing.T) {
	t.Parallel()
	p := pair{beta: "spec: {a: string}", v1: "spec: {b: string}", rules: "- {spoke: .spec.a, hub: .spec.b}"}
	crds, err := apiserver.Parse("crd.yaml", p.crd(t))
	if err != nil {
		t.Fatal(err)
	}
	good := string(p.file())
	for name, test := range map[string]struct {
		text  string
		kinds int
	}{
		"good":                        {good, 1},
		"a rule set that is not used": {strings.Replace(good, "  hub: v1\n", "  hub: v1\n  ruleSets: {s: [{spoke: .a, hub: .b}]}\n", 1), 1},
		"an anchor":                   {strings.Replace(good, "hub: v1\n", "hub: &v v1\n", 1), 1},
		"a misspelt key":              {strings.Replace(good, "rules:", "rulez:", 1), 0},
		"a key of a rule misspelt":    {strings.Replace(good, "hub: .spec.b", "hubb: .spec.b", 1), 0},
		"rules twice":                 {good + "    rules: []\n", 0},
		"a version twice":             {good + "  - name: v1beta1\n    rules: []\n", 0},
		"an unknown unmapped":         {strings.Replace(good, "unmapped: Preserve", "unmapped: Keep", 1), 0},
		"broken next to another":      {"apiVersion: conversion.webhookd.io/v1beta1\nkind: Conversion\nspecc: {}\n---\n" + good, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, findings := rules.Load(t.Context(), []rules.Source{{Name: "rules.yaml", Text: []byte(test.text)}}, crds, rules.Options{})
			if len(set.Kinds()) != test.kinds {
				t.Errorf("%d kinds, want %d: %v", len(set.Kinds()), test.kinds, findings)
			}
			if name != "good" && len(findings) == 0 {
				t.Error("no finding")
			}
		})
	}
}

// A rule may share places with two others that share none with each other: all three are one unit.
func TestRulesThatShareDifferentPlacesLoad(t *testing.T) {
	t.Parallel()
	p := pair{
		beta: "spec: {a: string, b: string}", v1: "spec: {x: string, y: string, z: string}",
		rules: `- {spoke: .spec.a, hub: .spec.x, codec: Base64, whenToSpoke: '!has(object.spec.z)'}
- {spoke: .spec.b, hub: .spec.y, codec: Base64, whenToSpoke: '!has(object.spec.z)'}
- {spoke: {a: .spec.a, b: .spec.b}, hub: .spec.z, template: "{a}:{b}", whenToSpoke: has(object.spec.z)}`,
	}
	crds, err := apiserver.Parse("crd.yaml", p.crd(t))
	if err != nil {
		t.Fatal(err)
	}
	set, findings := rules.Load(t.Context(), []rules.Source{{Name: "rules.yaml", Text: p.file()}}, crds, rules.Options{})
	checked, _ := check.Check(t.Context(), set.Bound())
	if findings = append(findings, checked...); len(findings) > 0 {
		t.Fatal(findings)
	}
}
