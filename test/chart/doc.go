// Package chart renders webhookd's Helm chart with Helm's own engine, without a cluster or Helm's
// binary, for the chart's tests. It also generates the table of values in the chart's README.
package chart
