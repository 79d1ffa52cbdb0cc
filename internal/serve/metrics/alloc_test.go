package metrics_test

import (
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
)

func TestReviewAllocatesNothing(t *testing.T) {
	hooks := metrics.New(metrics.Build{}).Review()
	r, durations := done(cronTab()), []time.Duration{20 * time.Microsecond}
	ctx, kept := t.Context(), []review.Kept{{Bytes: 100, Annotations: 1000}}
	if n := testing.AllocsPerRun(100, func() {
		hooks.ObjectsDone(review.Objects{Pair: r.Pair, Durations: durations, Kept: kept})
		hooks.ReviewDone(ctx, r)
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
