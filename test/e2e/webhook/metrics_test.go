package webhook_test

import (
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

func TestSumAddsTheSamplesThatHaveTheLabels(t *testing.T) {
	t.Parallel()
	m, err := webhook.ParseMetrics([]byte(`# HELP objects_total Objects.
# TYPE objects_total counter
objects_total{kind="A.example.com",result="converted"} 3
objects_total{kind="A.example.com",result="failed"} 1
objects_total{kind="B, \"b\"}",result="converted",} 2e+00 1700000000000
plain 7
empty{} 5
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		labels []string
		want   float64
	}{
		{"objects_total", nil, 6},
		{"objects_total", []string{"result", "converted"}, 5},
		{"objects_total", []string{"result", "converted", "kind", "A.example.com"}, 3},
		{"objects_total", []string{"kind", `B, "b"}`}, 2},
		{"objects_total", []string{"kind", "C"}, 0},
		{"objects", nil, 0},
		{"plain", nil, 7},
		{"empty", nil, 5},
	} {
		if got := m.Sum(c.name, c.labels...); got != c.want {
			t.Errorf("%s %q is %g, want %g", c.name, c.labels, got, c.want)
		}
	}
}

func TestParseMetricsRefusesWhatIsNoSample(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"one", `a{b} 1`, `a{b="} 1`, "a b"} {
		if m, err := webhook.ParseMetrics([]byte(text)); err == nil {
			t.Errorf("%q is read as %v, want an error", text, m)
		}
	}
}
