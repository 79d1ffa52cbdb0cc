package serve

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
)

// summaryInterval is the time between two summaries of reviews.
const summaryInterval = time.Minute

// reviewTotals sum up the reviews of each kind since the last summary. Kinds have the names that
// metrics use, so a client that invents kinds adds at most one. It is safe for concurrent use.
type reviewTotals struct {
	mu     sync.Mutex
	byKind map[string]*kindTotals
}

type kindTotals struct {
	reviews, failedReviews int
	objects, failed        int
	slowest                time.Duration
}

func (t *reviewTotals) add(r *review.Result) {
	kind := cmp.Or(r.Pair.Kind, metrics.None)
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.byKind[kind]
	if k == nil {
		if t.byKind == nil {
			t.byKind = map[string]*kindTotals{}
		}
		k = &kindTotals{}
		t.byKind[kind] = k
	}
	k.reviews++
	if r.Rejected != nil || r.Message != "" {
		k.failedReviews++
	}
	k.objects += r.Objects
	k.failed += r.Failed
	k.slowest = max(k.slowest, r.Duration)
}

// take returns the sums by kind and resets them.
func (t *reviewTotals) take() map[string]*kindTotals {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := t.byKind
	t.byKind = nil // forgets kinds that are gone
	return taken
}

// summarize writes a line for each kind that had reviews since the last summary.
func (l *reviewLog) summarize() {
	totals := l.totals.take()
	for _, kind := range slices.Sorted(maps.Keys(totals)) {
		k := totals[kind]
		l.logger.Info("review summary",
			zap.String("kind", kind), zap.Int("reviews", k.reviews), zap.Int("failedReviews", k.failedReviews),
			zap.Int("objects", k.objects), zap.Int("failed", k.failed), zap.Int64("slowestMicros", k.slowest.Microseconds()))
	}
}
