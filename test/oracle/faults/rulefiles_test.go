package faults_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rulesPerKind are the rules of one of the CRDs of manyRules.
const rulesPerKind = 50

// manyRules writes so many rules, and the CRDs that they are about, and returns the folders.
func manyRules(t *testing.T, count int) (rules, crds string) {
	t.Helper()
	rules, crds = t.TempDir(), t.TempDir()
	for kind := range count / rulesPerKind {
		var here, there, list strings.Builder
		for i := range rulesPerKind {
			fmt.Fprintf(&here, "              old%d: {type: string}\n", i)
			fmt.Fprintf(&there, "              new%d: {type: string}\n", i)
			fmt.Fprintf(&list, "    - {spoke: .spec.old%d, hub: .spec.new%d}\n", i, i)
		}
		plural := fmt.Sprintf("things%d", kind)
		write(t, filepath.Join(rules, plural+".yaml"), conversionText(plural, list.String()))
		write(t, filepath.Join(crds, plural+".yaml"), crdText(plural, fmt.Sprintf("Thing%d", kind), here.String(), there.String()))
	}
	return rules, crds
}

// conversionText is a file of rules, which are a YAML list.
func conversionText(plural, rules string) string {
	return `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata:
  name: ` + plural + `.ruled.example.com
spec:
  hub: v1
  versions:
  - name: v1beta1
    rules:
` + rules
}

// crdText is a CRD whose two versions have these properties of spec.
func crdText(plural, kind, v1beta1, v1 string) string {
	version := func(name string, stored bool, properties string) string {
		return fmt.Sprintf(`  - name: %s
    served: true
    storage: %t
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
%s`, name, stored, properties)
	}
	return `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: ` + plural + `.ruled.example.com
spec:
  group: ruled.example.com
  scope: Namespaced
  names: {plural: ` + plural + `, singular: ` + strings.ToLower(kind) + `, kind: ` + kind + `, listKind: ` + kind + `List}
  versions:
` + version("v1beta1", false, v1beta1) + version("v1", true, v1)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
