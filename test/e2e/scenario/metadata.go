package scenario

import (
	"context"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// guardMessage is what a user reads of a converter that oversteps.
const guardMessage = "converter changed fields it must not change, let it edit only labels and annotations in metadata"

// Metadata has converters change metadata: what they do to labels and annotations is kept, anything
// else is refused, with a message of webhookd's.
func Metadata(t *testing.T, e *Env) {
	t.Helper()
	w := e.InProcess(t, madeUp("Labelled", label), madeUp("Meddled", meddle))
	w.AllowLog("review failed")
	const spec = `{text: {type: string}}`
	labelled := e.subject(t, madeUpCRD(t, "Labelled", spec, spec, spec), w)
	meddled := e.subject(t, madeUpCRD(t, "Meddled", spec, spec, spec), w)
	labelled.run("labels and annotations of a converter are kept", labelsKept)
	meddled.run("other metadata of a converter is refused", metadataRefused)
}

const (
	keyTo, keyFrom, keyPassing = "madeup.example.com/to", "madeup.example.com/from", "madeup.example.com/passing"
	// keyMeddle names the metadata that meddle is to change.
	keyMeddle = "madeup.example.com/meddle"
)

// label leaves a label and an annotation on what it converts, and takes a label away.
func label(_ context.Context, obj *jsondoc.Object, from, to string) error {
	return errors.Join(
		obj.Set(jsondoc.StringValue(to), "metadata", "labels", keyTo),
		obj.Set(jsondoc.StringValue(from), "metadata", "annotations", keyFrom),
		obj.Remove("metadata", "labels", keyPassing),
	)
}

func labelsKept(s subject) {
	obj := s.object("v1", "a", `"spec":{"text":"a"}`)
	obj.SetLabels(map[string]string{keyPassing: "true", "app": "a"})
	obj.SetAnnotations(map[string]string{"note": "a"})
	if _, err := s.At("v1").Create(s.t.Context(), obj, metav1.CreateOptions{}); err != nil {
		s.t.Fatalf("create: %v", err)
	}
	s.labels(s.Stored(s.t, "a"), "v1", "v1beta1")
	s.labels(s.read("v1beta1", "a"), "v1", "v1beta1")
	s.labels(s.read("v1alpha1", "a"), "v1beta1", "v1alpha1")
	obj = s.read("v1alpha1", "a")
	obj.Object["spec"] = map[string]any{"text": "b"}
	s.update("v1alpha1", obj)
	s.labels(s.Stored(s.t, "a"), "v1alpha1", "v1beta1")
}

func (s subject) labels(obj metav1.Object, from, to string) {
	s.t.Helper()
	got := []map[string]string{obj.GetLabels(), obj.GetAnnotations()}
	want := []map[string]string{{"app": "a", keyTo: to}, {"note": "a", keyFrom: from}}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("labels and annotations of a conversion from %s to %s (-want +got):\n%s", from, to, diff)
	}
}

// meddling returns what meddle can set, by the name of the metadata.
func meddling() map[string]string {
	return map[string]string{
		"name": `"b"`, "namespace": `"other"`, "uid": `"x"`, "generateName": `"b-"`, "resourceVersion": `"43"`,
		"generation": `42`, "creationTimestamp": `"2020-01-02T03:04:05Z"`, "deletionTimestamp": `"2020-01-02T03:04:05Z"`,
		"finalizers":      `["madeup.example.com/a"]`,
		"ownerReferences": `[{"apiVersion":"v1","kind":"Pod","name":"o","uid":"u"}]`,
		"managedFields":   `[{"manager":"m"}]`, "garbage": `"new"`,
	}
}

// meddle changes the metadata that an annotation of the object names.
func meddle(_ context.Context, obj *jsondoc.Object, _, _ string) error {
	n, err := obj.Get("metadata", "annotations", keyMeddle)
	if err != nil {
		return err
	}
	if name, ok := n.Str(); ok {
		return setJSON(obj, meddling()[name], "metadata", name)
	}
	return nil
}

func metadataRefused(s subject) {
	s.create("v1", "a", `"spec":{"text":"a"}`)
	before := s.storedText("a")
	for _, name := range slices.Sorted(maps.Keys(meddling())) {
		want := "conversion webhook for madeup.example.com/v1, Kind=Meddled failed: " +
			"objects[0] Meddled default/a v1 -> v1beta1: " + guardMessage + ": .metadata." + name
		obj := s.read("v1", "a")
		obj.SetAnnotations(map[string]string{keyMeddle: name})
		_, err := s.At("v1").Update(s.t.Context(), obj, metav1.UpdateOptions{})
		failsWith(s.t, "update", err, want)
		if diff := cmp.Diff(string(before), string(s.storedText("a"))); diff != "" {
			s.t.Errorf("a refused conversion changed what is stored (-before +after):\n%s", diff)
		}
		path := ".metadata." + name
		if name == "garbage" {
			path = "other"
		}
		if s.w.Metrics(s.t).Sum("webhookd_guard_rejections_total", "kind", "Meddled.madeup.example.com", "path", path) == 0 {
			s.t.Errorf("webhookd's metrics know of no converter that changed %s", path)
		}
	}
}
