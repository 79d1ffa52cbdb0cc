// Package metrics counts the events of other packages through their hooks, and answers /metrics.
//
// Each [Metrics] has its own registry. Label values come only from the converter registry and from
// fixed sets, never from a client, so the served kinds bound the number of series.
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

// Build identifies the running program, for webhookd_build_info.
type Build struct {
	Version   string
	Revision  string
	GoVersion string
}

// Metrics implements the hooks of review, tlsreload and server. Make one with [New]. Its methods
// are safe for concurrent use; call each Watch method at most once.
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
	rejected prometheus.Counter // bodies that were not a review

	// The metrics for each pair. To add a pair, hold growing and replace the whole map.
	pairs   atomic.Pointer[map[review.Pair]*pairMetrics]
	growing sync.Mutex
}

// New returns Metrics with their own registry, which includes the metrics of the process and the Go
// runtime.
func New(build Build) *Metrics {
	m := NewEmbedded()
	m.registry.MustRegister(
		buildInfo(build),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.registry.MustRegister(m.server.ofListeners()...)
	m.registry.MustRegister(m.tls.collectors()...)
	m.registry.MustRegister(m.rules.collectors()...)
	return m
}

// NewEmbedded returns Metrics for a handler in a server that is not webhookd's: they have only what
// reviews and requests do.
func NewEmbedded() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		reviews:  newReviewVectors(),
		kept:     newKeptMetrics(),
		guard: counters("guard_rejections_total",
			"Objects whose converter changed a field that it must not change, by its path.", "kind", "path"),
		panics: counters("converter_panics_total",
			"Panics of converters. Each failed its object.", "kind", "from", "to"),
		stuck: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace,
			Name:      "stuck_conversions",
			Help:      "Conversions still running after their deadline. Their reviews have failed.",
		}, []string{"kind"}),
		server: newServerMetrics(),
		tls:    newTLSMetrics(),
		rules:  newRulesMetrics(),
	}
	m.pairs.Store(&map[review.Pair]*pairMetrics{})
	m.rejected = m.reviews.reviews.WithLabelValues(None, None, None, reviewRejected)
	m.registry.MustRegister(m.guard, m.panics, m.stuck)
	m.registry.MustRegister(m.reviews.collectors()...)
	m.registry.MustRegister(m.kept.collectors()...)
	m.registry.MustRegister(m.server.ofRequests()...)
	return m
}

// Collector returns all metrics as one collector.
func (m *Metrics) Collector() prometheus.Collector { return m.registry }

// Handler answers a scrape in the format that the client requests, including OpenMetrics and native
// histograms.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
}

// WatchLog shows the number of lines that the log dropped, as dropped returns it.
func (m *Metrics) WatchLog(dropped func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Namespace: namespace,
		Name:      "log_lines_dropped_total",
		Help:      "Log lines dropped: the log was not read fast enough, or writing failed.",
	}, func() float64 { return float64(dropped()) }))
}

func buildInfo(b Build) prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Namespace:   namespace,
		Name:        "build_info",
		Help:        "Always 1; the labels identify the build.",
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

// reloads returns a counter by result, with both series from the start.
func reloads(name, help string) *prometheus.CounterVec {
	c := counters(name, help, "result")
	c.WithLabelValues(resultSuccess)
	c.WithLabelValues(resultFailure)
	return c
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

// A collector has gauges that each scrape computes.
type collector struct {
	descs   []*prometheus.Desc
	collect func(send sendGauge)
}

type sendGauge func(d *prometheus.Desc, value float64, labels ...string)

// Describe implements prometheus.Collector.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		descs <- d
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	c.collect(func(d *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	})
}
