// Package dashboard reads the chart's dashboard, evaluates its queries with Prometheus' own engine
// on samples of a webhookd under load, and draws the result as one HTML page.
//
// Grafana has no part in it: the page shows the same panels at the same places, with the same
// titles, queries, legends, units and thresholds, but it is drawn by this package.
package dashboard
