package chart_test

import (
	"context"
	"math"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/promqltest"

	"github.com/crdconvert/webhookd/test/chart"
)

// A span is the range that the values of a panel's queries must be in.
type span struct{ least, most float64 }

// sensible returns the span of each panel by its number, unless it is just "not negative".
func sensible() map[int]span {
	const day = 86400
	return map[int]span{
		2: {2, 2}, 3: {1, 1}, 5: {0.01, 0.9}, 6: {1e-6, 5}, 7: {80 * day, 100 * day},
		12: {200, 1 << 20}, 13: {200, 1 << 20}, 16: {1e-6, 5}, 17: {1e-6, 5}, 18: {1e-4, 1},
		27: {0, 1}, 29: {0, 1}, 30: {0, 2 * 3600}, 31: {80 * day, 400 * day}, 39: {0, 1},
		41: {1, 1 << 18}, 42: {0, 1}, 45: {0, 1},
		33: {4096, 1 << 34}, 34: {1e-7, 1}, 35: {0, 2}, 36: {1e-3, 1}, 37: {0, 1}, 38: {1, 1},
	}
}

// Each query of the dashboard returns sensible values once Prometheus has scraped a webhookd under
// load, with classic and with native histograms, and the conditions of the right alerts hold.
func TestDashboardShowsALoadedServer(t *testing.T) {
	t.Parallel()
	targets := underLoad(t)
	rendering := render(t, values(t, "metrics: {serviceMonitor: {enabled: true}, prometheusRule: {enabled: true}}"), nil)
	for name, native := range map[string]bool{"classic histograms": false, "native histograms": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := startPrometheus(t, rendering, native, targets)
			p.await(t, targets, 12)
			_, dashboard := readDashboard(t)
			for _, panel := range dashboard.Panels {
				for _, target := range panel.Targets {
					p.shows(t, panel, target.Expr, target.LegendFormat)
				}
			}
			p.wantAlerts(t, rendering)
		})
	}
}

// shows checks that a query returns sensible values, with the labels that its legend has, and not
// just zeros unless the panel may.
func (p *prometheusServer) shows(t *testing.T, shown panel, expression, legend string) {
	t.Helper()
	want, is := sensible()[shown.ID]
	if !is {
		want = span{0, math.MaxFloat64}
	}
	result := p.query(t.Context(), t, expression)
	most := math.Inf(-1)
	for _, s := range result {
		most = max(most, s.F)
		if math.IsNaN(s.F) || s.F < want.least || s.F > want.most {
			t.Errorf("panel %d %q shows %g of %s, want %g to %g: %s", shown.ID, shown.Title, s.F, s.Metric, want.least, want.most, expression)
		}
		for _, label := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(legend, -1) {
			if !s.Metric.Has(label[1]) {
				t.Errorf("panel %d %q: the legend %q of %s", shown.ID, shown.Title, legend, s.Metric)
			}
		}
	}
	if most <= 0 && want.least <= 0 {
		t.Errorf("panel %d %q shows nothing but 0: %s", shown.ID, shown.Title, expression)
	}
}

// On an idle server the numbers at the top are defined: a share of no reviews is zero.
func TestDashboardShowsAnIdleServer(t *testing.T) {
	t.Parallel()
	_, address := startReplica(t, "0123456789ab")
	targets := map[string]string{"idle": address}
	p := startPrometheus(t, render(t, values(t, "metrics: {serviceMonitor: {enabled: true}}"), nil), false, targets)
	p.await(t, targets, 3)
	shown := 0
	_, dashboard := readDashboard(t)
	for _, panel := range dashboard.Panels {
		if panel.Type != "stat" || panel.Title == "p99" { // of nothing
			continue
		}
		shown++
		for _, target := range panel.Targets {
			for _, s := range p.query(t.Context(), t, target.Expr) {
				if math.IsNaN(s.F) {
					t.Errorf("panel %d %q: %s", panel.ID, panel.Title, target.Expr)
				}
			}
		}
	}
	if shown < 5 {
		t.Errorf("%d numbers at the top", shown)
	}
}

// A counter by kind appears with its first event, which increase alone does not see.
func TestDashboardShowsTheFirstEvent(t *testing.T) {
	t.Parallel()
	const of = `{namespace="conversion", job="webhookd", kind="a", path="b"} `
	storage := promqltest.LoadedStorage(t, "load 1s\n  webhookd_converter_panics_total"+of+"_x10 1x10\n  webhookd_guard_rejections_total"+of+"_x10 1x10\n")
	p := &prometheusServer{db: storage, engine: promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)}
	_, dashboard := readDashboard(t)
	for _, panel := range dashboard.Panels {
		if panel.Title != "Panics" && panel.Title != "Refused by the guard" {
			continue
		}
		for second, want := range map[int64]float64{12: 1, 20: 0} {
			result := p.queryAt(t.Context(), t, panel.Targets[0].Expr, time.Unix(second, 0))
			if len(result) != 1 || result[0].F != want {
				t.Errorf("panel %q after %d s: %v, want %g", panel.Title, second, result, want)
			}
		}
	}
}

// wantAlerts checks that exactly the alerts that describe the loaded server are due.
func (p *prometheusServer) wantAlerts(t *testing.T, r chart.Rendering) {
	t.Helper()
	due := map[string]bool{
		"WebhookdReviewsFailing": true, "WebhookdReviewsRejected": true, "WebhookdShedding": true, "WebhookdPanics": true,
		"WebhookdGuardRejections": true, "WebhookdAPIServerConversionsFailing": true,
		"WebhookdKeptValuesTooLarge": true, "WebhookdAnnotationsNearLimit": true, "WebhookdCRDOutdated": true,
		"WebhookdReplicasDiffer": true, "WebhookdCertificateReloadFailing": true, "WebhookdRulesReloadFailing": true,
		"WebhookdConversionsStuck": true,
	}
	for _, a := range alerts(t, r) {
		if got := p.query(t.Context(), t, a.Expr); len(got) > 0 != due[a.Alert] {
			t.Errorf("%s: %v, want it to be due: %t", a.Alert, got, due[a.Alert])
		}
	}
}

// underLoad starts two replicas with other rules, one of which drains, and a fake kube-apiserver.
// It returns them as targets for Prometheus. They end with the test.
func underLoad(t *testing.T) map[string]string {
	t.Helper()
	one, atOne := startReplica(t, "0123456789ab")
	other, atOther := startReplica(t, "ba9876543210")
	other.metrics.Server().Draining()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		pace := time.NewTicker(20 * time.Millisecond)
		defer pace.Stop()
		for n := 0; ctx.Err() == nil; n++ {
			if n%50 == 0 {
				runtime.GC() // a panel has its share
			}
			one.load(ctx)
			other.load(ctx)
			<-pace.C
		}
	})
	t.Cleanup(func() { stop(); wg.Wait() })
	return map[string]string{"one": atOne, "other": atOther, "kube-apiserver": startAPIServer(t)}
}
