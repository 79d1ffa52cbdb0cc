// Package crd has the verbs about the CRDs of a cluster: crd, migrate and certs. What they do there
// is in internal/cluster.
package crd
