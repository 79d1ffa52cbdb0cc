package dashboard_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/scrape"
	"github.com/prometheus/prometheus/tsdb"
)

// scrapeInterval is short, so that a short test has many samples.
const scrapeInterval = 500 * time.Millisecond

// A scraper is Prometheus' own scraper, database and engine in this process.
type scraper struct {
	db     *tsdb.DB
	engine *promql.Engine
	found  chan map[string][]*targetgroup.Group
}

func startScraper(t *testing.T) *scraper {
	t.Helper()
	db, err := tsdb.Open(t.TempDir(), nil, nil, tsdb.DefaultOptions(), nil)
	if err != nil {
		t.Fatal(err)
	}
	manager, err := scrape.NewManager(&scrape.Options{DiscoveryReloadInterval: model.Duration(10 * time.Millisecond)}, nil, nil, db, nil, prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{
		"global":         map[string]any{"scrape_interval": scrapeInterval.String(), "scrape_timeout": scrapeInterval.String()},
		"scrape_configs": []map[string]any{{"job_name": release}, {"job_name": "apiserver"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(string(text), nil) // JSON is YAML as well
	if err != nil {
		t.Fatal(err)
	}
	if err := manager.ApplyConfig(loaded); err != nil {
		t.Fatal(err)
	}
	s := &scraper{db: db, found: make(chan map[string][]*targetgroup.Group)}
	s.engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000_000, Timeout: time.Minute})
	ended := make(chan error, 1)
	go func() { ended <- manager.Run(s.found) }()
	t.Cleanup(func() {
		manager.Stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// watch scrapes kube-apiserver's client at an address, and replicas.
func (s *scraper) watch(apiServer string, replicas ...*replica) {
	targets := func(address string, labels model.LabelSet) *targetgroup.Group {
		return &targetgroup.Group{Source: address, Targets: []model.LabelSet{{model.AddressLabel: model.LabelValue(address)}}, Labels: labels}
	}
	found := map[string][]*targetgroup.Group{"apiserver": {targets(apiServer, model.LabelSet{"namespace": "default"})}}
	for _, r := range replicas {
		found[release] = append(found[release], targets(r.AdminAddr, model.LabelSet{"pod": model.LabelValue(r.pod), "namespace": namespace}))
	}
	s.found <- found
}
