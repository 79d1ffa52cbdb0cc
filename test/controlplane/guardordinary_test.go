package controlplane_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/cluster/crdguard"
	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// manifests does with kubectl what people do with manifests: one without kept values, and one with
// those of last week. Neither loses nor reverts anything; where it is refused, the message says
// what to do, and that helps.
func (g *guarded) manifests(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			other := otherOf(version)
			name := "exported-" + g.Storage + "-" + version
			g.make(t, name)
			client := g.kubectl(t, g.editor)
			exported := g.Get(t, version, name)
			client.Write(t, "export.yaml", manifestOf(t, exported, exported.GetAnnotations()))
			client.Write(t, "bare.yaml", manifestOf(t, exported, nil))
			patch(t, g.At(other), name, fmt.Sprintf(`{"spec":{%q:"newer"}}`, ownField(other)))
			patch(t, g.At(other), name, fmt.Sprintf(`{"status":{%q:"newer"}}`, ownField(other)), "status")
			want := g.own(t, name)
			for _, command := range []string{
				"replace -f export.yaml", "replace -f bare.yaml", "apply -f export.yaml",
				"apply --server-side --force-conflicts --field-manager=argocd-controller -f export.yaml",
				"apply --server-side --force-conflicts --field-manager=kustomize-controller -f bare.yaml",
			} {
				before := g.Get(t, version, name)
				out, err := client.Try(t, strings.Fields(command)...)
				passes := g.mode == crdguard.Restore || strings.Contains(command, "--server-side") && strings.Contains(command, "bare")
				if passes != (err == nil) || !passes && !strings.Contains(out, "take them out of the manifest and use kubectl apply") {
					t.Errorf("kubectl %s: %v\n%s", command, err, out)
				}
				if diff := cmp.Diff(want, g.own(t, name)); diff != "" {
					t.Errorf("kubectl %s (-before +after):\n%s", command, diff)
				}
				if after := g.Get(t, version, name); !passes && after.GetResourceVersion() != before.GetResourceVersion() {
					t.Errorf("kubectl %s was refused and has written", command)
				}
			}
			client.Shell(t, "webhookd convert -f export.yaml --strip | kubectl apply -f -", webhookFolder(t))
			client.Shell(t, "webhookd convert -f export.yaml --strip | kubectl apply -f -", webhookFolder(t))
			// As tools for GitOps see it: kept values that the manifest does not have are no drift.
			client.Shell(t, "if webhookd convert -f export.yaml --strip | kubectl diff --server-side --force-conflicts -f - |"+
				" grep '^[-+].*webhookd.io'; then exit 1; fi", webhookFolder(t))
			if diff := cmp.Diff(want, g.own(t, name)); diff != "" {
				t.Errorf("apply what is stripped (-before +after):\n%s", diff)
			}
		})
	}
}

// exportPage does what docs/how-to/back-up-and-export.md says of a manifest that has been applied
// with its kept values, and sees what is written there.
func (g *guarded) exportPage(t *testing.T) {
	page := codeBlocks(readFile(t, filepath.Join(webhook.Root(t), "docs", "how-to", "back-up-and-export.md")))
	const name, apply = "pump", "apply -f export.yaml"
	client := g.kubectl(t, g.editor)
	client.Write(t, "pump.yaml", "{apiVersion: guard.example.com/v1beta1, kind: Machine, metadata: {name: pump}, spec: {size: 1}}")
	client.Run(t, "apply", "-f", "pump.yaml")
	patch(t, g.At("v1"), name, `{"spec":{"v1Only":"old"}}`)
	exported := g.Get(t, "v1beta1", name)
	client.Write(t, "export.yaml", manifestOf(t, exported, map[string]string{specKey("v1"): exported.GetAnnotations()[specKey("v1")]}))
	client.Run(t, strings.Fields(apply)...)
	patch(t, g.At("v1"), name, `{"spec":{"v1Only":"new"}}`)

	got := prompt + apply + "\n" + client.Fails(t, strings.Fields(apply)...)
	if len(page["console"]) != 1 || page["console"][0] != got {
		t.Errorf("what is seen is not what the page has:\n%s\npage: %q", got, page["console"])
	}
	client.Shell(t, "webhookd convert -f export.yaml --strip > stripped.yaml", webhookFolder(t))
	if out, err := client.Try(t, "apply", "-f", "stripped.yaml"); err == nil {
		t.Errorf("kubectl has forgotten what it had applied:\n%s", out)
	}
	client.Shell(t, page["sh"][len(page["sh"])-1], webhookFolder(t))
	if got := g.own(t, name)["v1"]; got != "new " {
		t.Errorf("what v1 alone says: %s", got)
	}
}

// manifestOf is an object as people export it, with some annotations.
func manifestOf(t *testing.T, obj *unstructured.Unstructured, annotations map[string]string) string {
	t.Helper()
	exported := &unstructured.Unstructured{Object: map[string]any{"spec": obj.Object["spec"], "status": obj.Object["status"]}}
	exported.SetGroupVersionKind(obj.GroupVersionKind())
	exported.SetName(obj.GetName())
	exported.SetAnnotations(annotations)
	text, err := yaml.Marshal(exported.Object)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ordinary does at both versions what clients do that change no kept value: what the other version
// alone says stays as it is.
func (g *guarded) ordinary(t *testing.T) {
	for _, version := range []string{"v1", "v1beta1"} {
		t.Run(version, func(t *testing.T) {
			name := "ordinary-" + g.Storage + "-" + version
			g.make(t, name)
			o := ordinary{guarded: g, version: version, name: name, own: g.own(t, name)}
			for _, w := range o.writes(t) {
				o.write(t, w)
			}
			o.edited(t)
			o.applies(t)
			o.finalizers(t)
		})
	}
}

// An ordinary client works at a version on one object.
type ordinary struct {
	*guarded

	version, name string
	own           map[string]string
}

// An ordinaryWrite changes something that both versions have, or nothing.
type ordinaryWrite struct {
	what    string
	nothing bool
	do      func(obj *unstructured.Unstructured) error
}

// writes are those of the editor and, of status and scale, of the administrator.
func (o ordinary) writes(t *testing.T) []ordinaryWrite {
	t.Helper()
	editor, admin := o.as(t, o.editor, o.version), o.At(o.version)
	patch := func(client dynamic.ResourceInterface, text string, options metav1.PatchOptions, subresource ...string) func(*unstructured.Unstructured) error {
		return func(*unstructured.Unstructured) error {
			_, err := client.Patch(t.Context(), o.name, types.MergePatchType, []byte(text), options, subresource...)
			return err
		}
	}
	update := func(client dynamic.ResourceInterface, value any, path []string, subresource ...string) func(*unstructured.Unstructured) error {
		return func(obj *unstructured.Unstructured) error {
			if len(path) > 0 {
				if err := unstructured.SetNestedField(obj.Object, value, path...); err != nil {
					return err
				}
			}
			_, err := client.Update(t.Context(), obj, metav1.UpdateOptions{}, subresource...)
			return err
		}
	}
	all := []ordinaryWrite{
		{what: "update", do: update(editor, int64(2), []string{"spec", "size"})},
		{what: "update of an annotation", do: update(editor, "a", []string{"metadata", "annotations", "mine"})},
		{what: "patch", do: patch(editor, `{"metadata":{"annotations":{"mine":null},"labels":{"mine":"b"}},"spec":{"size":3}}`, metav1.PatchOptions{})},
		{what: "update of the status", do: update(admin, "no", []string{"status", "ready"}, "status")},
		{what: "patch of the status", do: patch(admin, `{"status":{"replicas":2}}`, metav1.PatchOptions{}, "status")},
		{what: "patch of the scale", do: patch(admin, `{"spec":{"replicas":2}}`, metav1.PatchOptions{}, "scale")},
		{what: "dry run", do: patch(editor, `{"spec":{"size":9}}`, metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}), nothing: true},
		{what: "update of nothing", do: update(editor, nil, nil), nothing: true},
		{what: "patch of nothing", do: patch(editor, `{}`, metav1.PatchOptions{}), nothing: true},
		{what: "update of nothing of the status", do: update(admin, nil, nil, "status"), nothing: true},
	}
	if o.mode == crdguard.Validate {
		return all
	}
	// The API server looks who owns what before the policy puts back what the request takes away.
	// So once, the manager that set a field of the other version stops owning it.
	bare := func(obj *unstructured.Unstructured) error {
		obj.SetAnnotations(nil)
		return update(editor, nil, nil)(obj)
	}
	none := patch(editor, `{"metadata":{"annotations":null}}`, metav1.PatchOptions{})
	return slices.Concat(all, []ordinaryWrite{
		{what: "update without annotations", do: bare},
		{what: "update without annotations again", do: bare, nothing: true},
		{what: "patch annotations away", do: none},
		{what: "patch annotations away again", do: none, nothing: true},
	})
}

func (o ordinary) write(t *testing.T, w ordinaryWrite) {
	t.Helper()
	before := o.Get(t, o.version, o.name)
	if err := w.do(before.DeepCopy()); err != nil {
		t.Errorf("%s: %v", w.what, err)
	}
	if diff := cmp.Diff(before.Object, o.Get(t, o.version, o.name).Object); w.nothing && diff != "" {
		t.Errorf("%s has written (-before +after):\n%s", w.what, diff)
	}
	if diff := cmp.Diff(o.own, o.guarded.own(t, o.name)); diff != "" {
		t.Errorf("%s: what one version alone says (-before +after):\n%s", w.what, diff)
	}
}

// edited compares what the writes have left.
func (o ordinary) edited(t *testing.T) {
	t.Helper()
	for _, version := range []string{"v1", "v1beta1"} {
		obj := o.Get(t, version, o.name)
		size, _, _ := unstructured.NestedInt64(obj.Object, "spec", "size")
		replicas, _, _ := unstructured.NestedInt64(obj.Object, "spec", "replicas")
		ready, _, _ := unstructured.NestedString(obj.Object, "status", "ready")
		if size != 3 || replicas != 2 || ready != "no" || obj.GetLabels()["mine"] != "b" || obj.GetAnnotations()["mine"] != "" {
			t.Errorf("at %s: size %d, replicas %d, ready %s, %v", version, size, replicas, ready, obj.GetLabels())
		}
	}
}

// applies has two managers apply at two versions, again and again.
func (o ordinary) applies(t *testing.T) {
	t.Helper()
	other := otherOf(o.version)
	apply := func(version, manager, fields string) {
		t.Helper()
		obj := o.Object(t, version, o.name, fields)
		if _, err := o.as(t, o.editor, version).Apply(t.Context(), o.name, obj, metav1.ApplyOptions{FieldManager: manager, Force: true}); err != nil {
			t.Errorf("%s applies at %s: %v", manager, version, err)
		}
	}
	own := func(mine string) {
		t.Helper()
		want := maps.Clone(o.own)
		want[o.version] = mine + " " + strings.Fields(o.own[o.version])[1]
		if diff := cmp.Diff(want, o.guarded.own(t, o.name)); diff != "" {
			t.Errorf("what one version alone says (-want +got):\n%s", diff)
		}
	}
	mine, theirs := fmt.Sprintf(`{spec: {size: 5, %s: applied}}`, ownField(o.version)), `{metadata: {labels: {theirs: a}}, spec: {replicas: 5}}`
	written := make([]string, 0, 3)
	for range 3 {
		apply(o.version, "mine", mine)
		apply(other, "theirs", theirs)
		written = append(written, o.Get(t, o.version, o.name).GetResourceVersion())
	}
	if written[1] != written[2] {
		t.Errorf("an apply of what is there has written: %q", written)
	}
	own("applied")
	// What is given up goes: only one version has it, and only one manager did.
	apply(o.version, "mine", `{spec: {size: 5}}`)
	own("")
}

// finalizers keep an object until they are removed.
func (o ordinary) finalizers(t *testing.T) {
	t.Helper()
	client := o.as(t, o.editor, o.version)
	patch(t, client, o.name, `{"metadata":{"finalizers":["example.com/wait"]}}`)
	if err := client.Delete(t.Context(), o.name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if o.Get(t, o.version, o.name).GetDeletionTimestamp() == nil {
		t.Error("not deleted")
	}
	patch(t, o.as(t, o.editor, otherOf(o.version)), o.name, `{"metadata":{"finalizers":null}}`)
	if _, err := client.Get(t.Context(), o.name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("still there: %v", err)
	}
}

// controllers has the garbage collector delete what belongs to an object that goes, at once and in
// the foreground, and a namespace go with its objects.
func (g *guarded) controllers(t *testing.T) {
	elsewhere, resource := *g, *g.Resource
	resource.Namespace = "guarded-" + string(g.mode)
	elsewhere.Resource = &resource
	g.plane.MakeNamespace(t, resource.Namespace, nil)
	elsewhere.make(t, "gone")
	g.admin.Run(t, "delete", "namespace", resource.Namespace, "--timeout=1m")
	for _, policy := range []string{"background", "foreground"} {
		owner, owned := "owner-"+policy, "owned-"+policy
		g.make(t, owner)
		g.make(t, owned)
		reference := metav1.OwnerReference{
			APIVersion: g.Group + "/v1beta1", Kind: g.Kind, Name: owner, UID: g.Get(t, "v1", owner).GetUID(), BlockOwnerDeletion: new(true),
		}
		obj := g.Get(t, "v1beta1", owned)
		obj.SetOwnerReferences([]metav1.OwnerReference{reference})
		if _, err := g.At("v1beta1").Update(t.Context(), obj, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		g.admin.Run(t, "-n", g.namespace, "delete", "--cascade="+policy, "--wait=false", g.Name, owner)
		scenario.Eventually(t, "the garbage collector to delete "+owned, func() bool {
			_, owns := g.At("v1").Get(t.Context(), owner, metav1.GetOptions{})
			_, is := g.At("v1").Get(t.Context(), owned, metav1.GetOptions{})
			return apierrors.IsNotFound(owns) && apierrors.IsNotFound(is)
		})
	}
}

// keysOfOthers checks that anyone may use annotations that are not webhookd's own, and any labels:
// no value is kept there.
func (g *guarded) keysOfOthers(t *testing.T) {
	const name = "others"
	g.make(t, name)
	own := g.own(t, name)
	for _, version := range []string{"v1", "v1beta1"} {
		for _, value := range []string{`"a"`, "null"} {
			annotations := fmt.Sprintf(`{"webhookd.io/v1.spec":%s,"example.com/conversion.webhookd.io":%[1]s}`, value)
			labels := fmt.Sprintf(`{%q:%s,%q:%[2]s}`, statusKey(otherOf(version)), value, specKey(otherOf(version)))
			patch(t, g.as(t, g.editor, version), name, `{"metadata":{"annotations":`+annotations+`,"labels":`+labels+`}}`)
			obj := g.Get(t, version, name)
			if is := obj.GetAnnotations()["webhookd.io/v1.spec"] == "a" && obj.GetLabels()[statusKey(otherOf(version))] == "a"; is != (value != "null") {
				t.Errorf("at %s: %v, %v", version, obj.GetAnnotations(), obj.GetLabels())
			}
			if diff := cmp.Diff(own, g.own(t, name)); diff != "" {
				t.Errorf("what one version alone says (-before +after):\n%s", diff)
			}
		}
	}
}

// allowedGroup lets one group change kept values, and no other.
func (g *guarded) allowedGroup(t *testing.T) {
	const name = "allowed"
	g.make(t, name)
	forged := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, specKey("v1"), keptValue("restored"))
	g.admin.Shell(t, "kubectl get crd "+g.Name+" -o yaml | webhookd crd guard annotations -f - --mode "+string(g.mode)+
		" --allow-group system:serviceaccounts:"+g.namespace+" | kubectl apply -f -", webhookFolder(t))
	editor := g.as(t, g.editor, "v1beta1")
	scenario.Eventually(t, "the group to be allowed", func() bool {
		_, err := editor.Patch(t.Context(), name, types.MergePatchType, []byte(forged), metav1.PatchOptions{})
		return err == nil && strings.HasPrefix(g.own(t, name)["v1"], "restored ")
	})
	_, err := g.as(t, g.plane.Token(plane.Admin), "v1beta1").Patch(t.Context(), name, types.MergePatchType,
		[]byte(strings.ReplaceAll(forged, "restored", "forged")), metav1.PatchOptions{})
	g.refused(t, err, specKey("v1"))
	if got := g.own(t, name)["v1"]; !strings.HasPrefix(got, "restored ") {
		t.Errorf("the administrator is in no group that may change it: %s", got)
	}
	for _, version := range []string{"v1", "v1beta1"} {
		g.restored(t, version)
	}
}

// restored has the allowed group back up an object at a version, delete it and restore it, as
// docs/how-to/back-up-and-export.md says. What the other version alone says returns with the
// object, but its status does not: that belongs to another uid. The API server ignores status on
// CREATE, so that of the version has to be written afterwards.
func (g *guarded) restored(t *testing.T, version string) {
	t.Helper()
	name, client := "restored-"+version, g.as(t, g.editor, version)
	g.make(t, name)
	want := g.own(t, name)
	backup := g.Get(t, version, name)
	if err := client.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	backup.SetResourceVersion("")
	backup.SetUID("")
	if _, err := client.Create(t.Context(), backup.DeepCopy(), metav1.CreateOptions{}); err != nil {
		t.Fatalf("restore at %s: %v", version, err)
	}
	patch(t, g.At(version), name, `{"status":`+textOf(t, backup.Object["status"])+`}`, "status")
	other := otherOf(version)
	spec, _, _ := strings.Cut(want[other], " ")
	want[other] = spec + " "
	if diff := cmp.Diff(want, g.own(t, name)); diff != "" {
		t.Errorf("restored at %s (-backed up +restored):\n%s", version, diff)
	}
}
