package metrics_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/internal/serve/metrics"
	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/gate"
	"github.com/crdconvert/webhookd/internal/server/listen"
	"github.com/crdconvert/webhookd/internal/tlsreload"
)

var update = flag.Bool("update", false, "rewrite the generated files")

func cronTab() review.Pair {
	return review.Pair{Kind: "CronTab.example.com", From: "v1beta1", To: "v1"}
}

func done(p review.Pair) review.Result {
	return review.Result{
		UID: "705ab4f5-6393-11e8-b7cc-42010a800002", Pair: p, Objects: 1,
		BytesIn: 650, BytesOut: 700, Duration: 30 * time.Microsecond,
	}
}

// everything returns metrics that all have a value.
func everything(t *testing.T) *metrics.Metrics {
	t.Helper()
	m := metrics.New(metrics.Build{Version: "v1.2.3", Revision: "abc", GoVersion: "go1.26"})
	m.WatchLog(func() uint64 { return 7 })
	m.WatchServer(func() server.Stats {
		return server.Stats{Use: gate.Use{Requests: 3, Waiting: 1, Bytes: 4096, BytesLimit: 1 << 30}}
	})

	m.WatchCRDs(func() map[string]bool {
		return map[string]bool{"CronTab.example.com": true, "Database.example.com": false}
	})

	r := m.Review()
	r.ObjectsDone(review.Objects{
		Pair: cronTab(), Failed: 1, WithKept: 2, TooLarge: 1, CostLimited: 2,
		Kept:      []review.Kept{{Bytes: 300, Annotations: 5000}, {Bytes: 200, Annotations: 60000}},
		Durations: []time.Duration{time.Microsecond, 300 * time.Microsecond, time.Second},
	})
	r.ReviewDone(t.Context(), done(cronTab()))
	failed := done(cronTab())
	failed.Failed, failed.Message = 1, "objects[0] cannot be converted"
	r.ReviewDone(t.Context(), failed)
	r.ReviewDone(t.Context(), done(review.Pair{}))
	r.ReviewDone(t.Context(), review.Result{BytesIn: 10, Rejected: errors.New("no uid")})
	r.GuardRefused(cronTab(), ".metadata.finalizers")
	r.GuardRefused(cronTab(), ".metadata.whatever")
	r.Panicked(t.Context(), review.Panic{Pair: cronTab()})
	r.Stuck("CronTab.example.com", 1)
	r.Stuck("CronTab.example.com", 1)
	r.Stuck("CronTab.example.com", -1)

	s := m.Server()
	s.Shed(gate.ShedBytes)
	s.HandshakeFailed(listen.HandshakeRefusedByClient, "TLS handshake error from 10.0.0.1:1: remote error: tls: bad certificate")
	s.Rejected(http.StatusUnsupportedMediaType)
	s.Panicked("string", nil)
	s.Draining()

	c := m.TLS()
	c.Reloaded(tlsreload.Event{NotBefore: time.Unix(1_700_000_000, 0), NotAfter: time.Unix(1_800_000_000, 0)})
	c.ClientCAReloaded(1)
	c.Failed(errors.New("no certificate"))
	m.RulesServed(2, "0123456789ab")
	m.RulesServed(3, "ba9876543210")
	m.RulesServed(3, "ba9876543210")
	return m
}

// scrape returns the answer of m as text, without the metrics of the process and of Go.
func scrape(t *testing.T, m *metrics.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	var own strings.Builder
	for line := range strings.Lines(w.Body.String()) {
		if strings.Contains(line, "webhookd_") {
			own.WriteString(line)
		}
	}
	return own.String()
}

func TestEachHookMovesItsMetric(t *testing.T) {
	t.Parallel()
	text := scrape(t, everything(t))
	pair := `kind="CronTab.example.com",`
	for _, want := range []string{
		`webhookd_reviews_total{from="v1beta1",` + pair + `result="success",to="v1"} 1`,
		`webhookd_reviews_total{from="v1beta1",` + pair + `result="failed",to="v1"} 1`,
		`webhookd_reviews_total{from="none",kind="none",result="success",to="none"} 1`,
		`webhookd_reviews_total{from="none",kind="none",result="rejected",to="none"} 1`,
		`webhookd_objects_total{from="v1beta1",` + pair + `result="converted",to="v1"} 2`,
		`webhookd_objects_total{from="v1beta1",` + pair + `result="failed",to="v1"} 1`,
		`webhookd_review_duration_seconds_bucket{from="v1beta1",` + pair + `to="v1",le="5e-05"} 2`,
		`webhookd_object_duration_seconds_bucket{from="v1beta1",` + pair + `to="v1",le="5e-05"} 1`,
		`webhookd_object_duration_seconds_bucket{from="v1beta1",` + pair + `to="v1",le="0.0005"} 2`,
		`webhookd_object_duration_seconds_bucket{from="v1beta1",` + pair + `to="v1",le="1"} 3`,
		`webhookd_kept_bytes_bucket{kind="CronTab.example.com",le="256"} 1`,
		`webhookd_kept_bytes_sum{kind="CronTab.example.com"} 500`,
		`webhookd_kept_bytes_count{kind="CronTab.example.com"} 2`,
		`webhookd_largest_annotations_bytes{kind="CronTab.example.com"} 60000`,
		`webhookd_kept_too_large_total{from="v1beta1",` + pair + `to="v1"} 1`,
		`webhookd_cost_limits_reached_total{from="v1beta1",` + pair + `to="v1"} 2`,
		`webhookd_crd_outdated{kind="CronTab.example.com"} 1`,
		`webhookd_crd_outdated{kind="Database.example.com"} 0`,
		`webhookd_request_size_bytes_count 4`,
		`webhookd_request_size_bytes_sum 1960`,
		`webhookd_response_size_bytes_sum 2100`,
		`webhookd_guard_rejections_total{` + pair + `path=".metadata.finalizers"} 1`,
		`webhookd_guard_rejections_total{` + pair + `path="other"} 1`,
		`webhookd_converter_panics_total{from="v1beta1",` + pair + `to="v1"} 1`,
		`webhookd_stuck_conversions{kind="CronTab.example.com"} 1`,
		`webhookd_shed_total{reason="bytes"} 1`,
		`webhookd_shed_total{reason="turns"} 0`,
		`webhookd_rejected_total{code="400"} 1`,
		`webhookd_rejected_total{code="415"} 1`,
		`webhookd_rejected_total{code="404"} 0`,
		`webhookd_handler_panics_total 1`,
		`webhookd_tls_handshake_errors_total{reason="refused_by_client"} 1`,
		`webhookd_tls_handshake_errors_total{reason="closed"} 0`,
		`webhookd_rules_kinds 3`,
		`webhookd_rules_info{digest="ba9876543210"} 1`,
		`webhookd_draining 1`,
		`webhookd_requests_in_flight 3`,
		`webhookd_requests_waiting 1`,
		`webhookd_request_bytes_in_flight 4096`,
		`webhookd_request_bytes_in_flight_limit 1.073741824e+09`,
		`webhookd_certificate_not_before_timestamp_seconds 1.7e+09`,
		`webhookd_certificate_not_after_timestamp_seconds 1.8e+09`,
		`webhookd_certificate_reloads_total{result="success"} 2`,
		`webhookd_certificate_reloads_total{result="failure"} 1`,
		`webhookd_certificate_reload_failing 1`,
		`webhookd_log_lines_dropped_total 7`,
		`webhookd_build_info{goversion="go1.26",revision="abc",version="v1.2.3"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("not scraped: %s", want)
		}
	}
	if strings.Contains(text, "0123456789ab") {
		t.Error("the digest of rules that are no longer served is scraped")
	}
	if t.Failed() {
		t.Log(text)
	}
}

func TestWhatFailedRecovers(t *testing.T) {
	t.Parallel()
	m := everything(t)
	m.TLS().Recovered()
	text := scrape(t, m)
	for _, want := range []string{"webhookd_certificate_reload_failing 0\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("not scraped: %s", want)
		}
	}
}

// I28: names that a client invents add no series.
func TestSeriesAreBounded(t *testing.T) {
	t.Parallel()
	m := everything(t)
	hooks := m.Review()
	before := strings.Count(scrape(t, m), "\n")
	for i := range 10_000 {
		hooks.GuardRefused(cronTab(), fmt.Sprintf(".metadata.annotations[%d]", i))
		hooks.ReviewDone(t.Context(), review.Result{UID: fmt.Sprint(i), Pair: cronTab(), Message: fmt.Sprint(i)})
		hooks.ReviewDone(t.Context(), review.Result{UID: fmt.Sprint(i), Rejected: errors.New(fmt.Sprint(i))})
	}
	if after := strings.Count(scrape(t, m), "\n"); after != before {
		t.Errorf("%d lines after 10000 different reviews, %d before", after, before)
	}
}

func TestPairsAreAddedConcurrently(t *testing.T) {
	t.Parallel()
	m := metrics.New(metrics.Build{})
	hooks := m.Review()
	const routines, pairs = 8, 20
	finished := make(chan struct{})
	for range routines {
		go func() {
			defer func() { finished <- struct{}{} }()
			for i := range pairs {
				p := cronTab()
				p.From = fmt.Sprintf("v%d", i)
				hooks.ReviewDone(context.Background(), done(p)) //nolint:forbidigo // the test may have failed already
			}
		}()
	}
	for range routines {
		<-finished
	}
	text := scrape(t, m)
	for i := range pairs {
		want := fmt.Sprintf(`webhookd_reviews_total{from="v%d",kind="CronTab.example.com",result="success",to="v1"} %d`, i, routines)
		if !strings.Contains(text, want+"\n") {
			t.Errorf("not scraped: %s", want)
		}
	}
}

func TestOpenMetricsIsServedToThoseWhoAsk(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	r.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
	w := httptest.NewRecorder()
	everything(t).Handler().ServeHTTP(w, r)
	if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, "application/openmetrics-text") {
		t.Errorf("Content-Type %q", got)
	}
	body, err := io.ReadAll(w.Body)
	if err != nil || !strings.HasSuffix(string(body), "# EOF\n") {
		t.Errorf("not OpenMetrics: %v", err)
	}
}

func TestReference(t *testing.T) {
	t.Parallel()
	const name = "../../../docs/reference/metrics.md"
	got := reference(t)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("metrics.md is not up to date, run this test with -update (-file +generated):\n%s", diff)
	}
}

var labelName = regexp.MustCompile(`[{,]([a-z]+)=`)

// reference builds the documentation from a scrape in which every metric occurs.
func reference(t *testing.T) string {
	t.Helper()
	help, labels := map[string]string{}, map[string][]string{}
	var rows []string
	var name string
	for line := range strings.Lines(scrape(t, everything(t))) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 4)
		switch {
		case strings.HasPrefix(line, "# HELP"):
			name = fields[2]
			help[name] = fields[3]
		case strings.HasPrefix(line, "# TYPE"):
			rows = append(rows, name+" "+fields[3])
		default:
			for _, m := range labelName.FindAllStringSubmatch(line, -1) {
				if l := "`" + m[1] + "`"; m[1] != "le" && !slices.Contains(labels[name], l) {
					labels[name] = append(labels[name], l)
				}
			}
		}
	}
	var b strings.Builder
	b.WriteString(preamble)
	for _, row := range rows {
		name, kind, _ := strings.Cut(row, " ")
		by := ""
		if len(labels[name]) > 0 {
			by = " by " + strings.Join(labels[name], ", ")
		}
		fmt.Fprintf(&b, "- `%s` (%s%s): %s\n", name, kind, by, help[name])
	}
	b.WriteString(dashboard)
	return b.String()
}

const dashboard = `
The chart has a dashboard for Grafana: traffic, latency, failures, kept values, rules, certificate, resources and old versions.
`

const preamble = `# Metrics

<!-- Generated from internal/serve/metrics; after a change there run: go test ./internal/serve/metrics -update -->

` + "`/metrics`" + ` at ` + "`admin-listen`" + ` answers in the Prometheus text format, or in OpenMetrics if the client asks for it. It also has the
usual metrics of the process (` + "`process_*`" + `) and of the Go runtime (` + "`go_*`" + `).

The number of series does not depend on what clients send:

- ` + "`kind`" + ` (KIND.GROUP), ` + "`from`" + ` and ` + "`to`" + ` are those of the registered converters, or ` + "`unknown`" + `. They are ` + "`none`" + ` for a review in which no
  object needed a conversion, and for a body that was not a review. A review counts for its first conversion, an object for its own.
- ` + "`path`" + ` is a field of Kubernetes' own metadata, or ` + "`other`" + `. The ` + "`reason`" + ` of a handshake is as in [the log](logs.md#the-server).

Durations are classic histograms and, for a server that scrapes them, native ones as well. A gauge of a
condition is 1 while it holds, else 0. Metrics of objects leave out objects that are already at the desired version.

Each metric, with its type and labels:

`
