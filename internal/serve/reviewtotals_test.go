package serve

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/config"
)

func TestReviewsThatHaveALine(t *testing.T) {
	t.Parallel()
	good, slow, failed := exampleResult(), exampleResult(), exampleResult()
	good.UID, good.Duration = "good", slowReview-1
	slow.UID, slow.Duration = "slow", slowReview
	failed.UID, failed.Message = "failed", "no port"
	rejected := review.Result{UID: "rejected", Rejected: errors.New("request without a uid")}
	tests := map[config.LogReviews]struct {
		reviews   []string
		summaries int
	}{
		config.LogFailedReviews: {[]string{"slow", "failed", "rejected"}, 2},
		config.LogAllReviews:    {[]string{"good", "slow", "failed", "rejected"}, 2},
		config.LogNoReviews:     {nil, 0},
	}
	for wanted, tt := range tests {
		t.Run(string(wanted), func(t *testing.T) {
			t.Parallel()
			lines := logged(t, zapcore.InfoLevel, func(l *zap.Logger) {
				log := newReviewLog(l, wanted)
				for _, r := range []review.Result{good, slow, failed, rejected} {
					log.reviewDone(t.Context(), r)
				}
				log.summarize()
			})
			var got []string
			summaries := 0
			for _, line := range lines {
				if line["msg"] == "review summary" {
					summaries++
					continue
				}
				got = append(got, line["uid"].(string))
			}
			if diff := cmp.Diff(tt.reviews, got); diff != "" {
				t.Error(diff)
			}
			if summaries != tt.summaries {
				t.Errorf("%d summaries, want %d", summaries, tt.summaries)
			}
		})
	}
}

// Each minute, the kinds that had reviews get a summary, and no others.
func TestReviewsAreSummedUpEachMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := newPipe()
		w := NewLogWriter(out)
		defer w.Close()
		log := newReviewLog(newLogger(w, zapcore.InfoLevel, Console{}), config.LogFailedReviews)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		go every(ctx, summaryInterval, log.summarize)
		for i := range 5000 {
			r := exampleResult()
			r.Objects, r.Duration = 2, time.Duration(i)*time.Microsecond
			log.reviewDone(ctx, r)
		}
		other := exampleResult()
		other.Pair.Kind, other.Message, other.Failed, other.Objects = "Database.example.com", "no port", 3, 4
		log.reviewDone(ctx, other)
		log.reviewDone(ctx, review.Result{Rejected: errors.New("request without a uid")})
		want := []any{
			map[string]any{"kind": "CronTab.example.com", "reviews": 5000.0, "failedReviews": 0.0, "objects": 10000.0, "failed": 0.0, "slowestMicros": 4999.0},
			map[string]any{"kind": "Database.example.com", "reviews": 1.0, "failedReviews": 1.0, "objects": 4.0, "failed": 3.0, "slowestMicros": 42.0},
			map[string]any{"kind": "none", "reviews": 1.0, "failedReviews": 1.0, "objects": 0.0, "failed": 0.0, "slowestMicros": 0.0},
		}
		advance(summaryInterval - time.Millisecond)
		if got := summaries(t, out); len(got) > 0 {
			t.Errorf("summaries before the minute is over: %v", got)
		}
		advance(3 * summaryInterval)
		if diff := cmp.Diff(want, summaries(t, out)); diff != "" {
			t.Error(diff)
		}
		log.reviewDone(ctx, exampleResult())
		advance(summaryInterval)
		if got := summaries(t, out); len(got) != 4 {
			t.Errorf("%d summaries, want one more for the review since: %v", len(got), got)
		}
	})
}

// summaries returns the summaries in a log, without the common fields.
func summaries(t *testing.T, out *pipe) []any {
	t.Helper()
	var found []any
	for line := range strings.Lines(strings.Join(out.written(), "")) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatal(err)
		}
		if fields["msg"] == "review summary" && fields["level"] == "info" {
			for _, name := range []string{"ts", "level", "msg"} {
				delete(fields, name)
			}
			found = append(found, fields)
		}
	}
	return found
}
