package crdwire_test

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/cluster/crdwire"
	"github.com/crdconvert/webhookd/test/helpers/clustertest"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A Service has replicas, and rules and certificates reach them one after the other. As long as one
// of them answers as before, the CRD is not pointed at them, whichever answers first.
func TestApplyWaitsForAllReplicas(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*webhook, *tls.Certificate){
		"one has other rules": func(w *webhook, _ *tls.Certificate) {
			asked := 0
			w.answerWith(func(_ string, response map[string]any) int {
				if asked++; asked%7 == 0 {
					response["result"] = map[string]any{"status": "Failure", "message": "no converter"}
				}
				return 200
			})
		},
		"one serves from another CA": func(w *webhook, other *tls.Certificate) { // from the fourth connection on: the first review to each version succeeds
			asked := 0
			w.answerWith(func(string, map[string]any) int {
				if asked++; asked == 3 {
					w.pair = other
				}
				return 200
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calling(t, func(t *testing.T, w *webhook) {
				ca, s := tlstest.NewCA(t, "a"), clustertest.New()
				s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
				w.serve(t, tlstest.NewCA(t, "other"))
				other := w.pair
				w.serve(t, ca)
				prepare(w, other)
				err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, applyOptions(t, w, ca, &logged{}))
				if err == nil || !strings.HasPrefix(err.Error(), "no CRD was changed: ") {
					t.Errorf("%v", err)
				}
				if slices.Contains(s.Requests(), "patch "+crdwire.Path(things)) {
					t.Error("changed all the same")
				}
			})
		})
	}
}
