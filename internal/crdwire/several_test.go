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

// A version that comes into the CRD while answers are waited for has had no answer: it is asked for as well.
func TestApplyAsksForAVersionThatHasCome(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w, s := newWebhook(t, ca), kubeapitest.New(t)
	s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
	asked, forNew := 0, 0
	w.answerWith(func(desired string, response map[string]any) int {
		if asked++; asked == 3 { // after the CRD was read
			s.Put(t, crdwire.Path(things), "kubectl", strings.Replace(crdJSON(none), `{"name":"v3"}`, `{"name":"v3"},{"name":"v4"}`, 1))
		}
		if desired == "example.com/v4" {
			if forNew++; forNew == 1 {
				response["result"] = map[string]any{"status": "Failure", "message": "no version v4 yet"}
			}
		}
		return 200
	})
	l := &logged{}
	if err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, l)); err != nil {
		t.Error(err)
	}
	bundleOf(t, s)
	if forNew != 11 || !strings.Contains(l.String(), "waiting: review failed: no version v4 yet") {
		t.Errorf("asked for the version that has come %d times, want 11:\n%s", forNew, l.String())
	}
}
