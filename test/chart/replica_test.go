package chart_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/gate"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// A replica counts what requests and faults cause, with the product's own metrics.
type replica struct {
	metrics *metrics.Metrics
	dropped atomic.Uint64
}

// startReplica starts one that has rules with a digest, or none of them.
func startReplica(t *testing.T, digest string) (*replica, string) {
	t.Helper()
	r := &replica{metrics: metrics.New(metrics.Build{Version: "v1.2.3", Revision: "abc", GoVersion: "go1.26"})}
	r.metrics.WatchLog(r.dropped.Load)
	r.metrics.WatchServer(func() server.Stats {
		return server.Stats{Use: gate.Use{Requests: 1, Waiting: 1, Bytes: 4096, BytesLimit: 1 << 30}, Connections: 1, ConnectionsLimit: 100}
	})
	r.metrics.WatchCRDs(func() map[string]bool { return map[string]bool{"Widget.shop.example.com": true} })
	r.metrics.RulesServed(1, digest)
	r.metrics.Review().Stuck("Widget.shop.example.com", 1)
	r.certificate()
	admin := httptest.NewServer(r.metrics.Handler())
	t.Cleanup(admin.Close)
	return r, admin.Listener.Addr().String()
}

// certificate takes one over, and then has one that is broken and a folder that is not watched.
func (r *replica) certificate() {
	r.metrics.TLS().Reloaded(tlsreload.Event{NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 3, 0)})
	r.metrics.TLS().Failed(io.ErrUnexpectedEOF)
}

// load counts one event of each kind.
func (r *replica) load(ctx context.Context) {
	pair := review.Pair{Kind: "Widget.shop.example.com", From: "v1", To: "v1beta1"}
	done := review.Result{Pair: pair, Objects: 1, BytesIn: 900, BytesOut: 1000, Duration: 2 * time.Millisecond}
	r.metrics.Review().ReviewDone(ctx, done)
	done.Failed, done.Message = 1, "no place"
	r.metrics.Review().ReviewDone(ctx, done)
	r.metrics.Review().ReviewDone(ctx, review.Result{BytesIn: 900, Rejected: io.ErrUnexpectedEOF})
	r.metrics.Server().Rejected(http.StatusUnsupportedMediaType)
	r.metrics.Server().Shed("bytes")
	r.metrics.Review().GuardRefused(pair, ".metadata.finalizers")
	r.metrics.Review().ObjectsDone(review.Objects{
		Pair: pair, Failed: 1, TooLarge: 1, CostLimited: 1, WithKept: 1, Kept: []review.Kept{{Bytes: 200 << 10, Annotations: 250 << 10}},
		Durations: []time.Duration{time.Millisecond, time.Millisecond},
	})
	r.metrics.Review().Panicked(ctx, review.Panic{Pair: pair})
	r.metrics.Server().Panicked("string", nil)
	r.metrics.Server().CutOff("idle")
	r.metrics.Server().HandshakeFailed("closed", "")
	r.metrics.RulesRead(1)
	r.certificate()
	r.dropped.Add(1)
}

// startAPIServer serves the metrics of kube-apiserver that the chart uses, as if there were a
// conversion of each kind between any two scrapes.
func startAPIServer(t *testing.T) string {
	t.Helper()
	var scrapes atomic.Int64
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n := scrapes.Add(1)
		var text bytes.Buffer
		const name = "apiserver_crd_conversion_webhook_duration_seconds"
		fmt.Fprintf(&text, "# TYPE %s histogram\n", name)
		for _, succeeded := range []string{"true", "false"} {
			labels := `crd_name="widgets.shop.example.com",from_version="v1",to_version="v1beta1",succeeded="` + succeeded + `"`
			for _, le := range []string{"0.005", "1", "+Inf"} {
				fmt.Fprintf(&text, "%s_bucket{%s,le=%q} %d\n", name, labels, le, n)
			}
			fmt.Fprintf(&text, "%s_sum{%s} %f\n%s_count{%s} %d\n", name, labels, float64(n)/1000, name, labels, n)
		}
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(text.Bytes()) // the scraper notices
	}))
	t.Cleanup(admin.Close)
	return admin.Listener.Addr().String()
}
