// Package connect is how flags name a cluster, a Service or the URL of a webhook, and what a verb
// reads from there. It changes nothing in a cluster.
package connect
