package controlplane_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/crdconvert/webhookd/internal/cluster/crdguard"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// An attack writes an object at a version, whose kept values are those of another one.
type attack struct {
	name string
	do   func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, other string) error
}

// patching is an attack by a merge patch of metadata.
func patching(name string, metadata func(other string) string) attack {
	return attack{name, func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, other string) error {
		text := fmt.Sprintf(`{"metadata":%s}`, metadata(other))
		_, err := c.Patch(ctx, obj.GetName(), types.MergePatchType, []byte(text), metav1.PatchOptions{})
		return err
	}}
}

// replacing is an attack by an update.
func replacing(name string, change func(obj *unstructured.Unstructured, other string)) attack {
	return attack{name, func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, other string) error {
		change(obj, other)
		_, err := c.Update(ctx, obj, metav1.UpdateOptions{})
		return err
	}}
}

func setAnnotation(obj *unstructured.Unstructured, key, value string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	obj.SetAnnotations(annotations)
}

func statusKey(other string) string { return keptKey(other, "status", ownField(other)) }

func specKey(other string) string { return keptKey(other, "spec", ownField(other)) }

// attacksOnStatus are what may change a status without a guard, and what may change kept values in
// any other way.
func attacksOnStatus() []attack {
	return []attack{
		patching("patch a kept status", func(other string) string {
			return fmt.Sprintf(`{"annotations":{%q:%q}}`, statusKey(other), keptValue("forged"))
		}),
		patching("remove a kept status", func(other string) string {
			return fmt.Sprintf(`{"annotations":{%q:null}}`, statusKey(other))
		}),
		patching("remove all annotations", func(string) string { return `{"annotations":null}` }),
		patching("empty annotations", func(other string) string {
			return fmt.Sprintf(`{"annotations":{%q:null,%q:null}}`, statusKey(other), specKey(other))
		}),
		patching("add a field of status", func(other string) string {
			return fmt.Sprintf(`{"annotations":{%q:%q}}`, keptKey(other, "status", "ready"), keptValue("forged"))
		}),
		patching("add a status to fields of spec", func(other string) string {
			return fmt.Sprintf(`{"annotations":{%q:%q}}`, keptPrefix(other, false)+"status."+ownField(other), keptValue("forged"))
		}),
		patching("patch a kept spec", func(other string) string {
			return fmt.Sprintf(`{"annotations":{%q:%q}}`, specKey(other), keptValue("forged"))
		}),
		patching("patch a value that is none", func(other string) string {
			return fmt.Sprintf(`{"annotations":{%q:"no JSON"}}`, statusKey(other))
		}),
		patching("add a value of a version to come", func(string) string {
			return fmt.Sprintf(`{"annotations":{%q:%q}}`, keptKey("v2", "spec", "size"), keptValue("forged"))
		}),
		{"JSON patch", func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, other string) error {
			text := fmt.Sprintf(`[{"op":"remove","path":"/metadata/annotations"},{"op":"add","path":"/metadata/annotations","value":{%q:%q}}]`,
				statusKey(other), keptValue("forged"))
			_, err := c.Patch(ctx, obj.GetName(), types.JSONPatchType, []byte(text), metav1.PatchOptions{})
			return err
		}},
		replacing("replace a kept status", func(obj *unstructured.Unstructured, other string) {
			setAnnotation(obj, statusKey(other), keptValue("forged"))
		}),
		replacing("replace without annotations", func(obj *unstructured.Unstructured, _ string) { obj.SetAnnotations(nil) }),
		replacing("replace with others", func(obj *unstructured.Unstructured, _ string) {
			obj.SetAnnotations(map[string]string{"mine": "too"})
		}),
		{"server-side apply", func(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, other string) error {
			setAnnotation(obj, statusKey(other), keptValue("forged"))
			return applyAs(ctx, c, obj, "attacker")
		}},
	}
}

// applyAs applies the metadata that matter, by force.
func applyAs(ctx context.Context, c dynamic.ResourceInterface, obj *unstructured.Unstructured, manager string) error {
	applied := &unstructured.Unstructured{Object: map[string]any{}}
	applied.SetGroupVersionKind(obj.GroupVersionKind())
	applied.SetName(obj.GetName())
	applied.SetAnnotations(obj.GetAnnotations())
	_, err := c.Apply(ctx, obj.GetName(), applied, metav1.ApplyOptions{FieldManager: manager, Force: true})
	return err
}

// attacks holds that no write of the editor changes a byte of status, or what one version alone
// says, through any version.
func (g *guarded) attacks(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		other := otherOf(version)
		name := "attacked-" + g.Storage + "-" + version
		g.make(t, name)
		own, statuses := g.own(t, name), g.statuses(t, name)
		same := func(t *testing.T) {
			t.Helper()
			if diff := cmp.Diff(statuses, g.statuses(t, name)); diff != "" {
				t.Errorf("status (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(own, g.own(t, name)); diff != "" {
				t.Errorf("what one version alone says (-before +after):\n%s", diff)
			}
		}
		editor := g.as(t, g.editor, version)
		for _, a := range attacksOnStatus() {
			t.Run(version+" "+a.name, func(t *testing.T) {
				err := a.do(t.Context(), editor, g.Get(t, version, name), other)
				g.refused(t, err, keptPrefix(other, true), keptPrefix(other, false), keptPrefix("v2", false))
				same(t)
			})
		}
		t.Run(version+" give up what was applied", func(t *testing.T) { g.givenUp(t, version, name); same(t) })
		t.Run(version+" create", func(t *testing.T) { g.forgedOnCreate(t, version) })
		t.Run(version+" by status", func(t *testing.T) {
			text := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, specKey(other), keptValue("forged"))
			_, err := g.as(t, g.reporter, version).Patch(t.Context(), name, types.MergePatchType, []byte(text), metav1.PatchOptions{}, "status")
			if err != nil {
				t.Error(err)
			}
			same(t)
		})
		_, err := editor.Patch(t.Context(), name, types.MergePatchType, []byte(`{"status":{}}`), metav1.PatchOptions{}, "status")
		if !apierrors.IsForbidden(err) {
			t.Errorf("the editor may write status: %v", err)
		}
	}
}

// givenUp applies kept values as they are, which is allowed, and then no more. That takes nothing
// away: it is another version's field that has an owner.
func (g *guarded) givenUp(t *testing.T, version, name string) {
	t.Helper()
	obj := g.Get(t, version, name)
	for _, what := range []string{"what is there", "no more"} {
		if err := applyAs(t.Context(), g.as(t, g.editor, version), obj, "exporter"); err != nil {
			t.Errorf("apply %s: %v", what, err)
		}
		obj.SetAnnotations(nil)
	}
}

// forgedOnCreate makes objects that come with kept values: their status is none at any version, and
// what is kept of their spec is theirs to set.
func (g *guarded) forgedOnCreate(t *testing.T, version string) {
	t.Helper()
	other := otherOf(version)
	editor := g.as(t, g.editor, version)
	obj := g.Object(t, version, "forged-"+g.Storage+"-"+version, `{spec: {size: 1}}`)
	setAnnotation(obj, specKey(other), keptValue("mine"))
	setAnnotation(obj, statusKey(other), keptValue("forged"))
	_, err := editor.Create(t.Context(), obj.DeepCopy(), metav1.CreateOptions{})
	g.refused(t, err, statusKey(other))
	_, err = g.as(t, g.editor, version).Apply(t.Context(), obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "attacker", Force: true})
	if g.mode == crdguard.Validate {
		g.refused(t, err, statusKey(other))
		annotations := obj.GetAnnotations()
		delete(annotations, statusKey(other))
		obj.SetAnnotations(annotations)
		_, err = editor.Create(t.Context(), obj, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	for at, status := range g.statuses(t, obj.GetName()) {
		if status != "null" && status != "{}" {
			t.Errorf("forged status: %s: %s", at, status)
		}
	}
	want := map[string]string{version: " ", other: "mine "}
	if diff := cmp.Diff(want, g.own(t, obj.GetName())); diff != "" {
		t.Errorf("fields of one version (-want +got):\n%s", diff)
	}
}
