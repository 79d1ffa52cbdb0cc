package chart_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/chart"
)

// Each ci file renders as in its golden file, including the notes.
func TestRendering(t *testing.T) {
	t.Parallel()
	ci := ciFiles(t)
	want := make([]string, 0, len(ci))
	for name, v := range ci {
		want = append(want, name+".txt")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, filepath.Join("testdata", "golden", name+".txt"), steady(render(t, v, nil).String()))
		})
	}
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !slices.Contains(want, filepath.Base(file)) {
			t.Errorf("a golden file without a ci file: %s", file)
		}
	}
}

// steady replaces what differs between renderings: keys, certificates, and the time of their
// renewal. It leaves out the dashboard, which is a copy of its file, and the policies of kept
// values, which are those of the command.
func steady(text string) string {
	text = regexp.MustCompile(`LS0tLS1CRUdJTi[A-Za-z0-9+/=]+`).ReplaceAllString(text, "(PEM)")
	text = regexp.MustCompile(`((?:renew|not)-after: )"\d+"`).ReplaceAllString(text, `${1}"(time)"`)
	for start, what := range map[string]string{"  webhookd.json: |\n": "  webhookd.json: (the dashboard)\n", "=== kept-values/policies.yaml\n": "=== kept-values/policies.yaml\n"} {
		if before, after, found := strings.Cut(text, start); found {
			_, rest, _ := strings.Cut(after, "\n=== ")
			text = before + what + "\n=== " + rest
		}
	}
	return text
}

// Pods restart neither for the same values nor for other rules.
func TestPodsRestartForTheConfigurationOnly(t *testing.T) {
	t.Parallel()
	deployment := func(v map[string]any) string {
		return render(t, v, chart.NewCluster())["server/deployment.yaml"]
	}
	with := func(text string) map[string]any { return values(t, crdAndRules+text) }
	base := deployment(with(""))
	same := []map[string]any{
		with(""),
		values(t, strings.ReplaceAll(crdAndRules, ".spec.count", ".spec.number")),
		with("crdWiring: {mode: job}\n"),
		with("config: {log-level: debug}\n"),
		with("config: {log-reviews: all}\n"),
	}
	for i, v := range same {
		if got := deployment(v); got != base {
			t.Errorf("values %d change the Deployment:\n%s", i, got)
		}
	}
	if deployment(with("config: {drain-delay: 20s}\n")) == base {
		t.Error("another configuration leaves the pods as they are")
	}
}

// crdAndRules are values that convert a kind.
const crdAndRules = `
rules:
  gadgets: |
    apiVersion: conversion.webhookd.io/v1beta1
    kind: Conversion
    metadata: {name: gadgets.example.org}
    spec: {hub: v1, versions: [{name: v1alpha1, rules: [{spoke: .spec.count, hub: .spec.replicas}]}]}
crds:
  gadgets: |
    apiVersion: apiextensions.k8s.io/v1
    kind: CustomResourceDefinition
    metadata: {name: gadgets.example.org}
    spec:
      group: example.org
      scope: Namespaced
      names: {kind: Gadget, listKind: GadgetList, plural: gadgets, singular: gadget}
      versions:
      - {name: v1alpha1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
      - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
`

// The example's values start its own program, from its image.
func TestValuesOfTheCustomServer(t *testing.T) {
	t.Parallel()
	v, err := chart.ReadValues("../../examples/custom-server/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	deployment := render(t, v, chart.NewCluster())["server/deployment.yaml"]
	if !strings.Contains(deployment, `image: "registry.example.com/webhooks:v1"`) {
		t.Errorf("another image:\n%s", deployment)
	}
	if strings.Contains(deployment, "command:") {
		t.Errorf("the program is not the image's:\n%s", deployment)
	}
}
