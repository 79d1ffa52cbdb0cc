// Package crdschematest makes CRDs for tests.
package crdschematest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Roots returns the schemas of a CRD with the versions v1, v2 and so on, one for each text. A text
// has the properties of .spec: lines of YAML such as `name: {type: string}`. A text that is not a
// schema fails the test.
func Roots(tb testing.TB, specs ...string) []*crdschema.Node {
	tb.Helper()
	var crd strings.Builder
	crd.WriteString(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  names: {kind: Thing, plural: things}
  scope: Namespaced
  versions:
`)
	for i, properties := range specs {
		fmt.Fprintf(&crd, `  - name: v%d
    served: true
    storage: %v
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
`, i+1, i == 0)
		for line := range strings.Lines(properties) {
			crd.WriteString("              " + strings.TrimLeft(line, "\t"))
		}
		crd.WriteString("\n")
	}
	crds, err := apiserver.Parse("crd.yaml", []byte(crd.String()))
	if err != nil {
		tb.Fatal(err)
	}
	roots := make([]*crdschema.Node, len(specs))
	for i := range specs {
		roots[i] = crds[0].Versions[i].Root
	}
	return roots
}

// Kind returns the CRD of K.g with the versions v1, v2 and so on, one for each schema: what comes
// after `type: object`, in YAML's flow style. All are served, and that of a number is stored.
func Kind(tb testing.TB, stored int, schemas ...string) *crdschema.CRD {
	tb.Helper()
	var versions strings.Builder
	for i, schema := range schemas {
		fmt.Fprintf(&versions, "{name: v%d, served: true, storage: %v, schema: {openAPIV3Schema: {type: object, %s}}},", i+1, i+1 == stored, schema)
	}
	crds, err := apiserver.Parse("crd.yaml", []byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: ks.g},
		spec: {group: g, scope: Namespaced, names: {plural: ks, kind: K}, versions: [`+versions.String()+`]}}`))
	if err != nil {
		tb.Fatal(err)
	}
	return crds[0]
}

// CRD returns a CRD with one version, v1, whose schema is an object with these properties, indented
// by 2.
func CRD(properties string) string {
	const head = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
`
	return head + "          " + strings.ReplaceAll(strings.TrimSuffix(properties, "\n"), "\n", "\n          ") + "\n"
}

// Version returns the one version of CRD(properties).
func Version(tb testing.TB, properties string) *crdschema.Version {
	tb.Helper()
	crds, err := apiserver.Parse("f.yaml", []byte(CRD(properties)))
	if err != nil {
		tb.Fatal(err)
	}
	return crds[0].Versions[0]
}
