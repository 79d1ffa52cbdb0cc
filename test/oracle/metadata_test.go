package oracle_test

import (
	"context"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
)

// full is an object with all that metadata may hold, and more.
func full(t *testing.T, kind string) *unstructured.Unstructured {
	t.Helper()
	return object(t, `{"apiVersion":"`+group+`/v1","kind":"`+kind+`","metadata":{
		"name":"a","namespace":"default","uid":"3f1e7a52-0d6c-4c54-9d0a-5d1f6f3a8d11","generateName":"a-",
		"resourceVersion":"42","generation":9007199254740993,"creationTimestamp":"2026-01-02T03:04:05Z",
		"deletionTimestamp":"2026-02-03T04:05:06Z","deletionGracePeriodSeconds":0,"selfLink":"",
		"labels":{"app":"cron"},"annotations":{"note":"kept","example.com/json":"{\"a\":1}"},
		"finalizers":["example.com/guard"],
		"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"o","uid":"u","controller":true}],
		"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"`+group+`/v1","time":"2026-01-02T03:04:05Z",
			"fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}],
		"unknown":{"deep":[1,2]}},"spec":{"replicas":3}}`)
}

// TestLabelsAndAnnotations holds that these two reach the caller as the converter leaves them, and
// that all other metadata is as it was.
func TestLabelsAndAnnotations(t *testing.T) {
	t.Parallel()
	type strs = map[string]any
	keptLabels, keptAnnotations := strs{"app": "cron"}, strs{"note": "kept", "example.com/json": `{"a":1}`}
	for _, tt := range []struct {
		name                string
		convert             converters.Func
		labels, annotations any // nil: none
	}{
		{"untouched", func(context.Context, *jsondoc.Object, string, string) error { return nil }, keptLabels, keptAnnotations},
		{"added", func(_ context.Context, obj *jsondoc.Object, from, to string) error {
			if err := obj.Set(jsondoc.StringValue(from), "metadata", "labels", "from"); err != nil {
				return err
			}
			return obj.Set(jsondoc.StringValue(to), "metadata", "annotations", "example.com/to")
		}, strs{"app": "cron", "from": "v1"}, strs{"note": "kept", "example.com/json": `{"a":1}`, "example.com/to": "v2"}},
		{"changed", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			return obj.Set(jsondoc.StringValue("other"), "metadata", "labels", "app")
		}, strs{"app": "other"}, keptAnnotations},
		{"one removed", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			return obj.Remove("metadata", "annotations", "note")
		}, keptLabels, strs{"example.com/json": `{"a":1}`}},
		{"all removed", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			if err := obj.Remove("metadata", "labels"); err != nil {
				return err
			}
			return obj.Remove("metadata", "annotations")
		}, nil, nil},
		{"null and empty", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			if err := set(obj, `null`, "metadata", "labels"); err != nil {
				return err
			}
			return set(obj, `{}`, "metadata", "annotations")
		}, nil, strs{}},
		{"a typed struct's noise", func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			if err := obj.Set(jsondoc.StringValue("more"), "metadata", "labels", "more"); err != nil {
				return err
			}
			return set(obj, `null`, "metadata", "clusterName")
		}, strs{"app": "cron", "more": "more"}, keptAnnotations},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) {
				s.kinds = []converters.Kind{newKind("Marked", tt.convert)}
			})
			for name, hook := range map[string]apiclient.Hook{"service v1": w.byService("v1"), "URL v1beta1": w.byURL("v1beta1")} {
				got, err := w.client().Converter(t, madeUp("Marked"), madeUpVersions(), hook).To(full(t, "Marked"), "v2")
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				want := full(t, "Marked").Object
				want["apiVersion"] = group + "/v2"
				meta := want["metadata"].(map[string]any)
				for name, value := range map[string]any{"labels": tt.labels, "annotations": tt.annotations} {
					if meta[name] = value; value == nil {
						delete(meta, name)
					}
				}
				if diff := cmp.Diff(want, content(t, got)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", name, diff)
				}
			}
		})
	}
}

// TestOtherMetadata holds that a converter which changes anything else fails with our message,
// which names the path, and not with that of the API server, or worse without one (invariant I4).
func TestOtherMetadata(t *testing.T) {
	t.Parallel()
	changes := map[string]string{
		"name": `"b"`, "namespace": `"other"`, "uid": `"x"`, "generateName": `"b-"`, "resourceVersion": `"43"`,
		"generation": `9007199254740992`, "creationTimestamp": `"2020-01-02T03:04:05Z"`, "deletionTimestamp": `null`,
		"finalizers": `[]`, "ownerReferences": `[]`, "managedFields": `[]`, "unknown": `{"deep":[2,1]}`, "garbage": `"new"`,
	}
	kinds := make([]converters.Kind, 0, len(changes))
	for name, value := range changes {
		kinds = append(kinds, newKind(kindFor(name), func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
			return set(obj, value, "metadata", name)
		}))
	}
	w := serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) { s.kinds = kinds })
	for name := range changes {
		kind := kindFor(name)
		_, err := w.client().Converter(t, madeUp(kind), madeUpVersions(), w.byService("v1")).To(full(t, kind), "v2")
		want := "conversion webhook for " + group + "/v1, Kind=" + kind + " failed: objects[0] " + kind + " default/a v1 -> v2: " +
			guardMessage + ": .metadata." + name
		if err == nil || err.Error() != want {
			t.Errorf("change of %s:\n%v, want\n%s", name, err, want)
		}
	}
}

// guardMessage is what a user reads of a converter that oversteps.
const guardMessage = "converter changed fields it must not change, let it edit only labels and annotations in metadata"

func kindFor(field string) string { return "Meddles" + strings.ToUpper(field[:1]) + field[1:] }
