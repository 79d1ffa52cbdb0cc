package controlplane_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// failuresOfRules are those of kinds that are converted by rules.
func failuresOfRules() []failure {
	const size = `{spoke: .size, hub: .length}`
	long := strings.Repeat("x", 270_000)
	return []failure{
		{
			name: "rules-with-findings", honest: true, crd: ruled("Sprocket"), stored: `{length: 1}`, other: `{size: 1}`,
			breaks: withRules("Sprocket", "Error", `{feild: .size, hub: .length}`), metric: []string{"webhookd_rules_findings"},
		},
		{
			name: "too-much-to-keep", honest: true, crd: ruled("Cog"),
			stored: `{note: ` + long + `}`, other: `{memo: ` + long + `}`,
			breaks: withRules("Cog", "Preserve", size),
			metric: []string{"webhookd_objects_total", "result", "failed", "kind", "Cog.example.com"},
		},
	}
}

// ruled is the CRD of a kind whose versions differ.
func ruled(name string) func(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	return func(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
		t.Helper()
		return scenario.ParseCRD(t, ruledCRD(name))
	}
}

func ruledCRD(name string) string {
	return strings.NewReplacer("widget", strings.ToLower(name), "Widget", name,
		"v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}",
		"v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {length: {type: integer}, note: {type: string}",
		"{size: {type: integer}", "{size: {type: integer}, memo: {type: string}",
	).Replace(widgets)
}

// withRules starts a webhookd that has these rules of a kind.
func withRules(name, unmapped, rules string) func(t *testing.T, s site) scenario.Target {
	return func(t *testing.T, s site) scenario.Target {
		t.Helper()
		dir := t.TempDir()
		for file, text := range map[string]string{
			"crd.yaml": ruledCRD(name),
			"rules.yaml": "{apiVersion: conversion.webhookd.io/v1beta1, kind: Conversion, metadata: {name: " + strings.ToLower(name) +
				"s.example.com}, spec: {hub: v1, versions: [{name: v1beta1, unmapped: " + unmapped + ", rules: [" + rules + "]}]}}",
		} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return webhookd("--rules", filepath.Join(dir, "rules.yaml"), "--crds", filepath.Join(dir, "crd.yaml"), "--wait-for-rules")(t, s)
	}
}
