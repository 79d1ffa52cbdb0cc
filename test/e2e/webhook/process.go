package webhook

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// patience is how long a test waits for what should happen at once.
const patience = 60 * time.Second

// Options say how to start a webhookd. The zero value listens on any port of 127.0.0.1, with a
// certificate of a new CA for that address.
type Options struct {
	// Program is the path of webhookd. Default: Build. It means nothing in process.
	Program string
	// Listen is the host:port of the webhook. Default 127.0.0.1:0.
	Listen string
	// CA issues the certificate. Default: a new one.
	CA *tlstest.CA
	// Hosts are the names and addresses of the certificate. Default 127.0.0.1 and localhost.
	Hosts []string
	// Flags are further flags of `webhookd serve`; they win over those of Start, whose drain-delay
	// is none. They mean nothing in process.
	Flags []string
	// Dir keeps the certificate: a later webhookd with the same Dir and CA serves the same one.
	// Default: a folder of the test's.
	Dir string
}

// A Process is a running webhookd.
type Process struct {
	t      *testing.T
	ca     *tlstest.CA
	secret string
	addr   string
	admin  string
	log    *record
	pid    int

	interrupt func() error // SIGTERM
	kill      func() error // SIGKILL
	ended     chan struct{}
	err       error // when ended
	killed    bool  // by Kill
}

// Start runs `webhookd serve` as a process of its own until the test ends, which is when it has to
// end in order. The test fails if its log has a warning or an error that was not allowed.
func Start(t *testing.T, o Options) *Process {
	t.Helper()
	if o.Program == "" {
		o.Program = Build(t)
	}
	p := newProcess(t, &o)
	// Not the test's own context, which ends before the cleanups that still need the webhook.
	ctx := context.WithoutCancel(t.Context())
	cmd := exec.CommandContext(ctx, o.Program, append([]string{ //nolint:gosec // just built
		"serve", "--tls-dir", p.secret, "--listen", o.Listen, "--admin-listen", "127.0.0.1:0", "--drain-delay", "0s",
	}, o.Flags...)...)
	cmd.Env = []string{}
	cmd.SysProcAttr = attributes()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start webhookd: %v", err)
	}
	p.pid = cmd.Process.Pid
	p.interrupt = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	p.kill = func() error { return cmd.Process.Kill() }
	go func() {
		defer close(p.ended)
		p.log.follow(stderr)
		p.err = cmd.Wait()
	}()
	t.Cleanup(p.cleanup)
	select {
	case serving := <-p.log.serving:
		p.addr, p.admin = serving.Listen, serving.AdminListen
	case <-p.ended:
		t.Fatalf("webhookd ended: %v\n%s", p.err, strings.Join(p.log.all(), "\n"))
	case <-time.After(patience):
		t.Fatalf("webhookd does not say where it serves:\n%s", strings.Join(p.log.all(), "\n"))
	}
	return p
}

// newProcess fills in the defaults of o and writes the certificate, if it is not there yet.
func newProcess(t *testing.T, o *Options) *Process {
	t.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.CA == nil {
		o.CA = tlstest.NewCA(t, "webhookd end-to-end tests")
	}
	if o.Hosts == nil {
		o.Hosts = []string{"127.0.0.1", "localhost"}
	}
	if o.Dir == "" {
		o.Dir = filepath.Join(t.TempDir(), "tls")
	}
	if matches, err := filepath.Glob(filepath.Join(o.Dir, "tls.crt")); err != nil || len(matches) == 0 {
		tlstest.WriteSecretDir(t, o.Dir, o.CA.Issue(t, tlstest.Leaf{Hosts: o.Hosts}).Files())
	}
	return &Process{t: t, ca: o.CA, secret: o.Dir, log: newRecord(), ended: make(chan struct{})}
}

// Addr returns the host:port of the webhook.
func (p *Process) Addr() string { return p.addr }

// CA returns who issued the certificate.
func (p *Process) CA() *tlstest.CA { return p.ca }

// SecretDir returns the folder of the certificate, for tlstest.SwapSecretDir.
func (p *Process) SecretDir() string { return p.secret }

// PID returns the number of the process; that of the test itself for a webhookd in process.
func (p *Process) PID() int { return p.pid }

// Running reports whether webhookd has not ended yet.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Metrics scrapes the admin listener.
func (p *Process) Metrics(t *testing.T) Metrics {
	t.Helper()
	return scrape(t, p.admin)
}

// Log returns the lines that the log has so far.
func (p *Process) Log() []string { return p.log.all() }

// AllowLog says that the log may have warnings and errors with one of these texts in them. It may
// be called after they were written.
func (p *Process) AllowLog(substrings ...string) { p.log.allow(substrings) }

// Terminate asks webhookd to end, as the kubelet does: SIGTERM.
func (p *Process) Terminate(t *testing.T) {
	t.Helper()
	if err := p.interrupt(); err != nil {
		t.Fatalf("end webhookd: %v", err)
	}
}

// Kill ends webhookd at once, as the kernel does when memory runs out (SIGKILL), and waits until it
// is gone.
func (p *Process) Kill(t *testing.T) {
	t.Helper()
	p.killed = true
	if err := p.kill(); err != nil {
		t.Fatalf("kill webhookd: %v", err)
	}
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatal("webhookd does not end")
	}
}

// Wait waits for an orderly end, after Terminate.
func (p *Process) Wait(t *testing.T) {
	t.Helper()
	if err := p.wait(); err != nil {
		t.Error(err)
	}
}

func (p *Process) wait() error {
	select {
	case <-p.ended:
		if p.err != nil && !p.killed {
			return fmt.Errorf("webhookd ended: %w\n%s", p.err, p.tail())
		}
		return nil
	case <-time.After(patience):
		return fmt.Errorf("webhookd does not end:\n%s", p.tail())
	}
}

// cleanup ends the process, if it runs still, and judges its log.
func (p *Process) cleanup() {
	if p.Running() {
		_ = p.interrupt() // fails where it ends just now
	}
	if err := p.wait(); err != nil {
		p.t.Error(err)
		_ = p.kill()
	}
	if lines := p.log.unexpected(); len(lines) > 0 {
		p.t.Errorf("webhookd's log has %d unexpected lines, such as\n%s", len(lines), strings.Join(lines[:min(len(lines), 5)], "\n"))
	}
	if p.t.Failed() {
		p.t.Logf("the end of webhookd's log:\n%s", p.tail())
	}
}

// tail returns the last lines of the log.
func (p *Process) tail() string {
	lines := p.log.all()
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// Ready returns the status and the text of /readyz.
func (p *Process) Ready(t *testing.T) (code int, text string) {
	t.Helper()
	return get(t, "http://"+p.admin+"/readyz")
}
