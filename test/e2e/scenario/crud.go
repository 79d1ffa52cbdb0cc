package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// CRUD creates, reads, changes and deletes objects at each version that is served. Whatever is done
// at one version has to be there at the others and, at the storage version, in etcd.
func CRUD(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	for _, s := range e.subjects(t, w) {
		p := s.specimen
		for _, version := range s.Served {
			s.run(p.crd+" at "+version, func(s subject) {
				crud{subject: s, specimen: p, version: version}.all()
			})
		}
	}
}

// crud works at one version on objects of a specimen.
type crud struct {
	subject
	specimen

	version string
}

func (c crud) all() {
	c.write()
	c.patch()
	c.dryRun()
	c.list()
	c.remove()
	c.removeCollection()
	c.finalize()
}

// write creates an object, changes it, and makes changes that are none or come too late.
func (c crud) write() {
	name := c.version + "-written"
	created := c.create(c.version, name, c.before(c.version))
	c.same("what create returns", c.before(c.version), created)
	c.is(name, c.before)

	changed := c.update(c.version, withMembers(created, c.object(c.version, name, c.after(c.version))))
	c.same("what update returns", c.after(c.version), changed)
	c.is(name, c.after)
	if created.GetGeneration() != 1 || changed.GetGeneration() != 2 {
		c.t.Errorf("generations %d and %d, want 1 and 2", created.GetGeneration(), changed.GetGeneration())
	}
	for _, version := range c.Served {
		read := c.read(version, name)
		c.identity(changed, read)
		// An object that is written as it was read is no change, or conversion has lost something.
		c.identity(changed, c.update(version, read))
	}

	_, err := c.At(c.version).Update(c.t.Context(), created, metav1.UpdateOptions{})
	if !apierrors.IsConflict(err) {
		c.t.Errorf("update of an object that changed meanwhile: %v, want a conflict", err)
	}
	_, err = c.At(c.version).Create(c.t.Context(), c.object(c.version, name, c.before(c.version)), metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		c.t.Errorf("create what there is: %v, want that it exists", err)
	}
	c.is(name, c.after)
}

// patch changes an object by each type of patch that there is for custom resources.
func (c crud) patch() {
	name := c.version + "-patched"
	c.create(c.version, name, c.before(c.version))
	obj := c.patched(name, types.JSONPatchType, c.at[c.version].jsonPatch)
	c.same("what a JSON patch returns", c.after(c.version), obj)
	c.is(name, c.after)

	obj = c.patched(name, types.MergePatchType, c.at[c.version].mergePatch)
	c.same("what a merge patch returns", c.before(c.version), obj)
	c.is(name, c.before)

	c.patched(name, types.JSONPatchType, c.at[c.version].jsonPatch)
	obj, err := c.At(c.version).Apply(c.t.Context(), name, c.object(c.version, name, c.before(c.version)),
		metav1.ApplyOptions{FieldManager: "applier", Force: true})
	if err != nil {
		c.t.Fatalf("apply: %v", err)
	}
	c.same("what apply returns", c.before(c.version), obj)
	c.is(name, c.before)

	_, err = c.At(c.version).Patch(c.t.Context(), name, types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{})
	if !apierrors.IsUnsupportedMediaType(err) {
		c.t.Errorf("strategic merge patch: %v, want unsupported media type", err)
	}
}

// patched patches an object at the version.
func (c crud) patched(name string, kind types.PatchType, patch string) *unstructured.Unstructured {
	c.t.Helper()
	obj, err := c.At(c.version).Patch(c.t.Context(), name, kind, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		c.t.Fatalf("%s: %v", kind, err)
	}
	return obj
}

// dryRun does everything without doing it.
func (c crud) dryRun() {
	ctx, all := c.t.Context(), []string{metav1.DryRunAll}
	name := c.version + "-dry"
	obj, err := c.At(c.version).Create(ctx, c.object(c.version, name, c.before(c.version)), metav1.CreateOptions{DryRun: all})
	if err != nil {
		c.t.Fatalf("dry run of create: %v", err)
	}
	c.same("what a dry run of create returns", c.before(c.version), obj)
	c.gone(name)

	obj = c.create(c.version, name, c.before(c.version))
	obj, err = c.At(c.version).Update(ctx, withMembers(obj, c.object(c.version, name, c.after(c.version))), metav1.UpdateOptions{DryRun: all})
	if err != nil {
		c.t.Fatalf("dry run of update: %v", err)
	}
	c.same("what a dry run of update returns", c.after(c.version), obj)
	patch := []byte(c.at[c.version].jsonPatch)
	if obj, err = c.At(c.version).Patch(ctx, name, types.JSONPatchType, patch, metav1.PatchOptions{DryRun: all}); err != nil {
		c.t.Fatalf("dry run of patch: %v", err)
	}
	c.same("what a dry run of patch returns", c.after(c.version), obj)
	if err := c.At(c.version).Delete(ctx, name, metav1.DeleteOptions{DryRun: all}); err != nil {
		c.t.Fatalf("dry run of delete: %v", err)
	}
	c.is(name, c.before)
}

// same compares what an operation at the version returned.
func (c crud) same(what, members string, got *unstructured.Unstructured) {
	c.t.Helper()
	if diff := cmp.Diff(c.object(c.version, got.GetName(), members).Object, withoutMetadata(got)); diff != "" {
		c.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// identity compares what is the same about an object at all versions.
func (c crud) identity(want, got *unstructured.Unstructured) {
	c.t.Helper()
	type identity struct {
		uid             types.UID
		resourceVersion string
		generation      int64
		created         string
	}
	of := func(u *unstructured.Unstructured) identity {
		return identity{u.GetUID(), u.GetResourceVersion(), u.GetGeneration(), u.GetCreationTimestamp().String()}
	}
	if of(want) != of(got) {
		c.t.Errorf("%s at %s is %+v, want %+v", got.GetName(), got.GetAPIVersion(), of(got), of(want))
	}
}

// withMembers returns to with from's metadata, for an update.
func withMembers(from, to *unstructured.Unstructured) *unstructured.Unstructured {
	to.Object["metadata"] = from.DeepCopy().Object["metadata"]
	return to
}
