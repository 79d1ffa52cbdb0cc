package controlplane_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	"github.com/crdconvert/webhookd/test/e2e/webhook"
	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// crates are a kind with rules: each version lacks fields that others have, and nothing is dropped.
const crates = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: crates.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: crates, singular: crate, kind: Crate, listKind: CrateList}
  versions:
  - name: v1alpha1
    served: true
    storage: false
    subresources: &subresources {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, replicas: {type: integer}, old: {type: string}, big: {type: string}}}
          status: {type: object, properties: {replicas: {type: integer}, report: {type: string}}}
  - name: v1beta1
    served: true
    storage: true
    subresources: *subresources
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, replicas: {type: integer}, both: {type: string}}}
          status: {type: object, properties: {replicas: {type: integer}}}
  - name: v1
    served: true
    storage: false
    subresources: *subresources
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}, replicas: {type: integer}, both: {type: string}, big: {type: string}}}
          status: {type: object, properties: {replicas: {type: integer}, report: {type: string}}}
`

const cratesConversion = `
apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: crates.example.com}
spec: {hub: v1, versions: [{name: v1alpha1, unmapped: Preserve}, {name: v1beta1, unmapped: Preserve}]}
`

// gate has the API server refuse objects that cannot be converted, by what `webhookd crd guard
// convertible` prints, and all else go on: edits at each version, status, scale, finalizers,
// deletion, a migration. Then the commands of docs/how-to/debug-a-failing-conversion.md help an
// object that was there before; and webhookd goes.
func gate(t *testing.T, p *plane.Plane) {
	t.Helper()
	p.StartControllers(t)
	e := byService(t, p)
	dir := t.TempDir()
	admin := p.Kubectl(t, p.Token(plane.Admin))
	for name, text := range map[string]string{"crd.yaml": crates, "rules.yaml": cratesConversion} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := e.Webhookd(t, "--rules", filepath.Join(dir, "rules.yaml"), "--crds", filepath.Join(dir, "crd.yaml"))
	w.Tolerate("review failed")
	r := e.Install(t, scenario.ParseCRD(t, crates), w)
	p.MakeNamespace(t, "shipping", nil)
	r.Namespace = "shipping"
	g := &gated{Resource: r, env: e, plane: p, admin: admin}
	defer func() { admin.Run(t, "delete", "-f", "policies.yaml") }()
	t.Run("migration", g.migration)
	t.Run("refused", g.refused)
	t.Run("refused with annotations", g.refusedWithAnnotations)
	t.Run("ordinary", g.ordinary)
	t.Run("shrink", g.shrink)
	t.Run("webhookd is down", func(t *testing.T) { g.down(t, w) })
}

// A gated kind has the gate.
type gated struct {
	*scenario.Resource

	env   *scenario.Env
	plane *plane.Plane
	admin *plane.Client
}

// policies applies the gate for the CRD as it is, and waits until an object that is too big at the
// stored version is refused.
func (g *gated) policies(t *testing.T) {
	t.Helper()
	g.admin.Shell(t, "kubectl get crd "+g.Name+" -o yaml | webhookd crd guard convertible -f - > policies.yaml\nkubectl apply -f policies.yaml",
		webhookFolder(t))
	g.closed(t)
}

// closed waits until there is no way for what cannot be converted to one version, or to the other
// one.
func (g *gated) closed(t *testing.T) {
	t.Helper()
	for _, field := range []string{"big", "both"} {
		obj := g.Object(t, "v1", "dry-run", "{spec: {"+field+": "+tooBig()+"}}")
		scenario.Eventually(t, "the gate", func() bool {
			_, err := g.At("v1").Create(t.Context(), obj.DeepCopy(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			return err != nil
		})
	}
}

// tooBig is what no annotations keep.
func tooBig() string { return strings.Repeat("x", 300_000) }

// migration has another version stored, with the gate for the versions that were not stored before.
func (g *gated) migration(t *testing.T) {
	g.Create(t, "v1beta1", "migrated", "{spec: {size: 1, both: b}}")
	g.policies(t)
	patch(t, g.At("v1"), "migrated", `{"spec":{"big":"b"}}`)
	g.env.UpdateCRD(t, g.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { scenario.SetStorage(t, crd, "v1") })
	(&migrant{Resource: g.Resource}).migrate(t, g.plane)
	if stored := g.Stored(t, "migrated").GetAPIVersion(); stored != "example.com/v1" {
		t.Errorf("stored at %s", stored)
	}
	if big := g.text(t, "v1", "migrated", "spec", "big"); big != "b" {
		t.Errorf("what v1 alone says: %s", big)
	}
	g.admin.Run(t, "delete", "-f", "policies.yaml") // that of v1, which is stored now, is not in the new ones
	g.policies(t)
}

func (g *gated) text(t *testing.T, version, name string, path ...string) string {
	t.Helper()
	text, _, _ := unstructured.NestedString(g.Get(t, version, name).Object, path...)
	return text
}

// refused holds that what cannot be converted to one of the other versions is refused however it is
// written at the stored one, with a message that names the object, both versions and the path.
func (g *gated) refused(t *testing.T) {
	const name = "refused"
	g.Create(t, "v1", name, "{spec: {size: 1}}")
	before := g.Get(t, "v1", name)
	at, dry := g.At("v1"), []string{metav1.DryRunAll}
	for _, tt := range []struct{ to, path string }{{"v1beta1", ".spec.big"}, {"v1alpha1", ".spec.both"}, {"v1beta1", ".status.report"}} {
		of, field, _ := strings.Cut(strings.TrimPrefix(tt.path, "."), ".")
		fields := fmt.Sprintf("{%s: {%s: %s}}", of, field, tooBig())
		patch := fmt.Sprintf(`{%q:{%q:%q}}`, of, field, tooBig())
		jsonPatch := fmt.Sprintf(`[{"op":"add","path":"/%s","value":{%q:%q}}]`, of, field, tooBig())
		var subresource []string
		if of == "status" {
			subresource = []string{of}
		}
		patched := func(kind types.PatchType, text string, dryRun []string) func(string) error {
			return func(name string) error {
				_, err := at.Patch(t.Context(), name, kind, []byte(text), metav1.PatchOptions{DryRun: dryRun}, subresource...)
				return err
			}
		}
		applied := func(dryRun []string) func(string) error {
			return func(name string) error {
				o := metav1.ApplyOptions{FieldManager: "applier", Force: true, DryRun: dryRun}
				_, err := at.Apply(t.Context(), name, g.Object(t, "v1", name, fields), o, subresource...)
				return err
			}
		}
		created := func(dryRun []string) func(string) error {
			return func(name string) error {
				_, err := at.Create(t.Context(), g.Object(t, "v1", name, fields), metav1.CreateOptions{DryRun: dryRun})
				return err
			}
		}
		writes := map[string]func(name string) error{
			"merge patch": patched(types.MergePatchType, patch, nil), "dry run of a patch": patched(types.MergePatchType, patch, dry),
			"JSON patch": patched(types.JSONPatchType, jsonPatch, nil), "apply": applied(nil), "dry run of an apply": applied(dry),
			"update": func(name string) error {
				obj := g.Object(t, "v1", name, fields)
				obj.SetResourceVersion(before.GetResourceVersion())
				_, err := at.Update(t.Context(), obj, metav1.UpdateOptions{}, subresource...)
				return err
			},
		}
		if of != "status" {
			writes["create"], writes["dry run of a create"], writes["create by apply"] = created(nil), created(dry), applied(nil)
		}
		for what, write := range writes {
			object := name
			if strings.Contains(what, "create") {
				object = "created"
			}
			err := write(object)
			if want := "objects[0] Crate shipping/" + object + " v1 -> " + tt.to + ": "; !apierrors.IsInvalid(err) ||
				!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), tt.path) {
				t.Errorf("%s of %s: %v\nwant %s ... %s", what, tt.path, err, want, tt.path)
			}
		}
	}
	if diff := cmp.Diff(before.Object, g.Get(t, "v1", name).Object); diff != "" {
		t.Errorf("what was refused has been written (-before +after):\n%s", diff)
	}
	if _, err := at.Get(t.Context(), "created", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("what was refused has been created: %v", err)
	}
	// At another version it is the conversion to the stored one that fails, as without the gate.
	obj := g.Object(t, "v1alpha1", "created", "{spec: {old: "+tooBig()+"}}")
	if _, err := g.At("v1alpha1").Create(t.Context(), obj, metav1.CreateOptions{}); err == nil || !strings.Contains(err.Error(), ".spec.old") {
		t.Errorf("create at v1alpha1: %v", err)
	}
}

// refusedWithAnnotations has an object whose own annotations leave no room.
func (g *gated) refusedWithAnnotations(t *testing.T) {
	obj := g.Object(t, "v1", "annotated", "{spec: {big: "+strings.Repeat("x", 4000)+"}}")
	obj.SetAnnotations(map[string]string{"mine": strings.Repeat("x", 255<<10)})
	if _, err := g.At("v1").Create(t.Context(), obj, metav1.CreateOptions{}); !apierrors.IsInvalid(err) ||
		!strings.Contains(err.Error(), "objects[0] Crate shipping/annotated v1 -> ") {
		t.Errorf("create: %v", err)
	}
	g.Create(t, "v1", "annotated", "{spec: {size: 1}}")
	if err := g.At("v1").Delete(t.Context(), "annotated", metav1.DeleteOptions{}); err != nil {
		t.Error(err)
	}
}

// ordinary writes at each version.
func (g *gated) ordinary(t *testing.T) {
	for _, version := range g.Served {
		name := "ordinary-" + version
		g.Create(t, version, name, "{spec: {size: 1}}")
		patch(t, g.At(version), name, `{"spec":{"size":2},"metadata":{"finalizers":["example.com/wait"]}}`)
		obj := g.Get(t, version, name)
		unchanged, err := g.At(version).Update(t.Context(), obj, metav1.UpdateOptions{})
		if err != nil || unchanged.GetResourceVersion() != obj.GetResourceVersion() {
			t.Errorf("update of nothing at %s: %v", version, err)
		}
		for range 2 {
			applied := g.Object(t, version, name, "{spec: {size: 3}}")
			if _, err := g.At(version).Apply(t.Context(), name, applied, metav1.ApplyOptions{FieldManager: "applier", Force: true}); err != nil {
				t.Errorf("apply at %s: %v", version, err)
			}
		}
		patch(t, g.At(version), name, `{"status":{"replicas":3}}`, "status")
		patch(t, g.At(version), name, `{"spec":{"replicas":4}}`, "scale")
		if err := g.At(version).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete at %s: %v", version, err)
		}
		patch(t, g.At(version), name, `{"metadata":{"finalizers":null}}`)
		if _, err := g.At(version).Get(t.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("at %s there is still what was deleted: %v", version, err)
		}
	}
}

// shrink has an object that was too big before the gate came, and runs the commands of the page.
func (g *gated) shrink(t *testing.T) {
	page := readFile(t, filepath.Join(webhook.Root(t), "docs", "how-to", "debug-a-failing-conversion.md"))
	commands := codeBlocks(page)["sh"]
	if len(commands) != 4 {
		t.Fatalf("the page has %d commands", len(commands))
	}
	edit, remove, open, shut := commands[0], commands[1], commands[2], commands[3]
	g.admin.Write(t, "editor", "#!/bin/sh\nexec sed -i 's/big: x*$/big: small/' \"$1\"\n")
	g.admin.Shell(t, open)
	obj := g.Object(t, "v1", "big", "{spec: {big: "+tooBig()+"}}")
	obj.SetFinalizers([]string{"example.com/wait"})
	scenario.Succeeds(t, "the gate to open", func() error {
		_, err := g.At("v1").Create(t.Context(), obj.DeepCopy(), metav1.CreateOptions{})
		return err
	})
	g.admin.Shell(t, shut)
	g.closed(t)
	for what, patch := range map[string]string{"smaller": `{"spec":{"big":"small"}}`, "without finalizers": `{"metadata":{"finalizers":null}}`} {
		_, err := g.At("v1").Patch(t.Context(), "big", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if !apierrors.IsInvalid(err) {
			t.Errorf("%s: %v", what, err)
		}
	}
	g.admin.Shell(t, open)
	scenario.Succeeds(t, "the gate to open", func() error {
		_, err := g.At("v1").Patch(t.Context(), "big", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		return err
	})
	g.admin.Shell(t, edit)
	g.admin.Shell(t, shut)
	g.closed(t)
	if big := g.text(t, "v1", "big", "spec", "big"); big != "small" {
		t.Errorf("after the edit: %d bytes", len(big))
	}
	g.Get(t, "v1beta1", "big")
	g.admin.Shell(t, remove)
}

// down holds what the page says of a webhookd that is gone.
func (g *gated) down(t *testing.T, w *webhook.Process) {
	t.Helper()
	g.Create(t, "v1", "down", "{spec: {size: 1}}")
	g.Create(t, "v1", "downwards", "{spec: {size: 1}}")
	w.Terminate()
	w.Wait()
	if _, err := g.At("v1").Patch(t.Context(), "down", types.MergePatchType, []byte(`{"spec":{"size":2}}`), metav1.PatchOptions{}); !apierrors.IsInvalid(err) {
		t.Errorf("a write at the stored version: %v", err)
	}
	patch(t, g.At("v1"), "down", `{"spec":{"replicas":4}}`, "scale")
	for _, name := range []string{"down", "downwards", "migrated", "refused"} {
		if err := g.At("v1").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("delete %s at the stored version: %v", name, err)
		}
	}
}
