// Package metrics counts what the other packages report through their hooks, and answers /metrics.
//
// Each [Metrics] has a registry of its own. Labels have only values of the converter registry and of
// fixed sets, never what a client made up, so the number of series is bounded by what is compiled in
// or loaded.
package metrics

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/crdconvert/webhookd/internal/review"
)

// Build says what is running, for webhookd_build_info.
type Build struct {
	Version   string
	Revision  string
	GoVersion string
}

// Metrics implements the hooks of review, tlsreload and server. Make one with [New]; its methods are
// safe for concurrent use, those with Watch in their name are called once each.
type Metrics struct {
	registry *prometheus.Registry
	reviews  reviewVectors
	kept     keptMetrics
	guard    *prometheus.CounterVec
	panics   *prometheus.CounterVec
	stuck    *prometheus.GaugeVec
	server   serverMetrics
	tls      tlsMetrics
	rules    rulesMetrics
	config   *prometheus.CounterVec
	rejected prometheus.Counter // bodies that were no review

	// What a review needs, found once for each pair. The map is replaced whole, under growing.
	pairs   atomic.Pointer[map[review.Pair]*pairMetrics]
	growing sync.Mutex
}

// New returns metrics in a registry of their own, with those of the process and the Go runtime.
func New(build Build) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		reviews:  newReviewVectors(),
		kept:     newKeptMetrics(),
		guard: counters("guard_rejections_total",
			"Objects whose converter changed what it must leave alone, by the path it changed.", "kind", "path"),
		panics: counters("converter_panics_total",
			"Panics of converters. Each failed its object; the log has the stack.", "kind", "from", "to"),
		stuck: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace,
			Name:      "stuck_conversions",
			Help:      "Conversions that have not returned by their deadline and still run; their reviews were answered Failed.",
		}, []string{"kind"}),
		server: newServerMetrics(),
		tls:    newTLSMetrics(),
		rules:  newRulesMetrics(),
		config: counters("config_reloads_total",
			"Changes of the configuration file that were noticed while running, by result: success or failure.", "result"),
	}
	m.pairs.Store(&map[review.Pair]*pairMetrics{})
	for _, result := range []string{resultSuccess, resultFailure} {
		m.config.WithLabelValues(result)
	}
	m.rejected = m.reviews.reviews.WithLabelValues(None, None, None, reviewRejected)
	m.registry.MustRegister(
		m.guard, m.panics, m.stuck, m.config, buildInfo(build),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.registry.MustRegister(m.reviews.collectors()...)
	m.registry.MustRegister(m.kept.collectors()...)
	m.registry.MustRegister(m.server.collectors()...)
	m.registry.MustRegister(m.tls.collectors()...)
	m.registry.MustRegister(m.rules.collectors()...)
	return m
}

// Handler answers a scrape in the format that the client asks for, OpenMetrics and native histograms
// included.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// ConfigReloaded counts a change of the configuration file that was noticed; err says why it could
// not be taken over.
func (m *Metrics) ConfigReloaded(err error) {
	result := resultSuccess
	if err != nil {
		result = resultFailure
	}
	m.config.WithLabelValues(result).Inc()
}

// WatchLog counts the lines that the log had to drop, as dropped returns them.
func (m *Metrics) WatchLog(dropped func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: namespace,
		Name:      "log_lines_dropped_total",
		Help:      "Log lines that were dropped because nobody read them fast enough, or writing failed.",
	}, func() float64 { return float64(dropped()) }))
}

func buildInfo(b Build) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace:   namespace,
		Name:        "build_info",
		Help:        "Always 1; the labels say what is running.",
		ConstLabels: prometheus.Labels{"version": b.Version, "revision": b.Revision, "goversion": b.GoVersion},
	})
	g.Set(1)
	return g
}

const (
	namespace = "webhookd"

	resultSuccess = "success"
	resultFailure = "failure"
)

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help})
}
