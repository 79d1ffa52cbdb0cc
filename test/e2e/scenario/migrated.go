package scenario

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// MigratedByHand retires a version without the controller that there is for it: the version is not
// served any more, what is stored at it is read and written back, the version is struck from
// status.storedVersions and removed from the CRD. Up to then nothing is lost and webhookd is
// needed, from then on it is not.
func MigratedByHand(t *testing.T, e *Env) {
	t.Helper()
	w := e.Webhookd(t)
	crd := CRD(t, "crontabs.example.com")
	SetStorage(t, crd, "v1beta1")
	r := e.Install(t, crd, w)
	p := &population{r: r}
	p.add(t, "old", 5)
	for _, name := range p.names {
		p.apply(t, "v1beta1", name, "imager", "{spec: {image: cron}}")
		p.apply(t, "v1", name, "scheduler", "{spec: {cronSpec: '* * * * *'}}")
	}
	e.store(t, r, "v1")
	was := p.snapshot(t).Read["v1"]

	r.MustConvert(t, w, 5, func() { p.unserved(t, e) })
	p.unchanged(t, was)
	p.storedAt(t, "v1beta1", p.names...)
	failsWith(t, "remove the old version too early", e.removeVersion(t, r, "v1beta1"),
		"status.storedVersions", "v1beta1 was previously a storage version")

	forgotten := p.names[0]
	r.MustConvert(t, w, 5, func() {
		for _, name := range p.names {
			r.writeBack(t, name, name != forgotten)
		}
	})
	p.storedAt(t, "v1", p.names...)
	p.unchanged(t, was)
	e.setStoredVersions(t, r, "v1")
	Succeeds(t, "the old version to be removed", func() error { return e.removeVersion(t, r, "v1beta1") })
	e.UpdateCRD(t, r.Name, func(*apiextensionsv1.CustomResourceDefinition) {})

	converted := r.Converted(t, w)
	p.unchanged(t, was)
	p.ports(t)
	p.written(t, forgotten)
	if got := r.Converted(t, w); got != converted {
		t.Errorf("webhookd converted %g objects of a CRD with one version", got-converted)
	}
}

// unserved ends the service of the old version. Objects that are stored at it are read as ever.
func (p *population) unserved(t *testing.T, e *Env) {
	t.Helper()
	e.UpdateCRD(t, p.r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { Version(t, crd, "v1beta1").Served = false })
	p.r.Served = []string{"v1"}
	if _, err := p.r.At("v1beta1").List(t.Context(), metav1.ListOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("list at a version that is not served: %v", err)
	}
	p.snapshot(t)
}

// written writes as ever after the old version is gone. Only an object whose managedFields name
// that version still cannot be applied to, until they do not: kubernetes#111937.
func (p *population) written(t *testing.T, forgotten string) {
	t.Helper()
	for _, name := range p.names {
		p.r.annotate(t, "v1", name)
		if name != forgotten {
			p.apply(t, "v1", name, "imager", "{spec: {image: cron:2}}")
		}
	}
	obj := p.r.Object(t, "v1", forgotten, "{spec: {cronSpec: '* * * * 1'}}")
	_, err := p.r.At("v1").Apply(t.Context(), forgotten, obj, metav1.ApplyOptions{FieldManager: "scheduler"})
	failsWith(t, "apply where managedFields name a removed version", err,
		"request to convert CR to an invalid group/version: example.com/v1beta1")
	p.r.writeBack(t, forgotten, true)
	p.apply(t, "v1", forgotten, "scheduler", "{spec: {cronSpec: '* * * * 1'}}")
}

// writeBack writes an object as it is, which makes the API server store it at the storage version.
// What managers own at the old version can be struck: they own it again when they apply again.
func (r *Resource) writeBack(t *testing.T, name string, strike bool) {
	t.Helper()
	obj, err := r.At("v1").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	if strike {
		obj.SetManagedFields(slices.DeleteFunc(obj.GetManagedFields(), func(m metav1.ManagedFieldsEntry) bool {
			return m.APIVersion != r.Group+"/v1"
		}))
	}
	if _, err := r.At("v1").Update(t.Context(), obj, metav1.UpdateOptions{FieldManager: "migrator"}); err != nil {
		t.Fatalf("write %s back: %v", name, err)
	}
}

// unchanged fails the test unless the objects are the same but for what a write changes by itself.
func (p *population) unchanged(t *testing.T, was map[string]*unstructured.Unstructured) {
	t.Helper()
	plain := func(objects map[string]*unstructured.Unstructured) map[string]*unstructured.Unstructured {
		c := map[string]*unstructured.Unstructured{}
		for _, name := range p.names { // others may write more
			obj := objects[name]
			if obj == nil {
				continue
			}
			c[name] = obj.DeepCopy()
			c[name].SetResourceVersion("")
			c[name].SetManagedFields(nil)
			// Rewritten while the rules changed: the mark stays until the next conversion.
			unstructured.RemoveNestedField(c[name].Object, "metadata", "annotations", "conversion.webhookd.io/v1beta1.kind")
			if len(c[name].GetAnnotations()) == 0 {
				c[name].SetAnnotations(nil)
			}
		}
		return c
	}
	if diff := cmp.Diff(plain(was), plain(p.list(t, "v1"))); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}
