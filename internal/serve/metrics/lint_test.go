package metrics

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/server"
)

func TestNamesFollowTheConventions(t *testing.T) {
	t.Parallel()
	m := New(Build{Version: "v1"})
	m.WatchLog(func() uint64 { return 0 })
	m.WatchServer(func() server.Stats { return server.Stats{} })
	m.WatchCRDs(func() map[string]bool { return map[string]bool{"A.b": true} })
	m.Review().ObjectsDone(review.Objects{Pair: review.Pair{Kind: "A.b", From: "v1", To: "v2"}, TooLarge: 1})
	m.Review().ReviewDone(t.Context(), review.Result{Pair: review.Pair{Kind: "A.b", From: "v1", To: "v2"}})
	m.Review().GuardRefused(review.Pair{}, ".kind")
	m.Review().Panicked(t.Context(), review.Panic{})
	m.Server().Rejected(404)
	m.RulesServed(1, "0123456789ab")
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
