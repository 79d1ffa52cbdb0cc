package metrics

import (
	"context"
	"maps"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/crdconvert/webhookd/internal/review"
)

// None is the value of the labels kind, from and to for a review in which no object needed a
// conversion, and for a body that was not a review.
const None = "none"

const (
	reviewSuccess  = "success"
	reviewFailed   = "failed"
	reviewRejected = "rejected"

	objectConverted = "converted"
	objectFailed    = "failed"
)

// durationBuckets resolve typical conversion times, 50 us to 1 s, and end where kube-apiserver
// stops waiting.
func durationBuckets() []float64 {
	return []float64{
		50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 100e-3, 200e-3, 500e-3, 1, 5, 30,
	}
}

// sizeBuckets range from one small object to the largest body.
func sizeBuckets() []float64 { return prometheus.ExponentialBuckets(1<<10, 4, 9) }

// reviewVectors are the metrics of reviews and objects.
type reviewVectors struct {
	reviews, objects, withKept    *prometheus.CounterVec
	reviewDuration, objectSeconds *prometheus.HistogramVec
	bytesIn, bytesOut             prometheus.Histogram
}

func newReviewVectors() reviewVectors {
	durations := func(name, help string, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: name, Help: help, Buckets: durationBuckets(),
			// For servers that scrape native histograms; costs 15 ns each.
			NativeHistogramBucketFactor:     1.1,
			NativeHistogramMaxBucketNumber:  100,
			NativeHistogramMinResetDuration: time.Hour,
		}, labels)
	}
	sizes := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{
			Namespace: namespace, Name: name, Help: help, Buckets: sizeBuckets(),
		})
	}
	return reviewVectors{
		reviews: counters("reviews_total",
			"Answered request bodies, by result: success, failed, or rejected if the body was not a review.", "kind", "from", "to", "result"),
		objects: counters("objects_total",
			"Objects that needed a conversion, by result: converted or failed.", "kind", "from", "to", "result"),
		withKept: counters("objects_with_kept_values_total",
			"Objects that got kept values in their annotations.",
			"kind", "from", "to"),
		reviewDuration: durations("review_duration_seconds",
			"Time from the complete request body to the complete answer.", "kind", "from", "to"),
		objectSeconds: durations("object_duration_seconds",
			"Time to convert and check one object.", "kind", "from", "to"),
		bytesIn:  sizes("request_size_bytes", "Size of the request bodies that were read."),
		bytesOut: sizes("response_size_bytes", "Size of the answers to reviews."),
	}
}

func (v *reviewVectors) collectors() []prometheus.Collector {
	return []prometheus.Collector{v.reviews, v.objects, v.withKept, v.reviewDuration, v.objectSeconds, v.bytesIn, v.bytesOut}
}

// pairMetrics are the metrics of one pair.
type pairMetrics struct {
	success, failed                prometheus.Counter
	converted, unconverted         prometheus.Counter
	withKept                       prometheus.Counter
	reviewDuration, objectDuration prometheus.Observer
	kept                           *pairKept // nil if nothing can be kept
}

// pair returns the metrics of p. It takes a lock only the first time.
func (m *Metrics) pair(p review.Pair) *pairMetrics {
	if found := (*m.pairs.Load())[p]; found != nil {
		return found
	}
	return m.addPair(p)
}

func (m *Metrics) addPair(p review.Pair) *pairMetrics {
	m.growing.Lock()
	defer m.growing.Unlock()
	old := *m.pairs.Load()
	if found := old[p]; found != nil {
		return found
	}
	added := m.reviews.of(p)
	if added.objectDuration != nil {
		added.kept = m.kept.of(p)
	}
	larger := make(map[review.Pair]*pairMetrics, len(old)+1)
	maps.Copy(larger, old)
	larger[p] = added
	m.pairs.Store(&larger)
	return added
}

// of makes the series of p, so each result has a value from the first review on. A review that
// converted nothing has no series for objects.
func (v *reviewVectors) of(p review.Pair) *pairMetrics {
	kind, from, to := p.Kind, p.From, p.To
	converts := p != review.Pair{}
	if !converts {
		kind, from, to = None, None, None
	}
	found := &pairMetrics{
		success:        v.reviews.WithLabelValues(kind, from, to, reviewSuccess),
		failed:         v.reviews.WithLabelValues(kind, from, to, reviewFailed),
		reviewDuration: v.reviewDuration.WithLabelValues(kind, from, to),
	}
	if converts {
		found.converted = v.objects.WithLabelValues(kind, from, to, objectConverted)
		found.unconverted = v.objects.WithLabelValues(kind, from, to, objectFailed)
		found.withKept = v.withKept.WithLabelValues(kind, from, to)
		found.objectDuration = v.objectSeconds.WithLabelValues(kind, from, to)
	}
	return found
}

// Review returns the hooks that count reviews and objects.
func (m *Metrics) Review() review.Hooks {
	return review.Hooks{
		ReviewDone:   m.reviewDone,
		ObjectsDone:  m.objectsDone,
		GuardRefused: func(p review.Pair, path string) { m.guard.WithLabelValues(p.Kind, knownPath(path)).Inc() },
		Panicked: func(_ context.Context, p review.Panic) {
			m.panics.WithLabelValues(p.Pair.Kind, p.Pair.From, p.Pair.To).Inc()
		},
		Stuck: func(kind string, more int) { m.stuck.WithLabelValues(kind).Add(float64(more)) },
	}
}

func (m *Metrics) reviewDone(_ context.Context, r review.Result) {
	m.reviews.bytesIn.Observe(float64(r.BytesIn))
	if r.Rejected != nil {
		m.server.reviewRejected()
		m.rejected.Inc()
		return
	}
	p := m.pair(r.Pair)
	if r.Message == "" {
		p.success.Inc()
	} else {
		p.failed.Inc()
	}
	p.reviewDuration.Observe(r.Duration.Seconds())
	m.reviews.bytesOut.Observe(float64(r.BytesOut))
}

func (m *Metrics) objectsDone(o review.Objects) {
	p := m.pair(o.Pair)
	if o.Failed > 0 {
		p.unconverted.Add(float64(o.Failed))
	}
	if o.WithKept > 0 {
		p.withKept.Add(float64(o.WithKept))
	}
	if converted := len(o.Durations) - o.Failed; converted > 0 {
		p.converted.Add(float64(converted))
	}
	p.kept.observe(&o)
	for _, d := range o.Durations {
		p.objectDuration.Observe(d.Seconds())
	}
}

// otherPath is the label of all paths that knownPath does not list.
const otherPath = "other"

// knownPath returns a path of ObjectMeta (k8s.io/apimachinery/pkg/apis/meta/v1) unchanged, and
// otherPath for any other, which an object or a converter may have invented.
func knownPath(path string) string {
	switch path {
	case ".kind", ".metadata",
		".metadata.name", ".metadata.generateName", ".metadata.namespace", ".metadata.selfLink", ".metadata.uid",
		".metadata.resourceVersion", ".metadata.generation", ".metadata.creationTimestamp",
		".metadata.deletionTimestamp", ".metadata.deletionGracePeriodSeconds",
		".metadata.ownerReferences", ".metadata.finalizers", ".metadata.managedFields":
		return path
	}
	return otherPath
}
