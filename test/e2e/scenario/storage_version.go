package scenario

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// store makes version the storage version.
func (e *Env) store(t *testing.T, r *Resource, version string) {
	t.Helper()
	e.UpdateCRD(t, r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) { SetStorage(t, crd, version) })
	r.Storage = version
}

func (e *Env) storedVersions(t *testing.T, r *Resource) []string {
	t.Helper()
	crd, err := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions().Get(t.Context(), r.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatalf("read the CRD: %v", err)
	}
	return crd.Status.StoredVersions
}

// setStoredVersions says which versions the objects in etcd may have. The API server does not check
// it.
func (e *Env) setStoredVersions(t *testing.T, r *Resource, versions ...string) {
	t.Helper()
	crds := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions()
	Succeeds(t, "status.storedVersions to be changed", func() error {
		crd, err := crds.Get(t.Context(), r.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		crd.Status.StoredVersions = versions
		_, err = crds.UpdateStatus(t.Context(), crd, metav1.UpdateOptions{})
		return err
	})
}

// removeVersion takes a version out of a CRD.
func (e *Env) removeVersion(t *testing.T, r *Resource, version string) error {
	t.Helper()
	crds := e.CRDs(t).ApiextensionsV1().CustomResourceDefinitions()
	crd, err := crds.Get(t.Context(), r.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version
	})
	_, err = crds.Update(t.Context(), crd, metav1.UpdateOptions{})
	return err
}
