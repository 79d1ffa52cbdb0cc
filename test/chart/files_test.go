package chart_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/chart"
)

// crdInCluster is a CRD as the API server returns it, with fields that check does not need.
func crdInCluster(t *testing.T) map[string]any {
	t.Helper()
	v := values(t, crdAndRules)
	text, _ := chart.Get(v, []string{"crds", "gadgets"})
	crd := values(t, text.(string))
	crd["status"] = map[string]any{"storedVersions": []any{"v1"}}
	metadata, _ := crd["metadata"].(map[string]any)
	metadata["managedFields"] = []any{map[string]any{"manager": "kubectl"}}
	return crd
}

// If only rules are set, the schema of the CRD comes from the cluster.
func TestCRDsAreLookedUp(t *testing.T) {
	t.Parallel()
	v := values(t, crdAndRules)
	delete(v, "crds")
	r := render(t, v, chart.NewCluster(crdInCluster(t)))
	crd := values(t, at(t, object(t, r, "ConfigMap", "webhookd-crds"), "data", "cluster.gadgets.example.org.yaml"))
	if crd["kind"] != "CustomResourceDefinition" || at(t, crd, "spec", "group") != "example.org" {
		t.Errorf("CRD: %v", crd)
	}
	for _, path := range [][]string{{"status"}, {"metadata", "managedFields"}} {
		if _, found := chart.Get(crd, path); found {
			t.Errorf("it has %s", strings.Join(path, "."))
		}
	}
	if notes := strings.Join(strings.Fields(r["NOTES.txt"]), " "); !strings.Contains(notes, "The schemas of gadgets.example.org were read from the cluster") {
		t.Errorf("notes:\n%s", r["NOTES.txt"])
	}
	if _, found := chart.Get(object(t, r, "ConfigMap", "webhookd-test"), []string{"data", "gadgets.example.org.up.json"}); !found {
		t.Error("helm test has no review for it")
	}
}

// CRDs in the values win over those of the cluster, which are not needed then.
func TestGivenCRDsAreNotLookedUp(t *testing.T) {
	t.Parallel()
	with := render(t, values(t, crdAndRules), chart.NewCluster(crdInCluster(t)))
	without := render(t, values(t, crdAndRules), nil)
	if with["server/rules.yaml"] != without["server/rules.yaml"] {
		t.Error("the cluster makes a difference")
	}
	v := values(t, crdAndRules+"crdsFrom: [{name: a}]\n")
	delete(v, "crds")
	if r := render(t, v, chart.NewCluster(crdInCluster(t))); strings.Contains(r.String(), "cluster.gadgets") {
		t.Error("crdsFrom is set, and the cluster asked")
	}
}

// Shared rules are files of rules like others. No CRD is looked up for them, and without a
// Conversion they are not enough.
func TestSharedRulesAreRules(t *testing.T) {
	t.Parallel()
	const shared = "apiVersion: conversion.webhookd.io/v1beta1\nkind: RuleSets\nmetadata: {name: acme}\nruleSets: {Ref: [{spoke: .a, hub: .b}]}\n"
	v := values(t, crdAndRules)
	rules, _ := v["rules"].(map[string]any)
	rules["shared"] = shared
	r := render(t, v, chart.NewCluster())
	if got := at(t, object(t, r, "ConfigMap", "webhookd-rules"), "data", "shared.yaml"); got != shared {
		t.Errorf("shared.yaml: %q", got)
	}
	if strings.Contains(r["NOTES.txt"], "acme") {
		t.Errorf("notes:\n%s", r["NOTES.txt"])
	}
	v["rules"] = map[string]any{"shared": shared}
	if _, err := chart.Render(v, nil); err == nil || !strings.Contains(err.Error(), "no Conversion") {
		t.Errorf("rules without a Conversion: %v", err)
	}
}

// Files reach the ConfigMaps unchanged; a file with rules and CRDs is split.
func TestFilesAreVerbatim(t *testing.T) {
	t.Parallel()
	texts := map[string]string{
		"plain":    "# a\n\nkind: Conversion\nmetadata: {name: gadgets.example.org}\n",
		"two":      "---\nkind: Conversion # {{ no template }}\n---\nkind: Conversion\n",
		"indented": "  kind: Conversion\n",
		"crlf":     "kind: Conversion\r\nx: 1\r\n",
		"spaces":   "kind: Conversion   \nx: |\n  a  \n\n\n",
		"no-end":   "kind: Conversion",
		"json.json": `{"kind": "Conversion", "n": 9007199254740993}
`,
	}
	v := map[string]any{"rules": map[string]any{}, "crdsFrom": []any{map[string]any{"name": "a"}}}
	for name, text := range texts {
		v["rules"].(map[string]any)[name] = text
	}
	data, _ := chart.Get(object(t, render(t, v, nil), "ConfigMap", "webhookd-rules"), []string{"data"})
	got, _ := data.(map[string]any)
	for name, text := range texts {
		if !strings.HasSuffix(name, ".json") {
			name += ".yaml"
		}
		if got[name] != text {
			t.Errorf("%s: %q, want %q", name, got[name], text)
		}
	}
	both := "# of a\nkind: Conversion\n---\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n--- # more\nkind: Conversion\n"
	r := render(t, map[string]any{"rules": map[string]any{"both": both}, "crdsFrom": v["crdsFrom"]}, nil)
	if got, want := at(t, object(t, r, "ConfigMap", "webhookd-rules"), "data", "both.yaml"), "# of a\nkind: Conversion\n---\nkind: Conversion\n"; got != want {
		t.Errorf("rules: %q, want %q", got, want)
	}
	if got, want := at(t, object(t, r, "ConfigMap", "webhookd-crds"), "data", "rules.both.yaml"), "kind: CustomResourceDefinition\nmetadata: {name: a.b}\n"; got != want {
		t.Errorf("CRDs: %q, want %q", got, want)
	}
}
