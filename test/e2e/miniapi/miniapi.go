// Package miniapi runs the API server of CustomResourceDefinitions of a minor of Kubernetes as a
// process, and its etcd in the test's. It has no Services: the test itself says where they are.
package miniapi

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
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
	dir     string // of the serving certificate and the addresses of Services
	addr    string
	etcd    *etcd
	cmd     *exec.Cmd
	ca      []byte
}

var _ cluster.Cluster = (*Server)(nil)

// Start starts a server that runs until the test ends and leaves nothing behind.
func Start(t *testing.T, o Options) *Server {
	t.Helper()
	s := &Server{options: o, dir: t.TempDir()}
	s.etcd = startEtcd(t)
	s.startAPI(t)
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

// Minor implements cluster.Cluster.
func (s *Server) Minor() int { return *minor }

// WatchCache implements cluster.Cluster.
func (s *Server) WatchCache() bool { return s.options.WatchCache }

// ServiceAddress implements cluster.Cluster.
func (s *Server) ServiceAddress(t *testing.T, namespace, name string, port int32) string {
	t.Helper()
	file := filepath.Join(s.dir, fmt.Sprintf("%s.%s.%d", namespace, name, port))
	addr, err := os.ReadFile(file) //nolint:gosec // of this test
	if os.IsNotExist(err) {
		addr = []byte(freeAddress(t))
		err = os.WriteFile(file, addr, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(addr)
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

// Another starts another API server with the same etcd.
func (s *Server) Another(t *testing.T, o Options) *Server {
	t.Helper()
	another := &Server{options: o, dir: t.TempDir(), etcd: s.etcd}
	another.startAPI(t)
	return another
}
