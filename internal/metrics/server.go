package metrics

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/internal/server"
)

// serverMetrics are what the listeners report.
type serverMetrics struct {
	shed, rejected, cutOff, handshakes *prometheus.CounterVec
	panics                             prometheus.Counter
	draining                           prometheus.Gauge
}

func newServerMetrics() serverMetrics {
	m := serverMetrics{
		shed: counters("shed_total",
			"Requests answered 429, by the reason: bytes or requests in flight, or slow where their bodies came too slowly while others waited.", "reason"),
		rejected: counters("rejected_total",
			"Requests answered with another HTTP error instead of a review, by code.", "code"),
		cutOff: counters("connections_cut_off_total",
			"Connections closed to make room for others, by what their clients had shown: silent, greeting (its handshake was not done), fresh (never had a review answered), resting or bringing (had one, and waited for their next request or were sending it).", "standing"),
		handshakes: counters("tls_handshake_errors_total",
			"TLS handshakes that failed, by reason: certificate_refused where the client does not trust the certificate that is served; "+
				"closed, reset and timeout are clients that went away.", "reason"),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace,
			Name:      "handler_panics_total",
			Help:      "Panics outside converters. Each is a defect of webhookd; the log has the stack.",
		}),
		draining: gauge("draining", "1 while the server stops and asks its clients to go elsewhere, else 0."),
	}
	for _, reason := range []string{server.ShedBytes, server.ShedRequests, server.ShedSlow} {
		m.shed.WithLabelValues(reason)
	}
	for _, standing := range server.CutOffStandings() {
		m.cutOff.WithLabelValues(standing)
	}
	for _, reason := range server.HandshakeReasons() {
		m.handshakes.WithLabelValues(reason)
	}
	return m
}

func (m *serverMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.shed, m.rejected, m.cutOff, m.handshakes, m.panics, m.draining}
}

func (m *serverMetrics) reject(code int) { m.rejected.WithLabelValues(strconv.Itoa(code)).Inc() }

// reviewRejected counts a body that was no review, which the webhook handler answers 400.
func (m *serverMetrics) reviewRejected() { m.reject(http.StatusBadRequest) }

// Server returns the hooks that count what the listeners report.
func (m *Metrics) Server() server.Hooks {
	return server.Hooks{
		Shed:            func(reason string) { m.server.shed.WithLabelValues(reason).Inc() },
		Rejected:        m.server.reject,
		CutOff:          func(standing string) { m.server.cutOff.WithLabelValues(standing).Inc() },
		Panicked:        func(string, []byte) { m.server.panics.Inc() },
		HandshakeFailed: func(reason, _ string) { m.server.handshakes.WithLabelValues(reason).Inc() },
		Draining:        func() { m.server.draining.Set(1) },
	}
}

// WatchServer shows what is in progress, as stats returns it at each scrape.
func (m *Metrics) WatchServer(stats func() server.Stats) {
	describe := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, nil, nil)
	}
	m.registry.MustRegister(&statsCollector{
		stats:            stats,
		requests:         describe("requests_in_flight", "Reviews in progress, those that wait for their share of memory included."),
		waiting:          describe("requests_waiting", "Reviews in progress that wait for their share of memory."),
		bytes:            describe("request_bytes_in_flight", "What has come of the bodies of the reviews in progress, and the memory that those with very many arrays and objects need beside."),
		bytesLimit:       describe("request_bytes_in_flight_limit", "Size that the bodies of the reviews in progress and the open connections may have together."),
		connections:      describe("connections", "Open connections of the webhook listener."),
		connectionsLimit: describe("connections_limit", "Connections that the webhook listener may have open."),
	})
}

// statsCollector takes all its gauges from one snapshot.
type statsCollector struct {
	stats                                func() server.Stats
	requests, waiting, bytes, bytesLimit *prometheus.Desc
	connections, connectionsLimit        *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *statsCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.requests, c.waiting, c.bytes, c.bytesLimit, c.connections, c.connectionsLimit} {
		descs <- d
	}
}

// Collect implements prometheus.Collector.
func (c *statsCollector) Collect(metrics chan<- prometheus.Metric) {
	s := c.stats()
	send := func(d *prometheus.Desc, value float64) {
		metrics <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value)
	}
	send(c.requests, float64(s.Requests))
	send(c.waiting, float64(s.Waiting))
	send(c.bytes, float64(s.Bytes))
	send(c.bytesLimit, float64(s.BytesLimit))
	send(c.connections, float64(s.Connections))
	send(c.connectionsLimit, float64(s.ConnectionsLimit))
}
