package versionuse

import (
	"fmt"
	"strings"
)

// A Counter is a metric that counts uses of versions.
type Counter struct {
	Metric string
	Target string // which has it in its /metrics
	// Witness is a series that is there whenever the metric is scraped, used or not.
	Witness string
	// By are the labels with versions: the one that is used, or those converted from and to.
	By []string
}

// Requests counts requests at each version. Every kube-apiserver lists CRDs when it starts.
func Requests() Counter {
	return Counter{
		Metric: "apiserver_request_total", Target: "kube-apiserver", By: []string{"version"},
		Witness: `apiserver_request_total{group="apiextensions.k8s.io", resource="customresourcedefinitions"}`,
	}
}

// Calls counts the calls of a webhook for conversions, as kube-apiserver sees them. It has no
// series before the first call for any CRD.
func Calls() Counter {
	const metric = "apiserver_crd_conversion_webhook_duration_seconds_count"
	return Counter{Metric: metric, Witness: metric, Target: "kube-apiserver", By: []string{"from_version", "to_version"}}
}

// Objects counts the objects that webhookd converted, or failed to.
func Objects() Counter {
	return Counter{
		Metric: "webhookd_objects_total", Target: "webhookd", By: []string{"from", "to"},
		Witness: `webhookd_reviews_total{kind="none", result="rejected"}`,
	}
}

// Growth returns the PromQL of how much the counter has grown in a window such as 30d, for each
// value of labels. matchers may be empty. A series that began in the window counts with its value
// if it did not grow afterwards, as after a single use: increase() does not see the first value.
func (c Counter) Growth(matchers, window string, labels ...string) string {
	series := c.Metric
	if matchers != "" {
		series += "{" + matchers + "}"
	}
	return fmt.Sprintf("sum by (%[3]s) (increase(%[1]s[%[2]s]) > 0 or max_over_time(%[1]s[%[2]s]) unless %[1]s offset %[2]s) > 0",
		series, window, strings.Join(labels, ", "))
}

// presence returns the PromQL that has a value whenever the metric is scraped.
func (c Counter) presence(matchers string) string {
	metric, own, has := strings.Cut(strings.TrimSuffix(c.Witness, "}"), "{")
	if has {
		matchers = join(own, matchers)
	}
	return "count(" + metric + "{" + matchers + "})"
}

// join returns the matchers of both.
func join(matchers, more string) string {
	if more == "" {
		return matchers
	}
	return matchers + ", " + more
}
