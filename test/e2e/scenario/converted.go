package scenario

import (
	"testing"

	"github.com/crdconvert/webhookd/test/helpers/process"
)

// Scraped is a webhookd whose metrics can be read.
type Scraped interface {
	Metrics(t *testing.T) process.Metrics
}

// Metrics implements Scraped: those of all replicas that run.
func (r *Replicas) Metrics(t *testing.T) process.Metrics {
	t.Helper()
	all := process.Metrics{}
	for _, p := range r.Processes {
		if !p.Alive() {
			continue
		}
		for series, value := range p.Metrics(t) {
			all[series] += value
		}
	}
	return all
}

// Converted returns how many objects of a kind, KIND.GROUP, w has converted.
func Converted(t *testing.T, w Scraped, kind string) float64 {
	t.Helper()
	return w.Metrics(t).Sum("webhookd_objects_total", "kind", kind, "result", "converted")
}

// MustConvert fails the test unless w converts at least n objects of the kind while do runs.
func MustConvert(t *testing.T, w Scraped, kind string, n float64, do func()) {
	t.Helper()
	before := Converted(t, w, kind)
	do()
	if got := Converted(t, w, kind) - before; got < n {
		t.Errorf("webhookd converted %g objects of %s meanwhile, want %g or more", got, kind, n)
	}
}

// MustConvert fails the test unless w converts at least n objects of the resource while do runs.
func (r *Resource) MustConvert(t *testing.T, w Scraped, n float64, do func()) {
	t.Helper()
	MustConvert(t, w, r.Kind+"."+r.Group, n, do)
}
