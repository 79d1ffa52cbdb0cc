package dashboard_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/prometheus/model/labels"

	"github.com/crdconvert/webhookd/test/dashboard"
)

func TestFormat(t *testing.T) {
	t.Parallel()
	two := 2
	for _, c := range []struct {
		value    float64
		unit     string
		decimals *int
		want     string
	}{
		{0, "short", nil, "0"},
		{3, "short", nil, "3"},
		{0.125, "short", nil, "0.125"},
		{1234, "short", nil, "1.23 K"},
		{1234, "short", &two, "1.23 K"},
		{7, "short", &two, "7.00"},
		{38.72, "reqps", nil, "38.7 req/s"},
		{2500, "ops", nil, "2.5K ops/s"},
		{0, "percentunit", nil, "0%"},
		{0.0012, "percentunit", nil, "0.12%"},
		{1, "percentunit", nil, "100%"},
		{512, "bytes", nil, "512 B"},
		{1 << 20, "bytes", nil, "1 MiB"},
		{0, "s", nil, "0 s"},
		{485e-6, "s", nil, "485 µs"},
		{0.0032, "s", nil, "3.2 ms"},
		{90, "s", nil, "1.5 mins"},
		{90 * 86400, "s", nil, "12.9 weeks"},
		{-90, "s", nil, "-1.5 mins"},
	} {
		if got := dashboard.Format(c.value, c.unit, c.decimals); got != c.want {
			t.Errorf("%g %s: %q, want %q", c.value, c.unit, got, c.want)
		}
	}
}

func TestTicks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		largest float64
		unit    string
		want    []string
	}{
		{0, "short", []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{1, "short", []string{"0", "0.2", "0.4", "0.6", "0.8", "1"}},
		{73, "reqps", []string{"0 req/s", "20 req/s", "40 req/s", "60 req/s", "80 req/s"}},
		{0.93, "percentunit", []string{"0%", "20%", "40%", "60%", "80%", "100%"}},
		{3 << 20, "bytes", []string{"0 B", "1 MiB", "2 MiB", "3 MiB"}},
		{0.0093, "s", []string{"0 s", "2 ms", "4 ms", "6 ms", "8 ms", "10 ms"}},
	} {
		ticks := dashboard.Ticks(c.largest, c.unit)
		got := make([]string, len(ticks))
		for i, tick := range ticks {
			got[i] = dashboard.Format(tick, c.unit, nil)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%g %s (-want +got):\n%s", c.largest, c.unit, diff)
		}
	}
}

func TestExpand(t *testing.T) {
	t.Parallel()
	v := dashboard.Variables{"namespace": "a|b", "job": "j", "__rate_interval": "2s"}
	for text, want := range map[string]string{
		`rate(m{namespace=~"$namespace", job=~"${job}"}[$__rate_interval])`: `rate(m{namespace=~"a|b", job=~"j"}[2s])`,
		`m{job=~"^${job:regex}$"}`: `m{job=~"^j$"}`,
		`m`:                        `m`,
	} {
		if got, err := v.Expand(text); got != want || err != nil {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	if got, err := v.Expand("m[$__range] offset $other"); err == nil || err.Error() != "variables without a value: __range, other" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestRateInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ step, scrape, want time.Duration }{
		{time.Second, time.Second, 4 * time.Second},
		{time.Minute, 15 * time.Second, 75 * time.Second},
	} {
		if got := dashboard.RateInterval(c.step, c.scrape); got != c.want {
			t.Errorf("%s every %s: %s, want %s", c.scrape, c.step, got, c.want)
		}
	}
}

func TestLegend(t *testing.T) {
	t.Parallel()
	of := labels.FromStrings("kind", "Widget", "from", "v1")
	for format, want := range map[string]string{"": "", "p99": "p99", "{{kind}} {{ from }}": "Widget v1"} {
		if got, err := dashboard.Legend(format, of); got != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", format, got, err, want)
		}
	}
	if got, err := dashboard.Legend("{{kind}} to {{to}}", of); err == nil {
		t.Errorf("a label that is not there: %q", got)
	}
}
