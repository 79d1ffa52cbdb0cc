package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/internal/tlsreload"
)

// tlsMetrics are the metrics of the certificate.
type tlsMetrics struct {
	notBefore, notAfter, loaded prometheus.Gauge
	reloads                     *prometheus.CounterVec
	failing                     prometheus.Gauge
}

func newTLSMetrics() tlsMetrics {
	return tlsMetrics{
		notBefore: gauge("certificate_not_before_timestamp_seconds", "When the served certificate becomes valid, in Unix time."),
		notAfter:  gauge("certificate_not_after_timestamp_seconds", "When the served certificate expires, in Unix time."),
		loaded: gauge("certificate_loaded_timestamp_seconds",
			"When the served certificate was read from disk, in Unix time."),
		reloads: reloads("certificate_reloads_total",
			"Reads of changed certificate files, by result: success or failure."),
		failing: gauge("certificate_reload_failing",
			"1 while the files on disk cannot be used, and the last good certificate is served."),
	}
}

func (m *tlsMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.notBefore, m.notAfter, m.loaded, m.reloads, m.failing}
}

// TLS returns the hooks that follow the certificate.
func (m *Metrics) TLS() tlsreload.Hooks {
	return tlsreload.Hooks{
		Reloaded: func(e tlsreload.Event) {
			m.tls.notBefore.Set(unixSeconds(e.NotBefore))
			m.tls.notAfter.Set(unixSeconds(e.NotAfter))
			m.tls.loaded.SetToCurrentTime()
			m.tls.reloads.WithLabelValues(resultSuccess).Inc()
		},
		ClientCAReloaded: func(int) { m.tls.reloads.WithLabelValues(resultSuccess).Inc() },
		Failed: func(error) {
			m.tls.failing.Set(1)
			m.tls.reloads.WithLabelValues(resultFailure).Inc()
		},
		Recovered: func() { m.tls.failing.Set(0) },
	}
}

func unixSeconds(t time.Time) float64 { return float64(t.Unix()) }
