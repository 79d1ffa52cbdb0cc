package webhook

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics are the metrics of one scrape, or of several.
type Metrics []*dto.MetricFamily

// Sum adds up the samples of a metric that have all these labels, which are given as names and
// values in turn. It is 0 where there is none. A histogram NAME has NAME_count and NAME_sum.
func (m Metrics) Sum(name string, labels ...string) float64 {
	sum := 0.0
	for _, family := range m {
		for _, sample := range family.GetMetric() {
			if !has(sample, labels) {
				continue
			}
			switch h := sample.GetHistogram(); name {
			case family.GetName():
				sum += sample.GetCounter().GetValue() + sample.GetGauge().GetValue() + sample.GetUntyped().GetValue()
			case family.GetName() + "_count":
				sum += float64(h.GetSampleCount())
			case family.GetName() + "_sum":
				sum += h.GetSampleSum()
			}
		}
	}
	return sum
}

func has(sample *dto.Metric, labels []string) bool {
	for want := range slices.Chunk(labels, 2) {
		if !slices.ContainsFunc(sample.GetLabel(), func(l *dto.LabelPair) bool { return l.GetName() == want[0] && l.GetValue() == want[1] }) {
			return false
		}
	}
	return true
}

// ParseMetrics reads the Prometheus text format, such as the API server's own /metrics.
func ParseMetrics(text []byte) (Metrics, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	return slices.Collect(maps.Values(families)), err
}

// scrape reads /metrics of an admin listener.
func scrape(t *testing.T, addr string) Metrics {
	t.Helper()
	code, text := get(t, "http://"+addr+"/metrics")
	m, err := ParseMetrics([]byte(text))
	if err != nil || code != http.StatusOK {
		t.Fatalf("read webhookd's metrics: HTTP %d, %v", code, err)
	}
	return m
}

// get returns the status and the text of an answer of webhookd.
func get(t *testing.T, url string) (code int, text string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatalf("ask webhookd: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("ask webhookd: %v", err)
	}
	return resp.StatusCode, string(body)
}
