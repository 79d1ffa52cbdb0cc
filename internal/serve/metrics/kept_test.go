package metrics_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
)

// An object that became smaller, or is no longer written, is forgotten after an hour.
func TestLargestAnnotationsAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New(metrics.Build{})
		hooks := m.Review()
		seen := func(bytes int) {
			hooks.ObjectsDone(review.Objects{
				Pair: cronTab(), Durations: make([]time.Duration, 1), Kept: []review.Kept{{Bytes: 1, Annotations: bytes}},
			})
		}
		want := func(value string) {
			t.Helper()
			if text := scrape(t, m); !strings.Contains(text, `webhookd_largest_annotations_bytes{kind="CronTab.example.com"} `+value+"\n") {
				t.Errorf("want %s:\n%s", value, text)
			}
		}
		pass := func(d time.Duration) { <-time.After(d) }
		seen(300)
		want("300")
		seen(200)
		want("300")
		pass(29 * time.Minute)
		want("300")
		pass(2 * time.Minute)
		seen(100)
		want("300")
		pass(30 * time.Minute)
		want("100")
		pass(24 * time.Hour)
		want("0")
		seen(50)
		want("50")
	})
}

// An unknown kind keeps nothing, and has no series of kept values.
func TestUnknownKindsKeepNothing(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Build{})
	unknown := review.Pair{Kind: review.Unknown, From: review.Unknown, To: review.Unknown}
	m.Review().ObjectsDone(review.Objects{Pair: unknown, Failed: 1, Durations: make([]time.Duration, 1)})
	for _, name := range []string{"webhookd_kept_", "webhookd_largest_", "webhookd_cost_limits_"} {
		if text := scrape(t, m); strings.Contains(text, name) {
			t.Errorf("%s is there:\n%s", name, text)
		}
	}
}
