package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// rulesMetrics are what is known of the rules.
type rulesMetrics struct {
	reloads                  *prometheus.CounterVec
	failing, findings, kinds prometheus.Gauge
	served                   *servedDigest
}

// servedDigest is a gauge of one series at the most.
type servedDigest struct {
	*prometheus.GaugeVec

	mu  sync.Mutex
	now string
}

// set has the series of a digest take the place of the one before.
func (s *servedDigest) set(digest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if digest == s.now {
		return
	}
	s.DeleteLabelValues(s.now)
	s.WithLabelValues(digest).Set(1)
	s.now = digest
}

func newRulesMetrics() rulesMetrics {
	m := rulesMetrics{
		reloads: counters("rules_reloads_total",
			"Changes of the rules or CRDs that were noticed, the first reading included, by result: success, or failure where "+
				"the last good rules stay.", "result"),
		failing: gauge("rules_reload_failing",
			"1 while the rules on disk cannot be used, or not all of them, and the last good ones are served, else 0."),
		findings: gauge("rules_findings", "Findings in the rules on disk; the log has them."),
		kinds:    gauge("rules_kinds", "Kinds that are converted by rules."),
		served: &servedDigest{GaugeVec: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace,
			Name:      "rules_info",
			Help:      "Always 1; the label identifies the rules and CRDs that are served, and is the same in each replica that serves the same.",
		}, []string{"digest"})},
	}
	for _, result := range []string{resultSuccess, resultFailure} {
		m.reloads.WithLabelValues(result)
	}
	return m
}

func (m *rulesMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.reloads, m.failing, m.findings, m.kinds, m.served}
}

// RulesRead counts a change of the rules that was noticed. With findings they are not taken over.
func (m *Metrics) RulesRead(findings int) {
	m.rules.findings.Set(float64(findings))
	if findings > 0 {
		m.rules.failing.Set(1)
		m.rules.reloads.WithLabelValues(resultFailure).Inc()
		return
	}
	m.rules.failing.Set(0)
	m.rules.reloads.WithLabelValues(resultSuccess).Inc()
}

// RulesServed tells how many kinds are converted by rules, and the digest of what they are converted by.
func (m *Metrics) RulesServed(kinds int, digest string) {
	m.rules.kinds.Set(float64(kinds))
	m.rules.served.set(digest)
}
