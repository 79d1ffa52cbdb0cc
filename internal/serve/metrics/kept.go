package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/internal/review"
)

// keptMetrics are the metrics of kept values and their limits.
type keptMetrics struct {
	bytes                *prometheus.HistogramVec
	largest              *largestAnnotations
	tooLarge, costLimits *prometheus.CounterVec
}

func newKeptMetrics() keptMetrics {
	return keptMetrics{
		bytes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "kept_bytes", Buckets: keptBuckets(),
			Help: "Size of the annotations with kept values of a converted object.",
		}, []string{"kind"}),
		largest: &largestAnnotations{kinds: map[string]*recentMaximum{}},
		tooLarge: counters("kept_too_large_total",
			"Objects that failed because their kept values did not fit into annotations.", "kind", "from", "to"),
		costLimits: counters("cost_limits_reached_total",
			"Objects that reached the cost limit of an expression.", "kind", "from", "to"),
	}
}

// keptBuckets range from one short value to the largest annotations of an object.
func keptBuckets() []float64 { return prometheus.ExponentialBuckets(256, 4, 6) }

func (k *keptMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{k.bytes, k.largest.collector(), k.tooLarge, k.costLimits}
}

// pairKept has the metrics of one pair.
type pairKept struct {
	bytes                prometheus.Observer
	largest              *recentMaximum
	tooLarge, costLimits prometheus.Counter
}

// of makes the series of a pair. An unknown kind has none, because it keeps nothing.
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

func (l *largestAnnotations) collector() prometheus.Collector {
	desc := describe("largest_annotations_bytes",
		"Size of all annotations of the largest object with kept values in the last hour. At most 262144 bytes are allowed.", "kind")
	return &collector{descs: []*prometheus.Desc{desc}, collect: func(send sendGauge) {
		l.mu.Lock()
		defer l.mu.Unlock()
		for kind, m := range l.kinds {
			send(desc, float64(m.value()), kind)
		}
	}}
}

// recent is how far a recentMaximum looks back at most; at least it looks back half as far.
const recent = time.Hour

// A recentMaximum is the largest value of the last hour. An all-time maximum would never forget an
// object that became smaller.
type recentMaximum struct {
	mu              sync.Mutex
	since           time.Time // start of the current half
	current, before int       // maximum of this half and of the previous one
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

// turn starts a new half when the current one is over. Callers hold mu.
func (m *recentMaximum) turn() {
	now := time.Now()
	switch age := now.Sub(m.since); {
	case age >= recent:
		m.current, m.before, m.since = 0, 0, now
	case age >= recent/2:
		m.current, m.before, m.since = 0, m.current, m.since.Add(recent/2)
	}
}

// WatchCRDs shows which kinds have a copy of the CRD that is older than the cluster's. Each scrape
// calls outdated, which returns an entry for each served kind.
func (m *Metrics) WatchCRDs(outdated func() map[string]bool) {
	desc := describe("crd_outdated",
		"1 since an object had fields that webhookd's copy of the CRD lacks, until the kind gets new schemas.",
		"kind")
	m.registry.MustRegister(&collector{descs: []*prometheus.Desc{desc}, collect: func(send sendGauge) {
		for kind, is := range outdated() {
			value := 0.0
			if is {
				value = 1
			}
			send(desc, value, kind)
		}
	}})
}
