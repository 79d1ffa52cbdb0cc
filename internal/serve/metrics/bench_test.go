package metrics_test

import (
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
)

// BenchmarkReview measures the metrics of one review of one object: 400 ns and no allocation.
func BenchmarkReview(b *testing.B) {
	hooks := metrics.New(metrics.Build{}).Review()
	r, durations := done(cronTab()), []time.Duration{20 * time.Microsecond}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		hooks.ObjectsDone(review.Objects{Pair: r.Pair, Durations: durations})
		hooks.ReviewDone(ctx, r)
	}
}

// BenchmarkObjects measures a list of 500.
func BenchmarkObjects(b *testing.B) {
	hooks := metrics.New(metrics.Build{}).Review()
	durations := make([]time.Duration, 500)
	for i := range durations {
		durations[i] = time.Duration(i) * time.Microsecond
	}
	b.ReportAllocs()
	for b.Loop() {
		hooks.ObjectsDone(review.Objects{Pair: cronTab(), Durations: durations})
	}
}

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
