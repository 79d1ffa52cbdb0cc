// Package cluster says what a scenario needs of the cluster that it runs in, beside the API. It
// knows no server, so that a cluster can be a server in the test's process or a control plane of
// processes.
package cluster

import (
	"testing"

	"k8s.io/client-go/rest"
)

// A Cluster is a running API server and what a scenario needs of it beside the API. It is safe for
// concurrent use, but for methods that take a *testing.T: those belong on the test's goroutine.
type Cluster interface {
	// Config is an administrator's client configuration, without a limit of calls per second. It is
	// the caller's to change.
	Config() *rest.Config
	// ServiceAddress makes the Service namespace/name exist, and its namespace, and returns the
	// loopback host:port where connections to its port arrive. It is the same one at each call.
	// Something has to listen there: webhookd or a balancer.
	ServiceAddress(t *testing.T, namespace, name string, port int32) string
	// Stored returns the text that etcd holds under /registry/GROUP/RESOURCE/NAMESPACE/NAME, or
	// nil.
	Stored(t *testing.T, group, resource, namespace, name string) []byte
	// PutStored writes that text into etcd behind the API server's back.
	PutStored(t *testing.T, group, resource, namespace, name string, text []byte)
	// WatchCache tells whether the API server serves from its watch cache.
	WatchCache() bool
}

// A Restarter is a Cluster whose API server can be stopped and started on the same etcd, so that
// its watch cache is cold. Clients made from Config before go on working.
type Restarter interface {
	Restart(t *testing.T)
}

// StoredKey returns the key in etcd of an object of a custom resource, as Cluster's methods read
// it.
func StoredKey(group, resource, namespace, name string) string {
	if namespace == "" {
		return "/registry/" + group + "/" + resource + "/" + name
	}
	return "/registry/" + group + "/" + resource + "/" + namespace + "/" + name
}
