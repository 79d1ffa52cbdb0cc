package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/config"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/internal/server/gate"
	"github.com/crdconvert/webhookd/internal/server/listen"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

func exampleResult() review.Result {
	return review.Result{
		UID:     "705ab4f5-6393-11e8-b7cc-42010a800002",
		Pair:    review.Pair{Kind: "CronTab.example.com", From: "v1beta1", To: "v1"},
		Objects: 1, BytesIn: 650, BytesOut: 700, Duration: 42 * time.Microsecond,
	}
}

// logged returns the lines that act logs, without their times.
func logged(t *testing.T, level zapcore.Level, act func(*zap.Logger)) []map[string]any {
	t.Helper()
	var out strings.Builder
	act(newLogger(zapcore.AddSync(&out), level, Console{}))
	var lines []map[string]any
	for line := range strings.Lines(out.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			t.Fatalf("not JSON: %v: %s", err, line)
		}
		if _, err := time.Parse(time.RFC3339Nano, fields["ts"].(string)); err != nil {
			t.Error(err)
		}
		delete(fields, "ts")
		lines = append(lines, fields)
	}
	return lines
}

func TestReviewLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*review.Result)
		want   map[string]any
	}{
		{"success", func(*review.Result) {}, map[string]any{
			"level": "info", "msg": "review done", "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
			"kind": "CronTab.example.com", "from": "v1beta1", "to": "v1",
			"objects": 1.0, "failed": 0.0, "bytesIn": 650.0, "bytesOut": 700.0, "durationMicros": 42.0,
		}},
		{"nothing to convert", func(r *review.Result) { r.Pair = review.Pair{} }, map[string]any{
			"level": "info", "msg": "review done", "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
			"objects": 1.0, "failed": 0.0, "bytesIn": 650.0, "bytesOut": 700.0, "durationMicros": 42.0,
		}},
		{"failed", func(r *review.Result) { r.Failed, r.Message = 1, "objects[0]: \x1b[31m no\nport" }, map[string]any{
			"level": "warn", "msg": "review failed", "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
			"kind": "CronTab.example.com", "from": "v1beta1", "to": "v1",
			"objects": 1.0, "failed": 1.0, "bytesIn": 650.0, "bytesOut": 700.0, "durationMicros": 42.0,
			"error": "objects[0]: \x1b[31m no\nport",
		}},
		{"rejected", func(r *review.Result) {
			*r = review.Result{Rejected: errors.New("request without a uid"), BytesIn: 2}
		}, map[string]any{
			"level": "warn", "msg": "body rejected", "uid": "",
			"objects": 0.0, "failed": 0.0, "bytesIn": 2.0, "bytesOut": 0.0, "durationMicros": 0.0,
			"error": "request without a uid",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := exampleResult()
			tt.change(&r)
			got := logged(t, zapcore.InfoLevel, func(l *zap.Logger) { newReviewLog(l, config.LogAllReviews).reviewDone(t.Context(), r) })
			if diff := cmp.Diff([]map[string]any{tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Every hook of the other packages is wired, and works without optional parts.
func TestHooksReachTheLog(t *testing.T) {
	t.Parallel()
	lines := logged(t, zapcore.DebugLevel, func(l *zap.Logger) {
		m := metrics.New(metrics.Build{})
		r := reviewHooks(m, newReviewLog(l, config.LogAllReviews))
		r.ReviewDone(t.Context(), exampleResult())
		r.ObjectsDone(review.Objects{Pair: exampleResult().Pair})
		r.ObjectsDone(review.Objects{Pair: exampleResult().Pair, CostLimited: 3})
		r.GuardRefused(exampleResult().Pair, ".metadata.uid")
		r.Panicked(t.Context(), review.Panic{Type: "string", Stack: "main.go:1\n"})
		c := tlsHooks(m, l)
		c.Reloaded(tlsreload.Event{Generation: "..2026"})
		c.ClientCAReloaded(1)
		c.Waiting(tlsreload.Event{})
		c.Failed(errors.New("no PEM"))
		c.Recovered()
		s := serverHooks(m, l)
		s.Shed(gate.ShedBytes)
		s.Rejected(404)
		s.Panicked("string", []byte("stack"))
		for range 3 { // a flood of them is logged once
			s.HandshakeFailed(listen.HandshakeRefusedByClient, "10.0.0.1:1: remote error: tls: bad certificate")
			s.HTTPFailed("http: Accept error: too many open files")
		}
		s.HandshakeFailed(listen.HandshakeClosed, "10.0.0.1:1: EOF")
		s.Draining()
	})
	got := make([]string, 0, len(lines))
	for _, line := range lines {
		got = append(got, line["level"].(string)+" "+line["msg"].(string))
	}
	want := []string{
		"info review done",
		"warn expression reached its cost limit, make it cheaper or what it reads smaller",
		"error converter panicked",
		"info certificate loaded",
		"info client CA loaded",
		"warn certificate on disk is not valid yet, it is served from its notBefore on",
		"error certificate on disk cannot be used, the last good one is kept",
		"info certificate on disk can be used again",
		"debug request shed",
		"debug request rejected",
		"error handler panicked",
		"warn TLS handshake error: refused_by_client",
		"warn HTTP server",
		"debug TLS handshake error: closed",
		"info draining",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// BenchmarkHooks measures what counting and logging add to a review of one object, wired as in
// serve.
func BenchmarkHooks(b *testing.B) {
	for _, wanted := range []config.LogReviews{config.LogFailedReviews, config.LogAllReviews, config.LogNoReviews} {
		b.Run("log-reviews="+string(wanted), func(b *testing.B) {
			out := NewLogWriter(io.Discard)
			defer out.Close()
			log := newReviewLog(newLogger(out, zapcore.InfoLevel, Console{}), wanted)
			hooks := reviewHooks(metrics.New(metrics.Build{}), log)
			r, durations := exampleResult(), []time.Duration{20 * time.Microsecond}
			ctx := context.WithoutCancel(b.Context())
			b.ReportAllocs()
			for b.Loop() {
				hooks.ObjectsDone(review.Objects{Pair: r.Pair, Durations: durations})
				hooks.ReviewDone(ctx, r)
			}
		})
	}
}
