package dashboard_test

import (
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/crdconvert/webhookd/test/dashboard"
)

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
