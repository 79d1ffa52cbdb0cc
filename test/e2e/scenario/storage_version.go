package scenario

import (
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
