package conversion_test

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/conversion"
)

// An empty list makes an object in v2 that makes nothing in v1. If both the list and the absence of
// that object are kept, they contradict each other. Both return in an object that has not been
// edited.
func TestContradictingKeptValuesReturnUnlessEdited(t *testing.T) {
	t.Parallel()
	crd := crdOf(`
		old: {type: array, items: {type: string}}
		now: {type: string}`, `
		deprecated: {type: object, properties: {old: {type: array, items: {type: string}}}}
		now: {type: string}`)
	kind, err := conversion.Lossless(conversion.FromUnstructured(func(_ context.Context, u *unstructured.Unstructured, from, _ string) error {
		spec, _ := u.Object["spec"].(map[string]any)
		if spec == nil {
			return nil
		}
		if from == "v1" {
			if old, found := spec["old"].([]any); found {
				inner := map[string]any{}
				if len(old) > 0 {
					inner["old"] = old
				}
				spec["deprecated"] = inner
			}
			delete(spec, "old")
			return nil
		}
		if inner, _ := spec["deprecated"].(map[string]any); inner != nil {
			if old, _ := inner["old"].([]any); len(old) > 0 {
				spec["old"] = old
			}
		}
		delete(spec, "deprecated")
		return nil
	}), crd)
	if err != nil {
		t.Fatal(err)
	}
	internal := conversion.Internal(kind)
	withKept := `{"metadata":{"annotations":{"conversion.webhookd.io/v2.spec.deprecated":"{\"absent\":true,\"inputs\":\"exdcl19z6qgr\"}"}},` +
		`"spec":{"old":[],"now":"x"}}`
	there := convert(t, internal, withKept, "v1", "v2")
	if seen, kept := withoutKept(t, there); !sameObject(t, seen, `{"spec":{"now":"x"}}`) || len(kept) != 1 {
		t.Fatal(there)
	}
	back := convert(t, internal, there, "v2", "v1")
	if seen, _ := withoutKept(t, back); !sameObject(t, seen, `{"spec":{"old":[],"now":"x"}}`) {
		t.Errorf("unedited: %s", back)
	}
}

// The way back fills in a namespace. A kept one goes once a user has removed its object.
func TestKeptFieldGoesWithItsObject(t *testing.T) {
	t.Parallel()
	kind := lossless(t, crdOf(`
		ref: {type: object, properties: {name: {type: string}, namespace: {type: string}}}
		other: {type: string}`, `
		refName: {type: string}
		other: {type: string}`), func(spec map[string]any, from string) error {
		if from == "v1" {
			if ref, is := spec["ref"].(map[string]any); is && ref["name"] != nil {
				spec["refName"] = ref["name"]
			}
			delete(spec, "ref")
		} else if name, found := spec["refName"]; found {
			spec["ref"] = map[string]any{"name": name, "namespace": "default"}
			delete(spec, "refName")
		}
		return nil
	})
	there := convert(t, kind, `{"spec":{"ref":{"name":"a","namespace":""}}}`, "v1", "v2")
	edited := strings.Replace(there, `"refName":"a"`, `"other":"b"`, 1)
	if edited == there {
		t.Fatal(there)
	}
	if back := convert(t, kind, edited, "v2", "v1"); !sameObject(t, back, `{"spec":{"other":"b"}}`) {
		t.Error(back)
	}
}
