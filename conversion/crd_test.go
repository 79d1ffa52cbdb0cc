package conversion_test

import (
	"fmt"
	"strings"
)

// crdOf returns the CRD of K.g with the versions v1 and v2, which is stored. A spec has the
// properties of .spec in YAML, each in a line.
func crdOf(v1, v2 string) []byte {
	var text strings.Builder
	text.WriteString(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ks.g}
spec:
  group: g
  scope: Namespaced
  names: {kind: K, plural: ks}
  versions:
`)
	for i, spec := range []string{v1, v2} {
		fmt.Fprintf(&text, `  - name: v%d
    served: true
    storage: %t
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            nullable: true
            properties:
`, i+1, i == 1)
		for line := range strings.Lines(strings.TrimSpace(spec)) {
			text.WriteString("              " + strings.TrimSpace(line) + "\n")
		}
	}
	return []byte(text.String())
}
