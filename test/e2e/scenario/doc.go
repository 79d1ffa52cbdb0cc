// Package scenario holds the end-to-end scenarios: what a user of a CRD that webhookd converts
// does, by the API alone, and what has to come of it. Each runs in an Env, which is any cluster and
// one way for its CRDs to refer to webhookd; none knows which server answers. Each shows by
// webhookd's metrics that it was asked.
package scenario
