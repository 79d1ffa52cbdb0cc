// Package crdschematest makes CRDs for tests.
package crdschematest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/crdschema"
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
	crds, err := crdschema.Parse("crd.yaml", []byte(crd.String()))
	if err != nil {
		tb.Fatal(err)
	}
	roots := make([]*crdschema.Node, len(specs))
	for i := range specs {
		roots[i] = crds[0].Versions[i].Root
	}
	return roots
}
