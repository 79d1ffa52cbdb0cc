package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// rulesMetrics are the metrics of the rules.
type rulesMetrics struct {
	reloads                  *prometheus.CounterVec
	failing, findings, kinds prometheus.Gauge
	served                   *prometheus.GaugeVec // of one series
}

func newRulesMetrics() rulesMetrics {
	return rulesMetrics{
		reloads: reloads("rules_reloads_total",
			"Reads of changed rules or CRDs, by result: success, or failure if the last good rules are kept."),
		failing: gauge("rules_reload_failing",
			"1 while some or all rules on disk cannot be used, and the last good ones are served."),
		findings: gauge("rules_findings", "Errors that webhookd check finds in the rules on disk."),
		kinds:    gauge("rules_kinds", "Kinds converted by rules."),
		served: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Namespace: namespace,
			Name:      "rules_info",
			Help:      "Always 1; the label identifies the served rules and CRDs.",
		}, []string{"digest"}),
	}
}

func (m *rulesMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.reloads, m.failing, m.findings, m.kinds, m.served}
}

// RulesRead counts a change of the rules. A change with findings has no effect.
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

// RulesServed sets the number of kinds converted by rules, and the digest of the rules and CRDs.
func (m *Metrics) RulesServed(kinds int, digest string) {
	m.rules.kinds.Set(float64(kinds))
	m.rules.served.Reset()
	m.rules.served.WithLabelValues(digest).Set(1)
}
