package versionuse

import (
	"fmt"
	"slices"
	"strings"
)

// A Counter is a metric that counts uses of versions.
type Counter struct {
	Metric string
	Target string // which has it in its /metrics
	// By are the labels with versions: the one that is used, or those converted from and to.
	By []string
	// Witness is there whenever the metric is scraped, used or not.
	Witness Series
}

// Series are those of a metric that have these labels, which are names and values in turn.
type Series struct {
	Metric string
	Labels []string
}

// Requests counts requests at each version. Every kube-apiserver compares the ClusterRoles that it
// has to make, when it starts. A watch counts when it ends.
func Requests() Counter {
	const metric = "apiserver_request_total"
	return Counter{metric, "kube-apiserver", []string{"version"}, Series{metric, []string{"group", "rbac.authorization.k8s.io", "resource", "clusterroles", "verb", "GET"}}}
}

// Calls counts the calls of a webhook for conversions, as kube-apiserver sees them. It has no
// series before the first call for any CRD.
func Calls() Counter {
	const metric = "apiserver_crd_conversion_webhook_duration_seconds_count"
	return Counter{metric, "kube-apiserver", []string{"from_version", "to_version"}, Series{metric, nil}}
}

// Objects counts the objects that webhookd converted, or failed to.
func Objects() Counter {
	return Counter{
		"webhookd_objects_total", "webhookd", []string{"from", "to"}, Series{"webhookd_reviews_total", []string{"kind", "none", "result", "rejected"}},
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
	var all []string
	for label := range slices.Chunk(c.Witness.Labels, 2) {
		all = append(all, fmt.Sprintf("%s=%q", label[0], label[1]))
	}
	return "count(" + c.Witness.Metric + "{" + join(strings.Join(all, ", "), matchers) + "})"
}

// join returns the matchers of both, which may be empty.
func join(matchers, more string) string {
	if matchers == "" || more == "" {
		return matchers + more
	}
	return matchers + ", " + more
}
