package migrate

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// A manager loses the fields that the other version does not have.
func TestLostFields(t *testing.T) {
	t.Parallel()
	var schema apiextensionsv1.JSONSchemaProps
	if err := yaml.Unmarshal([]byte(`
properties:
  spec:
    properties:
      same: {type: string}
      ports: {type: array, items: {properties: {port: {}}}}
      tags: {additionalProperties: {type: string}}
      hosts: {additionalProperties: {properties: {a: {}}}}
      free: {x-kubernetes-preserve-unknown-fields: true, properties: {a: {properties: {b: {}}}}}
      any: {type: object, additionalProperties: true}
      template: {x-kubernetes-embedded-resource: true, properties: {spec: {}}}
      wasAList: {type: string}
`), &schema); err != nil {
		t.Fatal(err)
	}
	got := lost(&schema, &metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(`{
		"f:metadata":{"f:labels":{"f:a":{}}},"f:apiVersion":{},"f:status":{"f:x":{}},
		"f:spec":{
			"f:same":{},"f:old":{"f:a":{},"f:b":{}},"f:list":{"v:\"a\"":{}},
			"f:ports":{"k:{\"name\":\"x\"}":{".":{},"f:port":{},"f:gone":{}},"k:{\"name\":\"y\"}":{"f:gone":{}}},
			"f:tags":{"f:a":{}},"f:hosts":{"f:one":{"f:a":{},"f:gone":{}}},"f:free":{"f:x":{"f:y":{}},"f:a":{"f:gone":{}}},
			"f:any":{"f:x":{"f:y":{}}},"f:template":{"f:kind":{},"f:metadata":{"f:name":{}},"f:gone":{}},
			"f:wasAList":{"v:\"a\"":{}}}}`)})
	slices.Sort(got)
	want := []string{
		".spec.free.a.gone", ".spec.hosts.*.gone", ".spec.list", ".spec.old", ".spec.old", ".spec.ports[].gone", ".spec.ports[].gone",
		".spec.template.gone", ".spec.wasAList[]", ".status",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := lost(nil, &metav1.ManagedFieldsEntry{FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:x":{}}}`)}); got != nil {
		t.Errorf("without a schema: %v", got)
	}
}
