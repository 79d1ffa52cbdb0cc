package plane

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/cluster"
	"k8s.io/client-go/rest"

	"github.com/crdconvert/webhookd/test/controlplane/build"
)

// The users that the API server knows by a token.
const (
	// Admin may do everything.
	Admin = "admin"
	// NoRights is a user without rights of its own.
	NoRights = "no-rights"
)

// A Plane is a control plane that runs. It is safe for concurrent use, but for methods that take a
// *testing.T: those belong on the test's goroutine.
type Plane struct {
	bin    *build.Binaries
	dir    string
	etcd   string            // host:port of its clients
	secure string            // host:port of the API server
	tokens map[string]string // of users
	ctx    context.Context   //nolint:containedctx // of all calls; it does not end before the control plane

	apiServer *process

	mu        sync.Mutex
	processes []*process // in the order in which they were started
	addresses map[string]string
	controls  bool // StartControllers has been called
}

var _ cluster.Cluster = (*Plane)(nil)

// Start builds what is not built yet, waits until no other control plane runs on this machine, and
// starts etcd and the API server. They end with the test, the last one first; if the test fails
// then, it says where their logs are.
func Start(t *testing.T) *Plane {
	t.Helper()
	bin, err := build.Get(t.Context(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	claim(t)
	p := &Plane{
		bin: bin, dir: t.TempDir(), ctx: context.WithoutCancel(t.Context()),
		tokens: map[string]string{Admin: rand.Text(), NoRights: rand.Text()}, addresses: map[string]string{},
	}
	if err := os.Mkdir(p.logs(), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(t) })
	p.startEtcd(t)
	p.prepareAPIServer(t)
	p.startAPIServer(t)
	return p
}

// end stops the processes. Logs stay if the test failed.
func (p *Plane) end(t *testing.T) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for _, running := range slices.Backward(p.processes) {
		errs = append(errs, running.stop())
	}
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
	if t.Failed() {
		if kept, err := p.keepLogs(); err != nil {
			t.Errorf("the logs of the control plane are lost: %v", err)
		} else {
			t.Logf("logs of the control plane: %s", kept)
		}
	}
}

func (p *Plane) keepLogs() (string, error) {
	kept, err := os.MkdirTemp(keptDir(), "controlplane-logs-")
	if err != nil {
		return "", err
	}
	return kept, os.CopyFS(kept, os.DirFS(p.logs()))
}

func (p *Plane) logs() string { return filepath.Join(p.dir, "logs") }

// launch starts a part of the control plane.
func (p *Plane) launch(t *testing.T, name, program string, args ...string) *process {
	t.Helper()
	started := launch(t, p.dir, filepath.Join(p.logs(), name+".log"), program, args...)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.processes = append(p.processes, started)
	return started
}

// Config implements cluster.Cluster.
func (p *Plane) Config() *rest.Config { return p.ConfigOf(p.tokens[Admin]) }

// Token returns the token of a user.
func (p *Plane) Token(user string) string { return p.tokens[user] }

// ConfigOf is the client configuration of whom the token belongs to.
func (p *Plane) ConfigOf(token string) *rest.Config {
	return &rest.Config{
		Host: "https://" + p.secure, BearerToken: token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAFile: p.caFile()},
	}
}

// Minor implements cluster.Cluster.
func (p *Plane) Minor() int { return build.Minor }

// WatchCache implements cluster.Cluster.
func (p *Plane) WatchCache() bool { return true }

// Binaries are those that the control plane runs, and its clients.
func (p *Plane) Binaries() *build.Binaries { return p.bin }

// freePort returns a host:port of loopback that no one listens on.
func freePort(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// write makes a file of the control plane's.
func (p *Plane) write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(p.dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}
