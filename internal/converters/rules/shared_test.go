package rules_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A mistake in shared rules keeps the kinds from being used whose rules lead to it, and no others.
// Rule sets without effect keep none.
func TestMistakesInSharedRules(t *testing.T) {
	t.Parallel()
	one := pair{beta: "spec: {a: {x: string}, c: string}", v1: "spec: {a: {y: string}, d: string}"}
	first, second := one, one
	first.rules = "- {spoke: .spec.a, hub: .spec.a, use: acme/Outer}\n- {spoke: .spec.c, hub: .spec.d}"
	second.rules = "- {spoke: .spec.a, hub: .spec.a, use: acme/Other}\n- {spoke: .spec.c, hub: .spec.d}"
	const shared = `apiVersion: conversion.webhookd.io/v1beta1
kind: RuleSets
metadata: {name: acme}
ruleSets:
  Outer: [{spoke: .x, hub: .y, use: acme/Inner}]
  Inner: [{spoke: .z, hub: .zz}]
  Other: [{spoke: .x, hub: .y}]
`
	good := strings.Replace(shared, "{spoke: .x, hub: .y, use: acme/Inner}", "{spoke: .x, hub: .y}", 1)
	used := strings.Replace(good, "  Inner: [{spoke: .z, hub: .zz}]\n", "", 1)
	in := func(old, now string) string { return strings.Replace(used, old, now, 1) }
	outer, other := "Outer: [{spoke: .x, hub: .y}]", "Other: [{spoke: .x, hub: .y}]"
	for name, tt := range map[string]struct {
		shared        string
		usable, sound string // kinds that can convert, and those without errors
		clean         bool
	}{
		"good":                              {used, "first second", "first second", true},
		"a rule set that is not used":       {good, "first second", "first second", false},
		"a rule set that leads to itself":   {used + "  C: [{spoke: .x, hub: .x, use: C}]\n", "first second", "first second", false},
		"a misspelt key in one":             {in(outer, "Outer: [{spok: .x, hub: .y}]"), "second", "second", false},
		"a misspelt key in the other":       {in(other, "Other: [{spok: .x, hub: .y}]"), "first", "first", false},
		"a rule set that is not there":      {in(outer, "Outer: [{spoke: .x, hub: .y, use: Gone}]"), "second", "second", false},
		"a field that is not there":         {in(outer, "Outer: [{spoke: .w, hub: .y}]"), "first second", "second", false},
		"a misspelt key in one behind them": {strings.Replace(in(outer, "Outer: [{spoke: .x, hub: .y, use: Last}]"), other, other+"\n  Last: [{spok: .a}]", 1), "second", "second", false},
		"a misspelt key of the document":    {strings.Replace(used, "metadata:", "metdata: {}\nmetadata:", 1), "", "", false},
		"two of one name":                   {used + "---\n" + used, "", "", false},
		"another name":                      {strings.Replace(used, "acme", "acne", 1), "", "", false},
		"none":                              {"", "", "", false},
		"not YAML":                          {used + "{", "", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := make([]rules.Source, 0, 3)
			sources = append(sources, rules.Source{Name: "shared.yaml", Text: []byte(tt.shared)})
			var crds []*crdschema.CRD
			for kind, p := range map[string]pair{"first": first, "second": second} {
				replace := func(text []byte) []byte {
					return []byte(strings.NewReplacer("things", kind+"s", `"Thing"`, `"`+kind+`"`).Replace(string(text)))
				}
				sources = append(sources, rules.Source{Name: kind, Text: replace(p.file())})
				parsed, err := apiserver.Parse(kind, replace(p.crd(t)))
				if err != nil {
					t.Fatal(err)
				}
				crds = append(crds, parsed...)
			}
			set, findings := rules.Load(t.Context(), sources, crds, rules.Options{})
			checked, wrong := check.Check(t.Context(), set.Bound())
			usable, sound := make([]string, 0, 2), make([]string, 0, 2)
			for _, kind := range set.Kinds() {
				usable = append(usable, kind.Kind)
				if !wrong[kind.Kind+"s.example.com"] {
					sound = append(sound, kind.Kind)
				}
			}
			if diff := cmp.Diff(tt.usable, strings.Join(usable, " ")); diff != "" {
				t.Errorf("can convert: %s%v", diff, findings)
			}
			if diff := cmp.Diff(tt.sound, strings.Join(sound, " ")); diff != "" {
				t.Errorf("without errors: %s%v%v", diff, findings, checked)
			}
			if clean := len(findings)+len(checked) == 0; clean != tt.clean {
				t.Errorf("findings: %v %v", findings, checked)
			}
		})
	}
}
