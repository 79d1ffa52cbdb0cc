// Package cluster says what a scenario needs of the cluster that it runs in, apart from the API. It
// knows no server, so that a cluster can be a server in the test's process or a control plane of
// processes.
package cluster

import (
	"testing"

	"k8s.io/client-go/rest"
)

// A Cluster is a running API server and what a scenario needs of it apart from the API. It is safe
// for concurrent use, but for methods that take a *testing.T: those belong on the test's goroutine.
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
	// Minor is the minor version of Kubernetes, such as 37.
	Minor() int
	// WatchCache reports whether the API server serves from its watch cache.
	WatchCache() bool
}

// StoredKey returns the key in etcd of an object of a custom resource, as Cluster.Stored
// reads it.
func StoredKey(group, resource, namespace, name string) string {
	if namespace == "" {
		return "/registry/" + group + "/" + resource + "/" + name
	}
	return "/registry/" + group + "/" + resource + "/" + namespace + "/" + name
}
