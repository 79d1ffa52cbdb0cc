package scenario

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// FailureMessages has a converter fail, and its message reach the user of each call, letter for
// letter.
func FailureMessages(t *testing.T, e *Env) {
	t.Helper()
	w := e.InProcess(t, madeUp("Fragile", refuse))
	w.AllowLog("review failed")
	const spec = `{refuses: {type: string}, text: {type: string}}`
	s := e.subject(t, madeUpCRD(t, "Fragile", spec, spec, spec), w)
	s.create("v1", "other", `"spec":{"text":"a"}`)
	s.run("of what comes in", refusedOnTheWayIn)
	s.run("of what is stored", func(s subject) { refusedOnTheWayOut(s, e) })
	if failed := w.Metrics(t).Sum("webhookd_objects_total", "kind", "Fragile."+madeUpGroup, "result", "failed"); failed == 0 {
		t.Error("webhookd's metrics know of no failed conversion")
	}
}

const refusal = `has "no place" in the version <b> & says so: .spec.refuses`

// refuse refuses objects that say that they refuse the version that they are to be converted to.
func refuse(_ context.Context, obj *jsondoc.Object, _, to string) error {
	n, err := obj.Get("spec", "refuses")
	if err != nil {
		return err
	}
	if version, _ := n.Str(); version == to {
		return &jsondoc.PathError{Problem: `has "no place" in the version <b> & says so`, Path: ".spec.refuses"}
	}
	return nil
}

func refusedOnTheWayIn(s subject) {
	ctx, v1 := s.t.Context(), s.At("v1")
	why := func(name string) string {
		return "conversion webhook for madeup.example.com/v1, Kind=Fragile failed: " +
			"objects[0] Fragile default/" + name + " v1 -> v1beta1: " + refusal
	}
	_, err := v1.Create(ctx, s.object("v1", "a", `"spec":{"refuses":"v1beta1"}`), metav1.CreateOptions{})
	failsWith(s.t, "create", err, why("a"))
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	_, err = v1.Create(ctx, s.object("v1", "a", `"spec":{"refuses":"v1beta1"}`), dry)
	failsWith(s.t, "create, dry run", err, why("a"))
	obj := s.read("v1", "other")
	obj.Object["spec"] = map[string]any{"refuses": "v1beta1"}
	_, err = v1.Update(ctx, obj, metav1.UpdateOptions{})
	failsWith(s.t, "update", err, why("other"))
	patch := []byte(`{"spec":{"refuses":"v1beta1"}}`)
	_, err = v1.Patch(ctx, "other", types.MergePatchType, patch, metav1.PatchOptions{})
	failsWith(s.t, "patch", err, why("other"))
	apply := metav1.ApplyOptions{FieldManager: "alice"}
	_, err = v1.Apply(ctx, "other", s.object("v1", "other", `"spec":{"refuses":"v1beta1"}`), apply)
	failsWith(s.t, "apply", err, why("other"))
	_, err = v1.Apply(ctx, "a", s.object("v1", "a", `"spec":{"refuses":"v1beta1"}`), apply)
	failsWith(s.t, "apply of a new object", err, why("a"))
	if s.Stored(s.t, "a") != nil {
		s.t.Error("what could not be converted is stored")
	}
	s.storedAs("v1beta1", "other", `"spec":{"text":"a"}`)
}

// refusedOnTheWayOut works with an object that is stored and cannot be converted to v1, next to one
// that can.
func refusedOnTheWayOut(s subject, e *Env) {
	ctx, v1 := s.t.Context(), s.At("v1")
	s.create("v1beta1", "a", `"spec":{"refuses":"v1"}`)
	const why = "conversion webhook for madeup.example.com/v1beta1, Kind=Fragile failed: " +
		"objects[0] Fragile default/a v1beta1 -> v1: " + refusal

	_, err := v1.Get(ctx, "a", metav1.GetOptions{})
	failsWith(s.t, "get", err, why)
	_, err = v1.Update(ctx, s.object("v1", "a", `"spec":{}`), metav1.UpdateOptions{})
	failsWith(s.t, "update", err, why)
	_, err = v1.Patch(ctx, "a", types.MergePatchType, []byte(`{"spec":{"refuses":null}}`), metav1.PatchOptions{})
	failsWith(s.t, "merge patch", err, why)
	remove := []byte(`[{"op":"remove","path":"/spec/refuses"}]`)
	_, err = v1.Patch(ctx, "a", types.JSONPatchType, remove, metav1.PatchOptions{})
	failsWith(s.t, "JSON patch", err, why)
	_, err = v1.Apply(ctx, "a", s.object("v1", "a", `"spec":{"text":"a"}`), metav1.ApplyOptions{FieldManager: "alice"})
	failsWith(s.t, "apply", err, why)
	_, err = v1.Get(ctx, "a", metav1.GetOptions{}, "status")
	failsWith(s.t, "get status", err, why)
	_, err = v1.Patch(ctx, "a", types.MergePatchType, []byte(`{"status":{"ready":true}}`), metav1.PatchOptions{}, "status")
	failsWith(s.t, "patch status", err, why)
	failsWith(s.t, "delete", v1.Delete(ctx, "a", metav1.DeleteOptions{}), why)
	// A watch cache may have an answer from before for a moment.
	Eventually(s.t, "a list to fail", func() bool {
		_, err = v1.List(ctx, metav1.ListOptions{})
		return err != nil
	})
	failsWith(s.t, "list", err, why)
	s.storedAs("v1beta1", "a", `"spec":{"refuses":"v1"}`)
	s.wants("v1", "other", `"spec":{"text":"a"}`)
	args := []string{"migrate", s.Name, "--to", "v1", "--dry-run", "--kubeconfig", Kubeconfig(s.t, e)}
	out, err := exec.CommandContext(ctx, webhook.Build(s.t), args...).CombinedOutput() //nolint:gosec // webhookd
	for _, text := range []string{"step 1 ", "objects that cannot be written, correct them", "/a: "} {
		if err == nil || !strings.Contains(string(out), text) {
			s.t.Errorf("webhookd migrate does not say %q: %v\n%s", text, err, out)
		}
	}

	// The other versions know nothing of it, and can put it right.
	s.wants("v1alpha1", "a", `"spec":{"refuses":"v1"}`)
	repair := []byte(`{"spec":{"refuses":null}}`)
	if _, err := s.At("v1alpha1").Patch(ctx, "a", types.MergePatchType, repair, metav1.PatchOptions{}); err != nil {
		s.t.Errorf("put it right at another version: %v", err)
	}
	s.wants("v1", "a", `"spec":{}`)
	Succeeds(s.t, "a list", func() error {
		_, err := v1.List(ctx, metav1.ListOptions{})
		return err
	})
}
