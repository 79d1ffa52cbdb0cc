package hold_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// engines is a CRD of kind whose versions have a field .spec.engine, with these properties in v1
// and v2.
func engines(t *testing.T, v1, v2 string) *crdschema.CRD {
	t.Helper()
	version := func(engine string) string {
		return `engine: ` + engine + `, list: {type: array, items: {type: object, properties: {engine: ` + engine + `}}}`
	}
	return twoVersions(t, version(v1), version(v2))
}

// The API server fills in the defaults of the version that a client writes before it converts the
// object, so a default that differs between the versions never meets an object without the field.
func TestSourceIsDefaultedFirst(t *testing.T) {
	t.Parallel()
	suite := hold.Suite{
		Kind: kind(func(*jsondoc.Object, string, string) error { return nil }), Stored: true, Walks: true,
		CRD: engines(t, `{type: string, enum: [v1, v2], default: v1}`, `{type: string, enum: [v1, v2], default: v2}`),
	}
	for _, object := range []string{
		`{"apiVersion":"g/v1","kind":"K","spec":{}}`,
		`{"apiVersion":"g/v2","kind":"K","spec":{}}`,
		`{"apiVersion":"g/v1","kind":"K","spec":{"engine":"v2","list":[{},{"engine":"v2"}]}}`,
	} {
		if err := suite.Check(t.Context(), slices.Values([][]byte{[]byte(object)})); err != nil {
			t.Error(err)
		}
	}
	if _, err := suite.Fuzz(t.Context(), 200); err != nil {
		t.Error(err)
	}
}

// The same defaults do not excuse a converter that loses the field.
func TestDefaultsHideNoLoss(t *testing.T) {
	t.Parallel()
	loses := kind(func(obj *jsondoc.Object, from, _ string) error {
		if from == "v1" {
			return obj.Remove("spec", "engine")
		}
		return nil
	})
	for name, crd := range map[string]*crdschema.CRD{
		"different defaults": engines(t, `{type: string, default: v1}`, `{type: string, default: v2}`),
		"one default":        engines(t, `{type: string, default: v1}`, `{type: string}`),
	} {
		suite := hold.Suite{Kind: loses, CRD: crd, Stored: true}
		err := suite.Check(t.Context(), slices.Values([][]byte{[]byte(`{"apiVersion":"g/v1","kind":"K","spec":{"engine":"v3"}}`)}))
		if v, ok := errors.AsType[*hold.ViolationError](err); !ok || v.Law != "L1 round trip" || v.Path != ".spec.engine" || v.Default != nil {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// A default of one version only fills in what the other leaves absent: the violation names it.
func TestDefaultOfOneVersionIsNamed(t *testing.T) {
	t.Parallel()
	suite := hold.Suite{
		Kind: kind(func(*jsondoc.Object, string, string) error { return nil }), Stored: true,
		CRD: engines(t, `{type: object, properties: {name: {type: string}}}`, `{type: object, properties: {name: {type: string, default: v2}}}`),
	}
	for path, spec := range map[string]string{
		".spec.engine.name":         `{"engine":{},"list":[{}]}`,
		".spec.list[0].engine.name": `{"list":[{"engine":{}}]}`,
	} {
		object := []byte(`{"apiVersion":"g/v1","kind":"K","spec":` + spec + `}`)
		err := suite.Check(t.Context(), slices.Values([][]byte{object}))
		v, ok := errors.AsType[*hold.ViolationError](err)
		if !ok || v.Path != path {
			t.Errorf("%s: error %v", path, err)
			continue
		}
		if diff := cmp.Diff(&hold.Default{Version: "v2", Path: path, Value: `"v2"`}, v.Default); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// What a rule drops may be the last annotation of an object, or its only metadata.
func TestDropsLeaveNoEmptyMetadata(t *testing.T) {
	t.Parallel()
	drops := kind(func(obj *jsondoc.Object, from, _ string) error {
		if from != "v1" || !has(obj, "metadata", "annotations", "a") {
			return nil
		}
		if err := obj.Remove("metadata", "annotations", "a"); err != nil {
			return err
		}
		if n, err := obj.Get("metadata", "annotations"); err != nil || string(n.Text()) != "{}" {
			return err
		}
		return obj.Remove("metadata")
	})
	suite := hold.Suite{Kind: drops, CRD: kinds(t, false), Drops: []hold.Drop{{From: "v1", Path: ".metadata.annotations.a"}}}
	const object = `{"apiVersion":"g/v1","kind":"K","metadata":{"annotations":{"a":"b"}},"spec":{}}`
	if err := suite.Check(t.Context(), slices.Values([][]byte{[]byte(object)})); err != nil {
		t.Error(err)
	}
}
