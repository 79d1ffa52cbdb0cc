package crdschema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		first, second string
		want          crdschema.Difference
	}{
		"the same": {`a: {type: string}`, `a: {type: string}`, crdschema.Difference{}},
		"what does not matter": {
			`a: {type: object, properties: {b: {type: string, pattern: x, description: text}, c: {type: integer}}}`,
			`a: {type: object, required: [b], properties: {c: {type: integer, maximum: 3}, b: {type: string, enum: [x]}}}`,
			crdschema.Difference{},
		},
		"fields of one": {
			`{a: {type: object, properties: {b: {type: string}, "x/y": {type: object, properties: {z: {type: string}}}}}, d: {type: string}}`,
			`{a: {type: object, properties: {c: {type: string}}}, e: {type: string}}`,
			crdschema.Difference{First: []string{".a.b", `.a["x/y"]`, ".d"}, Second: []string{".a.c", ".e"}},
		},
		"below lists and maps": {
			`a: {type: array, items: {type: object, additionalProperties: {type: object, properties: {b: {type: string}}}}}`,
			`a: {type: array, items: {type: object, additionalProperties: {type: object, properties: {c-d: {type: string}}}}}`,
			crdschema.Difference{First: []string{".a[]{}.b"}, Second: []string{".a[]{}.c-d"}},
		},
		"other values": {
			`{a: {type: string}, b: {type: string}, c: {type: string, default: x}, d: {type: object}, e: {type: array, items: {type: string}}, f: {type: array, items: {type: string}}}`,
			`{a: {type: integer}, b: {type: string, nullable: true}, c: {type: string, default: z}, d: {type: object, x-kubernetes-preserve-unknown-fields: true}, e: {type: array, x-kubernetes-list-type: set, items: {type: string}}, f: {type: array, items: {type: integer}}}`,
			crdschema.Difference{Other: []string{".a", ".b", ".c", ".d", ".e", ".f[]"}},
		},
		"another kind": {
			`{a: {type: object, properties: {b: {type: string}}}, c: {type: object, properties: {d: {type: string}}}, e: {type: array, items: {type: string}}}`,
			`{a: {type: string}, c: {type: object, additionalProperties: {type: string}}, e: {type: object}}`,
			crdschema.Difference{Other: []string{".a", ".c", ".e"}},
		},
		"keys of a list": {
			`a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: {type: object, required: [b, c], properties: {b: {type: string}, c: {type: string}}}}`,
			`a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [c], items: {type: object, required: [b, c], properties: {b: {type: string}, c: {type: string}}}}`,
			crdschema.Difference{Other: []string{".a"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := crdschematest.Version(t, tt.first).Root, crdschematest.Version(t, tt.second).Root
			got := crdschema.Compare(first, second)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			back := crdschema.Compare(second, first)
			if diff := cmp.Diff(crdschema.Difference{First: tt.want.Second, Second: tt.want.First, Other: tt.want.Other}, back); diff != "" {
				t.Errorf("the other way round (-want +got):\n%s", diff)
			}
		})
	}
}
