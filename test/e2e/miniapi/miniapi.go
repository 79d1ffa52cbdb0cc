// Package miniapi runs the API server of CustomResourceDefinitions, which is a part of
// kube-apiserver, and its etcd in the test's process. It has no Services: the test itself says
// where they are.
package miniapi

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crdconvert/webhookd/test/e2e/cluster"
)

// patience is how long a server may take to start or stop.
const patience = 60 * time.Second

// Options say what server to start.
type Options struct {
	// WatchCache: serve from the watch cache, as kube-apiserver does by default. Without it each
	// read goes to etcd, and so the number of conversions is certain.
	WatchCache bool
}

// A Server is an etcd and an API server. It is a cluster.Cluster.
type Server struct {
	options Options
	dir     string // of the serving certificate
	addr    string
	etcd    *etcd
	api     *apiServer
	ca      []byte

	mu       sync.Mutex
	services map[service]string // the address of each
}

// A service names a port of a Service.
type service struct {
	namespace, name string
	port            int32
}

var _ cluster.Cluster = (*Server)(nil)

// Start starts a server that runs until the test ends and leaves nothing behind.
func Start(t *testing.T, o Options) *Server {
	t.Helper()
	s := &Server{options: o, dir: t.TempDir(), services: map[service]string{}, addr: "127.0.0.1:0"}
	s.etcd = startEtcd(t)
	s.startAPI(t)
	t.Cleanup(func() {
		if err := s.api.stop(); err != nil {
			t.Errorf("the API server ended: %v", err)
		}
	})
	return s
}

// Config returns a client configuration. There is no authentication: every client may do
// everything.
func (s *Server) Config() *rest.Config {
	return &rest.Config{
		Host:            "https://" + s.addr,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.ca},
		QPS:             -1,
		UserAgent:       "webhookd-e2e",
	}
}

// WatchCache implements cluster.Cluster.
func (s *Server) WatchCache() bool { return s.options.WatchCache }

// ServiceAddress implements cluster.Cluster.
func (s *Server) ServiceAddress(t *testing.T, namespace, name string, port int32) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	key := service{namespace, name, port}
	if s.services[key] == "" {
		s.services[key] = freeAddress(t)
	}
	return s.services[key]
}

// ResolveEndpoint implements the API server's webhook.ServiceResolver.
func (s *Server) ResolveEndpoint(namespace, name string, port int32) (*url.URL, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	addr := s.services[service{namespace, name, port}]
	if addr == "" {
		return nil, &net.AddrError{Err: "no such Service: call ServiceAddress first", Addr: name + "." + namespace + ":" + strconv.Itoa(int(port))}
	}
	return &url.URL{Scheme: "https", Host: addr}, nil
}

// Stored implements cluster.Cluster.
func (s *Server) Stored(t *testing.T, group, resource, namespace, name string) []byte {
	t.Helper()
	resp, err := s.etcd.client.Get(t.Context(), cluster.StoredKey(group, resource, namespace, name))
	if err != nil {
		t.Fatalf("read etcd: %v", err)
	}
	if len(resp.Kvs) == 0 {
		return nil
	}
	return resp.Kvs[0].Value
}

func (s *Server) startAPI(t *testing.T) {
	t.Helper()
	// Not the test's own context, which ends before the cleanups that still need the server.
	ctx := context.WithoutCancel(t.Context())
	api, err := startAPIServer(ctx, s)
	if err != nil {
		t.Fatalf("start the API server: %v", err)
	}
	s.api, s.addr, s.ca = api, api.addr, api.ca
	if err := s.ready(ctx); err != nil {
		t.Fatalf("the API server is not ready: %v", err)
	}
}

// freeAddress returns a loopback address that nothing listens on. It is not that of other tests'
// servers where the system has more loopback addresses than one.
func freeAddress(t *testing.T) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.21.21.21:0")
	if err != nil {
		l, err = config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	}
	if err != nil {
		t.Fatalf("find a free port: %v", err)
	}
	defer l.Close()
	return l.Addr().String()
}
