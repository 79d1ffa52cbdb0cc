package crdschema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// BenchmarkParse reads a CRD of 300 fields.
func BenchmarkParse(b *testing.B) {
	var properties strings.Builder
	for i := range 60 {
		fmt.Fprintf(&properties, `group%d:
  type: object
  description: What this group of fields is for, in a sentence of the usual length.
  properties:
    a: {type: string, description: What this field is for.}
    b: {type: integer, description: What this field is for.}
    c: {type: array, items: {type: string, description: What this field is for.}}
    d: {type: object, additionalProperties: {type: string, description: What this field is for.}}
`, i)
	}
	text := []byte(crdschematest.CRD(properties.String()))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := apiserver.Parse("f.yaml", text); err != nil {
			b.Fatal(err)
		}
	}
}
