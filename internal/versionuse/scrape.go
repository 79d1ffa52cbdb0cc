package versionuse

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// A Count is what one kube-apiserver has counted since it started: requests for each version, and
// calls for conversions between two, which are FROM -> TO.
type Count struct {
	Requests    map[string]float64 `json:"requests,omitempty"`
	Conversions map[string]float64 `json:"conversions,omitempty"`
}

// Scrape reads the text of /metrics of kube-apiserver.
func Scrape(text []byte, crd CRD) (Count, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return Count{}, fmt.Errorf("metrics of the API server cannot be read: %w", err)
	}
	sum := func(c Counter, of model.LabelSet) (map[string]float64, error) {
		sums := map[string]float64{}
		for _, name := range slices.Compact([]string{c.Metric, strings.TrimSuffix(c.Metric, "_count")}) { // of a histogram
			family := families[name]
			if family == nil {
				continue
			}
			samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, family)
			if err != nil {
				return nil, fmt.Errorf("metric of the API server that cannot be read: %w: %s", err, name)
			}
			of[model.MetricNameLabel] = model.LabelValue(c.Metric)
			for _, s := range samples {
				if matches(s.Metric, of) {
					sums[versions(s.Metric, c.By)] += float64(s.Value)
				}
			}
		}
		return sums, nil
	}
	requests, err := sum(Requests(), model.LabelSet{"group": model.LabelValue(crd.Group), "resource": model.LabelValue(crd.Plural)})
	if err != nil {
		return Count{}, err
	}
	conversions, err := sum(Calls(), model.LabelSet{"crd_name": model.LabelValue(crd.Name)})
	return Count{requests, conversions}, err
}

func matches(metric model.Metric, labels model.LabelSet) bool {
	for name, value := range labels {
		if metric[name] != value {
			return false
		}
	}
	return true
}

// versions returns the versions in labels, as FROM -> TO.
func versions(metric model.Metric, labels []string) string {
	values := make([]string, len(labels))
	for i, label := range labels {
		values[i] = string(metric[model.LabelName(label)])
	}
	return strings.Join(values, " -> ")
}
