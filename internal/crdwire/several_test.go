package crdwire_test

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/crdconvert/webhookd/internal/crdwire"
	"github.com/crdconvert/webhookd/internal/kubeapi/kubeapitest"
	"github.com/crdconvert/webhookd/internal/tlsreload/tlstest"
)

// A CRD that cannot be changed keeps no other one from what it needs, such as a new CA.
func TestApplyGoesOnWithOtherCRDs(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w, s := newWebhook(t, ca), kubeapitest.New(t)
	names := []string{"first.example.com", things, "last.example.com"}
	for _, name := range names {
		s.Put(t, crdwire.Path(name), "kubectl-create", strings.Replace(crdJSON(none), things, name, 1))
	}
	s.Before = func(verb, path string) *apierrors.StatusError {
		if verb == "patch" && path != crdwire.Path(things) {
			return apierrors.NewBadRequest("not this one")
		}
		return nil
	}
	err := crdwire.Apply(t.Context(), s.Client(t), names, applyOptions(t, w, ca, &logged{}))
	if err == nil || strings.Count(err.Error(), "not this one") != 2 {
		t.Errorf("%v", err)
	}
	if got := bundleOf(t, s); got != string(ca.PEM) {
		t.Errorf("caBundle %s", got)
	}
}
