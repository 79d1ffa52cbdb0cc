package scenario

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Subresources reads and writes status and scale at each version that is served. The field that
// scale scales has another name at one version of Database than at the others.
func Subresources(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	w.Tolerate("build webhookd with the types of the CRD") // it has two fields of the status that the types lack
	kinds := []scalable{
		{crd: "crontabs.example.com", path: map[string]string{"v1beta1": "spec.replicas", "v1": "spec.replicas"}},
		{crd: "databases.example.com", path: map[string]string{
			"v1alpha1": "spec.storageGB", "v1beta1": "spec.storageGB", "v1": "spec.storageGiB",
		}},
	}
	subjects := make([]subject, 0, len(kinds))
	for _, p := range kinds {
		subjects = append(subjects, e.subject(t, p.definition(t), w))
	}
	for i, p := range kinds {
		s := subjects[i]
		for _, version := range s.Served {
			s.run(p.crd+" at "+version, func(s subject) {
				c := subresources{subject: s, scalable: p, version: version, name: "by-" + version}
				c.status()
				c.scale()
			})
		}
	}
}

// A scalable is a kind with the subresources status and scale.
type scalable struct {
	crd string
	// path is the path of what is scaled, at each version.
	path map[string]string
}

// definition is the CRD of the examples with what the subresources need.
func (p scalable) definition(t *testing.T) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := CRD(t, p.crd)
	selector := ".status.selector"
	for i := range crd.Spec.Versions {
		v := &crd.Spec.Versions[i]
		v.Subresources = &apiextensionsv1.CustomResourceSubresources{
			Status: &apiextensionsv1.CustomResourceSubresourceStatus{},
			Scale: &apiextensionsv1.CustomResourceSubresourceScale{
				SpecReplicasPath: "." + p.path[v.Name], StatusReplicasPath: ".status.count", LabelSelectorPath: &selector,
			},
		}
		properties := v.Schema.OpenAPIV3Schema.Properties
		status := properties["status"]
		status.Type = "object"
		if status.Properties == nil {
			status.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		status.Properties["count"] = apiextensionsv1.JSONSchemaProps{Type: "integer"}
		status.Properties["selector"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		properties["status"] = status
	}
	return crd
}

// subresources works at one version on one object.
type subresources struct {
	subject
	scalable

	version, name string
}

// members are those of the object with the count wanted and, unless it is empty, a status.
func (c subresources) members(version string, wanted int64, status string) string {
	field := strings.TrimPrefix(c.path[version], "spec.")
	text := fmt.Sprintf(`"spec":{%q:%d}`, field, wanted)
	if status != "" {
		text += `,"status":` + status
	}
	return text
}

// status writes the status, and the object, each of which leaves the other alone.
func (c subresources) status() {
	at, ctx := c.At(c.version), c.t.Context()
	obj := c.create(c.version, c.name, c.members(c.version, 1, `{"count":7,"selector":"app=made-up"}`))
	c.sees(1, "")

	obj = withMembers(obj, c.object(c.version, c.name, c.members(c.version, 5, `{"count":1,"selector":"app=a"}`)))
	obj, err := at.UpdateStatus(ctx, obj, metav1.UpdateOptions{})
	if err != nil {
		c.t.Fatalf("update the status: %v", err)
	}
	c.same("what an update of the status returns", 1, `{"count":1,"selector":"app=a"}`, obj)
	c.sees(1, `{"count":1,"selector":"app=a"}`)

	obj = withMembers(obj, c.object(c.version, c.name, c.members(c.version, 2, `{"count":9}`)))
	if obj, err = at.Update(ctx, obj, metav1.UpdateOptions{}); err != nil {
		c.t.Fatalf("update: %v", err)
	}
	c.same("what an update returns", 2, `{"count":1,"selector":"app=a"}`, obj)
	c.sees(2, `{"count":1,"selector":"app=a"}`)
	if obj.GetGeneration() != 2 {
		c.t.Errorf("generation %d after one change apart from the status, want 2", obj.GetGeneration())
	}

	for kind, text := range map[types.PatchType]string{
		types.MergePatchType: `{"status":{"count":2}}`,
		types.JSONPatchType:  `[{"op":"replace","path":"/status/count","value":2}]`,
	} {
		if obj, err = at.Patch(ctx, c.name, kind, []byte(text), metav1.PatchOptions{}, "status"); err != nil {
			c.t.Fatalf("patch of the status: %v", err)
		}
		c.same("what a patch of the status returns", 2, `{"count":2,"selector":"app=a"}`, obj)
	}
	applied := c.object(c.version, c.name, `"status":{"count":3}`)
	if _, err = at.ApplyStatus(ctx, c.name, applied, metav1.ApplyOptions{FieldManager: "applier", Force: true}); err != nil {
		c.t.Fatalf("apply of the status: %v", err)
	}
	c.sees(2, `{"count":3,"selector":"app=a"}`)
	if obj, err = at.Get(ctx, c.name, metav1.GetOptions{}, "status"); err != nil {
		c.t.Fatalf("get the status: %v", err)
	}
	c.same("what a get of the status returns", 2, `{"count":3,"selector":"app=a"}`, obj)
}

// scale reads and writes the count wanted, of the object that status has left.
func (c subresources) scale() {
	at, ctx := c.At(c.version), c.t.Context()
	c.scaled(2)
	scale := c.readScale(c.version)
	if err := unstructured.SetNestedField(scale.Object, int64(4), "spec", "replicas"); err != nil {
		c.t.Fatal(err)
	}
	if _, err := at.Update(ctx, scale, metav1.UpdateOptions{}, "scale"); err != nil {
		c.t.Fatalf("update the scale: %v", err)
	}
	c.scaled(4)
	for kind, text := range map[types.PatchType]string{
		types.MergePatchType: `{"spec":{"replicas":6}}`,
		types.JSONPatchType:  `[{"op":"replace","path":"/spec/replicas","value":6}]`,
	} {
		if _, err := at.Patch(ctx, c.name, kind, []byte(text), metav1.PatchOptions{}, "scale"); err != nil {
			c.t.Fatalf("patch of the scale: %v", err)
		}
		c.scaled(6)
	}
	dry := metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}
	if _, err := at.Patch(ctx, c.name, types.MergePatchType, []byte(`{"spec":{"replicas":8}}`), dry, "scale"); err != nil {
		c.t.Fatalf("dry run of a patch of the scale: %v", err)
	}
	c.scaled(6)
}

// scaled compares the scale at each version, and the object, with a count.
func (c subresources) scaled(wanted int64) {
	c.t.Helper()
	for _, version := range c.Served {
		scale := c.readScale(version).Object
		want := map[string]any{
			"apiVersion": "autoscaling/v1", "kind": "Scale",
			"spec": map[string]any{"replicas": wanted}, "status": map[string]any{"replicas": int64(3), "selector": "app=a"},
		}
		delete(scale, "metadata")
		if diff := cmp.Diff(want, scale); diff != "" {
			c.t.Errorf("scale at %s (-want +got):\n%s", version, diff)
		}
	}
	c.sees(wanted, `{"count":3,"selector":"app=a"}`)
}

func (c subresources) readScale(version string) *unstructured.Unstructured {
	c.t.Helper()
	scale, err := c.At(version).Get(c.t.Context(), c.name, metav1.GetOptions{}, "scale")
	if err != nil {
		c.t.Fatalf("get the scale at %s: %v", version, err)
	}
	return scale
}

// sees compares the object, as it is read at each version and as etcd holds it.
func (c subresources) sees(wanted int64, status string) {
	c.t.Helper()
	c.is(c.name, func(version string) string { return c.members(version, wanted, status) })
}

// same compares what an operation at the version returned.
func (c subresources) same(what string, wanted int64, status string, got *unstructured.Unstructured) {
	c.t.Helper()
	if diff := cmp.Diff(c.object(c.version, c.name, c.members(c.version, wanted, status)).Object, withoutMetadata(got)); diff != "" {
		c.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
