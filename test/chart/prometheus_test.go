package chart_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/crdconvert/webhookd/test/chart"
)

// A prometheusServer is Prometheus' own scraper, database and engine in this process.
type prometheusServer struct {
	db     storage.Queryable
	engine *promql.Engine
}

// startPrometheus scrapes targets, a map from pod to host:port, as the ServiceMonitor of a
// rendering says, but far more often.
func startPrometheus(t *testing.T, r chart.Rendering, native bool, targets map[string]string) *prometheusServer {
	t.Helper()
	db, err := tsdb.Open(t.TempDir(), nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := scrape.NewManager(nil, nil, nil, db, nil, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(scrapeConfig(t, r, native), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := manager.ApplyConfig(loaded); err != nil {
		t.Fatal(err)
	}
	groups := make([]*targetgroup.Group, 0, len(targets))
	for pod, address := range targets {
		groups = append(groups, &targetgroup.Group{
			Source: pod, Targets: []model.LabelSet{{model.AddressLabel: model.LabelValue(address)}},
			Labels: model.LabelSet{"pod": model.LabelValue(pod), "namespace": chart.Namespace},
		})
	}
	found, ended := make(chan map[string][]*targetgroup.Group, 1), make(chan error, 1)
	found <- map[string][]*targetgroup.Group{"webhookd": groups}
	go func() { ended <- manager.Run(found) }()
	t.Cleanup(func() {
		manager.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return &prometheusServer{db: db, engine: promqltest.NewTestEngine(t, false, 0, promqltest.DefaultMaxSamplesPerQuery)}
}

// scrapeConfig returns the configuration that the Prometheus Operator derives from the
// ServiceMonitor, with or without native histograms.
func scrapeConfig(t *testing.T, r chart.Rendering, native bool) string {
	t.Helper()
	var monitor *monitoringv1.ServiceMonitor
	for _, document := range r.Documents() {
		if m, is := decode(t, document).(*monitoringv1.ServiceMonitor); is {
			monitor = m
		}
	}
	if monitor == nil {
		t.Fatal("no ServiceMonitor")
	}
	relabelings := make([]map[string]any, 0, 1)
	for _, c := range monitor.Spec.Endpoints[0].RelabelConfigs {
		relabelings = append(relabelings, map[string]any{"target_label": c.TargetLabel, "replacement": c.Replacement, "action": c.Action})
	}
	classic := monitor.Spec.ScrapeClassicHistograms
	text, err := json.Marshal(map[string]any{
		"global": map[string]any{"scrape_native_histograms": native, "scrape_interval": "250ms", "scrape_timeout": "250ms"},
		"scrape_configs": []map[string]any{{
			"job_name": "webhookd", "metrics_path": monitor.Spec.Endpoints[0].Path, "relabel_configs": relabelings,
			"always_scrape_classic_histograms": classic != nil && *classic,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text) // which is YAML as well
}

// query evaluates an expression now, with the variables of the dashboard set for one release.
func (p *prometheusServer) query(ctx context.Context, t *testing.T, expression string) promql.Vector {
	t.Helper()
	return p.queryAt(ctx, t, expression, time.Now())
}

func (p *prometheusServer) queryAt(ctx context.Context, t *testing.T, expression string, at time.Time) promql.Vector {
	t.Helper()
	expression = strings.NewReplacer("$namespace", chart.Namespace, "$job", chart.ReleaseName, "$__rate_interval", "5s").Replace(expression)
	q, err := p.engine.NewInstantQuery(ctx, p.db, nil, expression, at)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	defer q.Close()
	vector, err := q.Exec(ctx).Vector()
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return slices.Clone(vector)
}

// await waits until all targets have been scraped often enough.
func (p *prometheusServer) await(t *testing.T, targets map[string]string, scrapes float64) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		enough := map[string]bool{}
		for _, s := range p.query(t.Context(), t, "sum_over_time(up[5m])") {
			enough[s.Metric.Get("pod")] = s.F >= scrapes
		}
		if len(enough) == len(targets) && !slices.Contains(slices.Collect(maps.Values(enough)), false) {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("targets are not scraped")
		case <-ticker.C:
		}
	}
}
