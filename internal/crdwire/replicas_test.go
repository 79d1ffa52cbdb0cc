package crdwire_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/cluster/clustertest"
	"github.com/crdconvert/webhookd/internal/crdwire"
	"github.com/crdconvert/webhookd/internal/tlsreload/tlstest"
)

// A Service has replicas, and rules and certificates reach them one after the other. As long as one
// of them answers as before, the CRD is not pointed at them, whichever answers first.
func TestApplyWaitsForAllReplicas(t *testing.T) {
	t.Parallel()
	ca, other := tlstest.NewCA(t, "a"), tlstest.NewCA(t, "other")
	for name, prepare := range map[string]func(*webhook){
		"one has other rules": func(w *webhook) {
			asked := 0
			w.answerWith(func(_ string, response map[string]any) int {
				if asked++; asked%7 == 0 {
					response["result"] = map[string]any{"status": "Failure", "message": "no converter"}
				}
				return 200
			})
		},
		"one serves from another CA": func(w *webhook) { // from the fourth connection on: the first review to each version succeeds
			asked := 0
			w.answerWith(func(string, map[string]any) int {
				if asked++; asked == 3 {
					pair := other.Issue(t, tlstest.Leaf{Hosts: []string{"webhookd.ns.svc"}}).TLS(t)
					w.pair = &pair
				}
				return 200
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := newWebhook(t, ca), clustertest.New()
			s.Put(t, crdwire.Path(things), "kubectl-create", crdJSON(none))
			prepare(w)
			o := applyOptions(t, w, ca, &logged{})
			o.Timeout = 700 * time.Millisecond
			err := crdwire.Apply(t.Context(), s.Client(t), []string{things}, o)
			if err == nil || !strings.HasPrefix(err.Error(), "no CRD was changed: ") {
				t.Errorf("%v", err)
			}
			if slices.Contains(s.Requests(), "patch "+crdwire.Path(things)) {
				t.Error("changed all the same")
			}
		})
	}
}
