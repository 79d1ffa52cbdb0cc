package controlplane_test

import (
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/scenario"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/crdconvert/webhookd/test/controlplane/plane"
)

// never shows why the how-to forbids two ways out of a failing conversion.
func never(t *testing.T, p *plane.Plane) {
	t.Helper()
	t.Run("strategy None", func(t *testing.T) { strategyNone(t, p) })
	t.Run("unsafe deletion", func(t *testing.T) { unsafeDeletion(t, p) })
}

// strategyNone has fields go for good: a label is set meanwhile, in a version that has no such
// fields.
func strategyNone(t *testing.T, p *plane.Plane) {
	t.Helper()
	e := byService(t, p)
	w := e.Webhookd(t)
	crd := scenario.CRD(t, "crontabs.example.com")
	for _, v := range crd.Spec.Versions { // the API server removes unknown fields, as for most kinds
		v.Schema.OpenAPIV3Schema.XPreserveUnknownFields = nil
	}
	r := e.Install(t, crd, w)
	r.MustConvert(t, w, 1, func() { r.Create(t, "v1beta1", "nightly-report", `{hostPort: "localhost:80"}`) })
	e.UpdateCRD(t, r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter}
	})
	kubectl := p.Kubectl(t, p.Token(plane.Admin))
	replay(t, kubectl, filepath.Join("testdata", "never", "strategy-none.txt"))
	e.UpdateCRD(t, r.Name, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Spec.Conversion = e.Conversion(w.Addr(), w.CA().PEM)
	})
	replay(t, kubectl, filepath.Join("testdata", "never", "strategy-webhook-again.txt"))
}

// unsafeDeletion takes a sound object away and does not heed its finalizer, only because no one
// converts it at the moment.
func unsafeDeletion(t *testing.T, p *plane.Plane) {
	t.Helper()
	s := newSite(p, "unsafe-deletion")
	r := s.install(t, crontabs(t), nobodyListens(t, s))
	r.Create(t, "v1", "nightly-report", `{host: localhost, metadata: {finalizers: [example.com/clean-up]}}`)
	err := r.At("v1beta1").Delete(t.Context(), "nightly-report", metav1.DeleteOptions{})
	if !apierrors.IsInternalError(err) {
		t.Errorf("deletion without a converter: %v, want an internal error", err)
	}
	err = r.At("v1beta1").Delete(t.Context(), "nightly-report", metav1.DeleteOptions{
		IgnoreStoreReadErrorWithClusterBreakingPotential: new(true),
	})
	if err != nil {
		t.Errorf("unsafe deletion: %v", err)
	}
	if r.Stored(t, "nightly-report") != nil {
		t.Error("the object is there still: the how-to has to say something else")
	}
}
