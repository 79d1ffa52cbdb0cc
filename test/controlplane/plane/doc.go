// Package plane runs a control plane for tests: etcd, kube-apiserver and, when asked,
// kube-controller-manager, as processes on loopback and with no node.
//
// Its Services have addresses of 127.1.2.0/24, which Linux delivers to the machine itself. So what
// listens on a Service's address is what the API server reaches by the Service, with no proxy.
package plane
