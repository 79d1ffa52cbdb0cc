package crdwire_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A CRD that cannot be changed keeps no other one from what it needs, such as a new CA.
func TestApplyContinuesWithOtherCRDs(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w, s := newWebhook(t, ca), clustertest.New()
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

// A CRD that points here already gets its CA, whatever is wrong with one that does not, which is
// not pointed here then.
func TestApplyUpdatesCRDsThatPointHere(t *testing.T) {
	t.Parallel()
	bad, other := "bad.example.com", "other.example.com"
	for _, tt := range []struct {
		name    string
		bad     string // its spec.conversion
		prepare func(s *clustertest.Server, w *webhook, young *tlstest.CA)
		want    string
	}{
		{"it is gone", none, func(s *clustertest.Server, _ *webhook, _ *tlstest.CA) { s.Delete(crdwire.Path(bad)) }, bad + ": there is no such CRD, install it first"},
		{"it points elsewhere", webhookConversion(`{"url":"https://a.example"}`), func(*clustertest.Server, *webhook, *tlstest.CA) {}, "converted by https://a.example already"},
		{"it may not be read", none, func(s *clustertest.Server, _ *webhook, _ *tlstest.CA) {
			s.Before = func(_, path string) *apierrors.StatusError {
				if path == crdwire.Path(bad) {
					return apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("no"))
				}
				return nil
			}
		}, crdwire.Path(bad) + ": cannot get: forbidden: no (403)"},
		{"its kind is not known", none, func(_ *clustertest.Server, w *webhook, young *tlstest.CA) {
			w.serve(t, young)
			w.answerWith(func(desired string, response map[string]any) int {
				if strings.HasPrefix(desired, "bad.example.com/") {
					response["result"] = map[string]any{"status": "Failure", "message": "no converter"}
				}
				return 200
			})
		}, "review failed: no converter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calling(t, func(t *testing.T, w *webhook) {
				old, young, s := tlstest.NewCA(t, "old"), tlstest.NewCA(t, "young"), clustertest.New()
				w.serve(t, old)
				s.Put(t, crdwire.Path(bad), "kubectl", strings.NewReplacer(things, bad, `"group":"example.com"`, `"group":"bad.example.com"`).Replace(crdJSON(tt.bad)))
				s.Put(t, crdwire.Path(other), "kubectl", strings.Replace(crdJSON(none), things, other, 1))
				s.Put(t, crdwire.Path(things), crdwire.ManagerWire, crdJSON(pointingHere(old)))
				tt.prepare(s, w, young)
				err := crdwire.Apply(t.Context(), s.Client(t), []string{bad, other, things}, applyOptions(t, w, young, &logged{}))
				if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "no other CRD was pointed at Service ns/webhookd: ") {
					t.Errorf("error %v, want %s", err, tt.want)
				}
				if got := bundleOf(t, s); got != string(young.PEM)+string(old.PEM) {
					t.Errorf("%d CAs", strings.Count(got, "BEGIN"))
				}
				if slices.Contains(s.Requests(), "patch "+crdwire.Path(other)) {
					t.Error("another one is pointed here")
				}
			})
		})
	}
}

// A version that comes into the CRD while answers are waited for has had no answer: it is asked for
// as well.
func TestApplyAsksForNewVersions(t *testing.T) {
	t.Parallel()
	ca := tlstest.NewCA(t, "a")
	w, s := newWebhook(t, ca), clustertest.New()
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
	if forNew != 11 || !strings.Contains(l.String(), ": review failed: no version v4 yet") {
		t.Errorf("asked for the version that has come %d times, want 11:\n%s", forNew, l.String())
	}
}
