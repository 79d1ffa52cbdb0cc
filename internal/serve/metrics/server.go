package metrics

import (
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/server/gate"
	"github.com/crdconvert/webhookd/internal/server/listen"
)

// serverMetrics count what the listeners report.
type serverMetrics struct {
	shed, rejected, cutOff, handshakes *prometheus.CounterVec
	panics                             prometheus.Counter
	draining                           prometheus.Gauge
}

func newServerMetrics() serverMetrics {
	m := serverMetrics{
		shed: counters("shed_total",
			"Requests answered 429, by reason: bytes or turns to convert in use, slow, a body that came too slowly while others waited, or memory, the largest while the heap was almost full.", "reason"),
		rejected: counters("rejected_total",
			"Requests answered with an HTTP error other than 429, by code.", "code"),
		cutOff: counters("connections_cut_off_total",
			"Connections closed to make room for others: waiting (nothing was read), fresh (no review answered yet) or idle.", "state"),
		handshakes: counters("tls_handshake_errors_total",
			"TLS handshakes that failed, by reason.", "reason"),
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Namespace: namespace,
			Name:      "handler_panics_total",
			Help:      "Panics outside converters: defects of webhookd.",
		}),
		draining: gauge("draining", "1 while the server shuts down."),
	}
	for _, reason := range gate.ShedReasons() {
		m.shed.WithLabelValues(reason)
	}
	for _, code := range server.RejectedCodes() {
		m.rejected.WithLabelValues(strconv.Itoa(code))
	}
	for _, state := range listen.CutOffStates() {
		m.cutOff.WithLabelValues(state)
	}
	for _, reason := range listen.HandshakeReasons() {
		m.handshakes.WithLabelValues(reason)
	}
	return m
}

func (m *serverMetrics) ofRequests() []prometheus.Collector {
	return []prometheus.Collector{m.shed, m.rejected, m.panics}
}

func (m *serverMetrics) ofListeners() []prometheus.Collector {
	return []prometheus.Collector{m.cutOff, m.handshakes, m.draining}
}

func (m *serverMetrics) reject(code int) { m.rejected.WithLabelValues(strconv.Itoa(code)).Inc() }

// reviewRejected counts a body that was not a review; the webhook handler answers it with 400.
func (m *serverMetrics) reviewRejected() { m.reject(http.StatusBadRequest) }

// Server returns the hooks that count what the listeners report.
func (m *Metrics) Server() server.Hooks {
	return server.Hooks{
		Shed:            func(reason string) { m.server.shed.WithLabelValues(reason).Inc() },
		Rejected:        m.server.reject,
		CutOff:          func(state string) { m.server.cutOff.WithLabelValues(state).Inc() },
		Panicked:        func(string, []byte) { m.server.panics.Inc() },
		HandshakeFailed: func(reason, _ string) { m.server.handshakes.WithLabelValues(reason).Inc() },
		Draining:        func() { m.server.draining.Set(1) },
	}
}

// WatchServer shows what is in progress, and the open connections. Each scrape calls stats often.
func (m *Metrics) WatchServer(stats func() server.Stats) {
	m.WatchRequests(stats)
	m.watch("connections", "Open connections of the webhook listener.", func() int { return stats().Connections })
	m.watch("connections_limit", "Connections that the webhook listener may have open.", func() int { return stats().ConnectionsLimit })
}

// WatchRequests shows what is in progress. Each scrape calls stats often.
func (m *Metrics) WatchRequests(stats func() server.Stats) {
	m.watch("requests_in_flight", "Reviews in progress, including waiting ones.", func() int { return stats().Requests })
	m.watch("requests_waiting", "Reviews that wait for their share of memory or their turn.", func() int { return stats().Waiting })
	m.watch("request_bytes_in_flight",
		"Bytes that reviews in progress have reserved: bodies, decoded objects, answers.", func() int { return int(stats().Bytes) })
	m.watch("request_bytes_in_flight_limit",
		"Bytes that bodies of reviews and connections may take together.", func() int { return int(stats().BytesLimit) })
}

// watch adds a gauge that each scrape reads.
func (m *Metrics) watch(name, help string, value func() int) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help},
		func() float64 { return float64(value()) }))
}
