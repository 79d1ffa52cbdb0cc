package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/internal/review"
)

// keptMetrics are what is known of kept values, and of what may go wrong with them.
type keptMetrics struct {
	bytes                *prometheus.HistogramVec
	largest              *largestAnnotations
	tooLarge, costLimits *prometheus.CounterVec
}

func newKeptMetrics() keptMetrics {
	return keptMetrics{
		bytes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "kept_bytes", Buckets: keptBuckets(),
			Help: "Size of the annotations in which the result of a conversion keeps values that its version has no place for.",
		}, []string{"kind"}),
		largest: &largestAnnotations{
			desc: prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "largest_annotations_bytes"),
				"Size of all annotations of the largest object with kept values that was converted in the last hour. The API "+
					"server takes 262144 bytes.", []string{"kind"}, nil),
			kinds: map[string]*recentMaximum{},
		},
		tooLarge: counters("kept_too_large_total",
			"Objects that could not be converted because what they had to keep did not fit into their annotations.", "kind", "from", "to"),
		costLimits: counters("cost_limits_reached_total",
			"Objects in whose conversion an expression of the rules reached its cost limit.", "kind", "from", "to"),
	}
}

// keptBuckets go from one short value to all that an object's annotations may have.
func keptBuckets() []float64 { return prometheus.ExponentialBuckets(256, 4, 6) }

func (k *keptMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{k.bytes, k.largest, k.tooLarge, k.costLimits}
}

// pairKept are the metrics of one pair.
type pairKept struct {
	bytes                prometheus.Observer
	largest              *recentMaximum
	tooLarge, costLimits prometheus.Counter
}

// of makes the series of a pair. What is not registered keeps nothing.
func (k *keptMetrics) of(p review.Pair) *pairKept {
	if p.Kind == review.Unknown {
		return nil
	}
	return &pairKept{
		bytes:      k.bytes.WithLabelValues(p.Kind),
		largest:    k.largest.of(p.Kind),
		tooLarge:   k.tooLarge.WithLabelValues(p.Kind, p.From, p.To),
		costLimits: k.costLimits.WithLabelValues(p.Kind, p.From, p.To),
	}
}

func (k *pairKept) observe(o *review.Objects) {
	if k == nil {
		return
	}
	if o.TooLarge > 0 {
		k.tooLarge.Add(float64(o.TooLarge))
	}
	if o.CostLimited > 0 {
		k.costLimits.Add(float64(o.CostLimited))
	}
	if len(o.Kept) == 0 {
		return
	}
	largest := 0
	for _, kept := range o.Kept {
		k.bytes.Observe(float64(kept.Bytes))
		largest = max(largest, kept.Annotations)
	}
	k.largest.observe(largest)
}

// largestAnnotations has the largest object of each kind.
type largestAnnotations struct {
	desc *prometheus.Desc

	mu    sync.Mutex
	kinds map[string]*recentMaximum
}

func (l *largestAnnotations) of(kind string) *recentMaximum {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kinds[kind] == nil {
		l.kinds[kind] = &recentMaximum{}
	}
	return l.kinds[kind]
}

// Describe implements prometheus.Collector.
func (l *largestAnnotations) Describe(descs chan<- *prometheus.Desc) { descs <- l.desc }

// Collect implements prometheus.Collector.
func (l *largestAnnotations) Collect(metrics chan<- prometheus.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for kind, m := range l.kinds {
		metrics <- prometheus.MustNewConstMetric(l.desc, prometheus.GaugeValue, float64(m.value()), kind)
	}
}

// recent is how long a recentMaximum looks back at most. At least it is half as long.
const recent = time.Hour

// A recentMaximum is the largest value of the last hour: a gauge of the largest ever would never forget an object that was
// made smaller.
type recentMaximum struct {
	mu              sync.Mutex
	since           time.Time // when the current half began
	current, before int       // of this half of the time, and of the one before
}

func (m *recentMaximum) observe(value int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn()
	m.current = max(m.current, value)
}

func (m *recentMaximum) value() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.turn()
	return max(m.current, m.before)
}

// turn begins another half if it is time. Callers hold mu.
func (m *recentMaximum) turn() {
	now := time.Now()
	switch age := now.Sub(m.since); {
	case age >= recent:
		m.current, m.before, m.since = 0, 0, now
	case age >= recent/2:
		m.current, m.before, m.since = 0, m.current, m.since.Add(recent/2)
	}
}

// WatchCRDs shows of which kinds the copy of the CRD is older than the cluster's, as outdated says it of each kind that is
// served at each scrape.
func (m *Metrics) WatchCRDs(outdated func() map[string]bool) {
	m.registry.MustRegister(&crdCollector{
		outdated: outdated,
		desc: prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "crd_outdated"),
			"1 since an object had fields that webhookd's copy of the CRD has in no version, else 0; new schemas of the kind reset it.",
			[]string{"kind"}, nil),
	})
}

type crdCollector struct {
	outdated func() map[string]bool
	desc     *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (c *crdCollector) Describe(descs chan<- *prometheus.Desc) { descs <- c.desc }

// Collect implements prometheus.Collector.
func (c *crdCollector) Collect(metrics chan<- prometheus.Metric) {
	for kind, is := range c.outdated() {
		value := 0.0
		if is {
			value = 1
		}
		metrics <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, value, kind)
	}
}
