package scenario

import (
	"testing"

	"github.com/google/go-cmp/cmp"
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
	c.list()
	c.remove()
	c.removeCollection()
	c.finalize()
}

// write creates an object, changes it, and makes changes that are none.
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
