package oracle_test

import (
	"bufio"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/internal/server"
	"github.com/crdconvert/webhookd/internal/tlsreload/tlstest"
	"github.com/google/go-cmp/cmp"
)

// A process is a running `webhookd serve --tls-dir`.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	secret string
	addr   string
	ended  chan struct{} // closed when it has, with err
	err    error
}

// buildBinary returns the path of webhookd, built from the module that this one replaces.
func buildBinary(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "webhookd")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "./cmd/webhookd") //nolint:gosec // a path of its own
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build webhookd: %v\n%s", err, out)
	}
	return binary
}

// launch starts a process and waits until its log says where it serves.
func launch(t *testing.T, binary string, ca *tlstest.CA, flags ...string) *process {
	t.Helper()
	p := &process{t: t, secret: filepath.Join(t.TempDir(), "tls"), ended: make(chan struct{})}
	tlstest.WriteSecretDir(t, p.secret, ca.Issue(t, tlstest.Leaf{Hosts: []string{serviceHost, "127.0.0.1"}}).Files())
	p.cmd = exec.CommandContext(t.Context(), binary, append([]string{ //nolint:gosec // just built
		"serve", "--tls-dir", p.secret, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
	}, flags...)...)
	p.cmd.Env = []string{}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("start webhookd: %v", err)
	}
	addr := make(chan string, 1)
	go func() {
		defer close(p.ended)
		p.follow(stderr, addr)
		p.err = p.cmd.Wait()
	}()
	t.Cleanup(func() { <-p.ended }) // the end of the test's context kills it
	select {
	case p.addr = <-addr:
	case <-p.ended:
		t.Fatalf("webhookd ended: %v", p.err)
	case <-time.After(patience):
		t.Fatal("webhookd does not say where it serves")
	}
	return p
}

// follow reads the log to its end.
func (p *process) follow(stderr io.Reader, addr chan<- string) {
	for log := bufio.NewScanner(stderr); log.Scan(); {
		var line struct {
			Level  string `json:"level"`
			Listen string `json:"listen"`
		}
		if err := json.Unmarshal(log.Bytes(), &line); err != nil {
			p.t.Errorf("not a line of the log: %s", log.Bytes())
		}
		if line.Listen != "" {
			addr <- line.Listen
		}
		if line.Level == "error" || line.Level == "warn" {
			p.t.Errorf("the log: %s", log.Bytes())
		}
	}
}

// terminate asks the process to end, as the kubelet does.
func (p *process) terminate() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatalf("signal: %v", err)
	}
}

// wait waits for an orderly end.
func (p *process) wait() {
	p.t.Helper()
	select {
	case <-p.ended:
		if p.err != nil {
			p.t.Errorf("webhookd ended: %v", p.err)
		}
	case <-time.After(patience):
		p.t.Error("webhookd does not end")
	}
}

// TestBinary holds for the binary, as a process, what the other tests hold for its packages wired by a
// test: it converts by either reference, takes over a new certificate, and is replaced under load by
// another without a failed call.
func TestBinary(t *testing.T) {
	t.Parallel()
	binary, ca := buildBinary(t), tlstest.NewCA(t, "oracle")
	first := launch(t, binary, ca, "--drain-delay", "2s")
	second := launch(t, binary, ca, "--drain-delay", "0s")

	var current atomic.Pointer[process]
	current.Store(first)
	var closing atomic.Bool
	a := &apiServer{endpoint: func() string { return current.Load().addr }, observe: func(_ *http.Request, resp *http.Response) {
		if resp != nil && resp.Close {
			closing.Store(true)
		}
	}}
	versions := []string{"v1beta1", "v1"}
	want := object(t, `{"apiVersion":"example.com/v1","kind":"CronTab","metadata":{"name":"local",
		"namespace":"default","uid":"6e1a1b0c-8d2c-4cf0-9c53-0e9d0a2f7a10"},"host":"localhost","port":"1234"}`)
	for _, h := range []hookConfig{
		{path: server.DefaultPath, caBundle: ca.PEM, reviews: []string{"v1"}},
		{path: server.DefaultPath, caBundle: ca.PEM, reviews: []string{"v1beta1"}},
		{url: "https://" + first.addr + server.DefaultPath, caBundle: ca.PEM, reviews: []string{"v1"}},
		{url: "https://" + first.addr + server.DefaultPath, caBundle: ca.PEM, reviews: []string{"v1beta1"}},
	} {
		got, err := a.converter(t, crontabs(), versions, h).to(sample(t), "v1")
		if err != nil {
			t.Fatalf("%+v: %v", h, err)
		}
		if diff := cmp.Diff(want.Object, content(t, got)); diff != "" {
			t.Errorf("converted object (-want +got):\n%s", diff)
		}
	}

	c := a.converter(t, crontabs(), versions, hookConfig{path: server.DefaultPath, caBundle: ca.PEM, reviews: []string{"v1"}})
	in := sample(t)
	l := newLoad(t, 8, func(int) error {
		_, err := c.to(in, "v1")
		return err
	})
	for range 5 {
		pair := ca.Issue(t, tlstest.Leaf{Hosts: []string{serviceHost}})
		tlstest.SwapSecretDir(t, first.secret, pair.Files())
		eventually(t, "the new certificate", func() bool { return freshSerial(t, first, ca).Cmp(pair.Leaf.SerialNumber) == 0 })
	}
	closing.Store(false)
	first.terminate()
	eventually(t, "an answer that ends its connection", closing.Load)
	current.Store(second)
	first.wait()
	l.more(100)
	l.noFailures()
	second.terminate()
	second.wait()
}

// freshSerial makes a call on a new connection and returns the number of the certificate it was shown.
func freshSerial(t *testing.T, p *process, ca *tlstest.CA) *big.Int {
	t.Helper()
	serial := new(big.Int)
	a := &apiServer{endpoint: func() string { return p.addr }, observe: func(_ *http.Request, resp *http.Response) {
		if resp != nil {
			serial = resp.TLS.PeerCertificates[0].SerialNumber
		}
	}}
	h := hookConfig{path: server.DefaultPath, caBundle: ca.PEM, reviews: []string{"v1"}}
	if _, err := a.converter(t, crontabs(), []string{"v1beta1", "v1"}, h).to(sample(t), "v1"); err != nil {
		t.Errorf("call on a new connection: %v", err)
	}
	return serial
}
