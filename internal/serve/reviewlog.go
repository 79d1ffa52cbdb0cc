package serve

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
)

// slowReview is the duration from which a successful review is logged as well. The alert
// WebhookdAPIServerConversionsSlow has the same limit.
const slowReview = time.Second

// A reviewLog logs reviews: a line for each wanted one, and summaries of all.
type reviewLog struct {
	logger *zap.Logger
	wanted config.LogReviews
	totals reviewTotals
}

func newReviewLog(logger *zap.Logger, wanted config.LogReviews) *reviewLog {
	return &reviewLog{logger: logger, wanted: wanted}
}

// take counts a review for the summary, and reports whether it gets a line.
func (l *reviewLog) take(r *review.Result) bool {
	if l.wanted == config.LogNoReviews {
		return false
	}
	l.totals.add(r)
	level, _ := outcome(r)
	if l.wanted == config.LogFailedReviews && level == zapcore.InfoLevel && r.Duration < slowReview {
		return false
	}
	return l.logger.Core().Enabled(level)
}

// outcome returns the level and the message of a review's line.
func outcome(r *review.Result) (zapcore.Level, string) {
	switch {
	case r.Rejected != nil:
		return zapcore.WarnLevel, "body rejected"
	case r.Message != "":
		return zapcore.WarnLevel, "review failed"
	}
	return zapcore.InfoLevel, "review done"
}

func (l *reviewLog) reviewDone(_ context.Context, r review.Result) {
	if l.take(&r) {
		l.write(&r)
	}
}

func (l *reviewLog) write(r *review.Result) {
	level, message := outcome(r)
	entry := l.logger.Check(level, message)
	if entry == nil {
		return
	}
	fields := append(make([]zapcore.Field, 0, 10), zap.String("uid", r.UID))
	if r.Pair != (review.Pair{}) {
		fields = append(fields, zap.String("kind", r.Pair.Kind), zap.String("from", r.Pair.From), zap.String("to", r.Pair.To))
	}
	fields = append(fields,
		zap.Int("objects", r.Objects), zap.Int("failed", r.Failed),
		zap.Int("bytesIn", r.BytesIn), zap.Int("bytesOut", r.BytesOut),
		zap.Int64("durationMicros", r.Duration.Microseconds()))
	switch {
	case r.Rejected != nil:
		fields = append(fields, zap.String("error", r.Rejected.Error()))
	case r.Message != "":
		fields = append(fields, zap.String("error", r.Message))
	}
	entry.Write(fields...)
}

func (l *reviewLog) panicked(_ context.Context, p review.Panic) {
	l.logger.Error("converter panicked",
		zap.String("uid", p.UID),
		zap.String("kind", p.Pair.Kind), zap.String("from", p.Pair.From), zap.String("to", p.Pair.To),
		zap.String("panic", p.Type), zap.String("stack", p.Stack))
}

func (l *reviewLog) stuck(kind string, more int) {
	if more > 0 {
		l.logger.Error("converter does not return, its review was answered without it", zap.String("kind", kind))
		return
	}
	l.logger.Warn("converter has returned long after its deadline", zap.String("kind", kind))
}

func (l *reviewLog) costLimited(pair review.Pair, objects int) {
	l.logger.Warn("expression reached its cost limit, make it cheaper or what it reads smaller",
		zap.String("kind", pair.Kind), zap.String("from", pair.From), zap.String("to", pair.To), zap.Int("objects", objects))
}

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
