package converters_test

import (
	"context"
	"errors"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// An error names only fields in the schema of some version, and no map keys.
func TestErrorsNameNoKeysOfMaps(t *testing.T) {
	t.Parallel()
	schemas := crdschematest.Roots(t, `
Map: {type: object, additionalProperties: {type: object, properties: {Size: {type: integer}}}}
List: {type: array, items: {type: object, properties: {Name: {type: string}}}}`, `
a.b/c: {type: integer}
Rows: {type: array, items: {type: array, items: {type: object, properties: {Cells: {type: object, additionalProperties: {type: object, additionalProperties: {type: integer}}}}}}}`)
	for path, want := range map[string]string{
		".":                                 ".",
		".spec":                             ".spec",
		".spec.Map":                         ".spec.Map",
		".spec.Map.mine":                    ".spec.Map{}",
		".spec.Map.mine.Size":               ".spec.Map{}.Size",
		`.spec.Map["my]mine\"."].Size`:      ".spec.Map{}.Size",
		".spec.Map.mine.other.more":         ".spec.Map{}{}{}",
		".spec.List[3].Name":                ".spec.List[3].Name",
		`.spec["a.b/c"]`:                    `.spec["a.b/c"]`,
		".spec.Rows[0][12].Cells.mine.mine": ".spec.Rows[0][12].Cells{}{}",
		".spec.Map{}.Size":                  ".spec.Map{}.Size",
		".metadata.labels":                  ".metadata.labels",
		".metadata.labels.mine":             ".metadata.labels{}",
		".apiVersion":                       ".apiVersion",
		".mine":                             "{}",
	} {
		for _, fail := range []func(error) error{
			func(err error) error { return err },
			func(err error) error { return errors.Join(err, nil) },
		} {
			kind := converters.Kind{
				Hub: "v1", Versions: []string{"v1beta1", "v1"}, Schemas: map[string]*crdschema.Node{"v1beta1": schemas[0], "v1": schemas[1]},
				Converter: converters.Func(func(context.Context, *jsondoc.Object, string, string) error {
					return fail(&jsondoc.PathError{Problem: "wrong", Path: path})
				}),
			}
			if err := kind.Convert(t.Context(), nil, "v1beta1", "v1"); err == nil || err.Error() != "wrong: "+want {
				t.Errorf("%s: %v, want %s", path, err, want)
			}
		}
	}
}
