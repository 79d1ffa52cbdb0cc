// Package chart renders the Helm chart of webhookd with Helm's own engine, without a cluster and without Helm's binary, for
// the tests of the chart; and it writes the table of values in the chart's README.
package chart
