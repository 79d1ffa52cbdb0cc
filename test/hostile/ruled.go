package hostile

const ruledGroup = "hostile.example.com"

// gauge returns a Gauge with one field.
func gauge(version, field, value string) string {
	return `{"apiVersion":"` + ruledGroup + "/" + version + `","kind":"Gauge",` + metadata + `,"spec":{"` + field + `":` + value + `}}`
}

// RuledCRD is the CRD of the kind that cases with Ruled are about.
const RuledCRD = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: gauges.hostile.example.com
spec:
  group: hostile.example.com
  scope: Namespaced
  names:
    plural: gauges
    singular: gauge
    kind: Gauge
    listKind: GaugeList
  versions:
  - name: v1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size:
                x-kubernetes-preserve-unknown-fields: true
  - name: v2
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              amount:
                x-kubernetes-preserve-unknown-fields: true
`

// RuledConversion says that size of v1 is amount of v2.
const RuledConversion = `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata:
  name: gauges.hostile.example.com
spec:
  hub: v2
  versions:
  - name: v1
    rules:
    - {spoke: .spec.size, hub: .spec.amount}
`
