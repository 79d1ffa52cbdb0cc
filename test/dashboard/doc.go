// Package dashboard reads the chart's dashboard, and evaluates its queries with Prometheus' own
// engine on samples of a webhookd under load.
package dashboard
