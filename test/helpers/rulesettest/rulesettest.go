// Package rulesettest has Conversions and CRDs for tests of packages that read them.
package rulesettest

import (
	"fmt"
	"strings"
)

// Conversion returns a Conversion. A field that is not in the CRD gives a finding.
func Conversion(kind, field string) string {
	return fmt.Sprintf(`apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: %ss.example.com}
spec:
  hub: v1
  versions:
  - {name: v1beta1, unmapped: Preserve, rules: [{spoke: .spec.%s, hub: .spec.size}]}
`, strings.ToLower(kind), field)
}

// SharingConversion returns a Conversion that says the same by the rule set shared/Spec of
// [RuleSets].
func SharingConversion(kind string) string {
	return strings.Replace(Conversion(kind, ""), "{spoke: .spec., hub: .spec.size}", "{spoke: .spec, hub: .spec, use: shared/Spec}", 1)
}

// RuleSets returns the RuleSets that rules of [SharingConversion] use.
func RuleSets(field string) string {
	return fmt.Sprintf(`apiVersion: conversion.webhookd.io/v1beta1
kind: RuleSets
metadata: {name: shared}
ruleSets:
  Spec:
  - {spoke: .%s, hub: .size}
`, field)
}

// CRD returns the CRD of a kind that Conversion converts.
func CRD(kind string) string {
	lower := strings.ToLower(kind)
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: %[1]ss, singular: %[1]s, kind: %[2]s, listKind: %[2]sList}
  versions:
  - name: v1beta1
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {width: {type: integer}}}}}}
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer}}}}}}
`, lower, kind)
}

// WithNewField adds a field to v1 of a CRD. The other version lacks it, and no rule names it.
func WithNewField(crd string) string {
	return strings.Replace(crd, "{size: {type: integer}", "{size: {type: integer}, colour: {type: string}", 1)
}
