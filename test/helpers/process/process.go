package process

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/helpers/wait"
)

// Options say how a process is started.
type Options struct {
	Binary string
	// Listen is the host:port of the webhook. Default 127.0.0.1:0.
	Listen string
	// CA issues the certificate that the process serves at first, for Hosts. The default are
	// 127.0.0.1 and localhost.
	CA    *tlstest.CA
	Hosts []string
	// Secret is the directory with the key pair. If there is none yet, it is written there. The
	// default is a directory of the test's.
	Secret string
	// Flags come after those that say where to serve and with which certificate.
	Flags []string
	// Env is the whole environment.
	Env []string
	// Ulimit has the arguments of the shell's ulimit before the process starts, such as "-n 128".
	Ulimit string
	// Memory is the limit of a cgroup of its own, in bytes, as that of a container. 0: it has none.
	Memory int64
	// Tolerated are parts of the lines of level warn and error that are no defect here. Any other
	// such line fails the test at its end.
	Tolerated []string
	// Reviews keeps the lines of reviews that went well.
	Reviews bool
	// Orderly ends the process with the test as the kubelet does, and fails the test if it does not
	// end in order. Otherwise it is killed.
	Orderly bool
}

// A Process is a running `webhookd serve --tls-dir`. Its methods belong on the test's own goroutine
// unless they say otherwise.
type Process struct {
	// Secret is the directory with the key pair.
	Secret string
	// Addr and AdminAddr are where it serves.
	Addr, AdminAddr string

	tb     testing.TB
	opts   Options
	cmd    *exec.Cmd
	group  *memoryGroup  // nil: none of its own
	ended  chan struct{} // closed when it has, with err
	err    error
	killed bool

	mu  sync.Mutex
	log []string
}

// A logLine is what matters of a line of the log. The one that says where webhookd serves has the
// addresses.
type logLine struct {
	Level       string `json:"level"`
	Listen      string `json:"listen"`
	AdminListen string `json:"adminListen"`
}

// Launch starts a process and waits until its log says where it serves. It ends with the test, in
// the order of cleanups.
func Launch(tb testing.TB, o Options) *Process {
	tb.Helper()
	if o.Listen == "" {
		o.Listen = "127.0.0.1:0"
	}
	if o.Hosts == nil {
		o.Hosts = []string{"127.0.0.1", "localhost"}
	}
	if o.Secret == "" {
		o.Secret = filepath.Join(tb.TempDir(), "tls")
	}
	if _, err := os.Stat(filepath.Join(o.Secret, "tls.crt")); err != nil {
		tlstest.WriteSecretDir(tb, o.Secret, o.CA.Issue(tb, tlstest.Leaf{Hosts: o.Hosts}).Files())
	}
	p := &Process{tb: tb, opts: o, Secret: o.Secret, ended: make(chan struct{})}
	serving := p.start()
	tb.Cleanup(p.cleanup)
	select {
	case line := <-serving:
		p.Addr, p.AdminAddr = line.Listen, line.AdminListen
	case <-p.ended:
		tb.Fatalf("webhookd ended: %v\n%s", p.err, strings.Join(p.Log(""), "\n"))
	case <-time.After(wait.Patience):
		tb.Fatalf("webhookd does not say where it serves:\n%s", strings.Join(p.Log(""), "\n"))
	}
	return p
}

// start returns where the line comes that says where the process serves.
func (p *Process) start() <-chan logLine {
	p.tb.Helper()
	args := append([]string{
		p.opts.Binary, "serve", "--tls-dir", p.Secret, "--listen", p.opts.Listen, "--admin-listen", "127.0.0.1:0",
	}, p.opts.Flags...)
	if p.opts.Ulimit != "" {
		args = append([]string{"/bin/sh", "-c", "ulimit " + p.opts.Ulimit + ` && exec "$0" "$@"`}, args...)
	}
	if p.opts.Memory > 0 {
		p.group = newMemoryGroup(p.tb, p.opts.Memory)
		args = append([]string{"/bin/sh", "-c", "echo $$ >'" + p.group.dir + `/cgroup.procs' && exec "$0" "$@"`}, args...)
	}
	// Not the test's own context, which ends before the cleanups that still need the webhook.
	p.cmd = exec.CommandContext(context.WithoutCancel(p.tb.Context()), args[0], args[1:]...) //nolint:gosec // just built
	p.cmd.Env = append([]string{}, p.opts.Env...)                                            // not nil, which would be the test's own
	p.cmd.SysProcAttr = dieWithParent()
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		p.tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.tb.Fatalf("start webhookd: %v", err)
	}
	serving := make(chan logLine, 1)
	go func() {
		defer close(p.ended)
		p.follow(stderr, serving)
		p.err = p.cmd.Wait()
	}()
	return serving
}

// follow reads the log to its end.
func (p *Process) follow(stderr io.Reader, serving chan<- logLine) {
	lines := bufio.NewReader(stderr)
	for told := false; ; {
		text, err := lines.ReadString('\n')
		if text = strings.TrimSuffix(text, "\n"); text != "" && (p.opts.Reviews || !strings.Contains(text, `"msg":"review done"`)) {
			p.mu.Lock()
			p.log = append(p.log, text)
			p.mu.Unlock()
		}
		var line logLine
		if !told && json.Unmarshal([]byte(text), &line) == nil && line.Listen != "" {
			told = true
			serving <- line
		}
		if err != nil {
			return
		}
	}
}

// cleanup ends the process, if it runs still, and judges its log.
func (p *Process) cleanup() {
	if p.opts.Orderly {
		if p.Alive() {
			_ = p.cmd.Process.Signal(syscall.SIGTERM) // fails where it ends just now
		}
		p.Wait()
	}
	_ = p.cmd.Process.Kill()
	<-p.ended
	if lines := p.unexpected(); len(lines) > 0 {
		p.tb.Errorf("webhookd's log has %d unexpected lines, such as\n%s", len(lines), strings.Join(lines[:min(len(lines), 10)], "\n"))
	}
	if p.tb.Failed() {
		p.tb.Logf("the end of webhookd's log:\n%s", p.tail())
	}
}

// unexpected returns the lines that are warnings, errors or no lines of a log, and not tolerated.
func (p *Process) unexpected() []string {
	return slices.DeleteFunc(p.Log(""), func(text string) bool {
		var line logLine
		fine := json.Unmarshal([]byte(text), &line) == nil && (line.Level == "info" || line.Level == "debug")
		return fine || slices.ContainsFunc(p.opts.Tolerated, func(part string) bool { return strings.Contains(text, part) })
	})
}

// tail returns the last lines of the log.
func (p *Process) tail() string {
	lines := p.Log("")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// Tolerate adds to [Options].Tolerated. It may be called after the lines were written.
func (p *Process) Tolerate(parts ...string) { p.opts.Tolerated = append(p.opts.Tolerated, parts...) }

// Log returns the lines of the log with this part in them. It is safe for concurrent use.
func (p *Process) Log(part string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found []string
	for _, line := range p.log {
		if strings.Contains(line, part) {
			found = append(found, line)
		}
	}
	return found
}

// PID returns the number of the process.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) {
	p.tb.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.tb.Fatalf("signal: %v", err)
	}
}

// Terminate asks the process to end, as the kubelet does.
func (p *Process) Terminate() {
	p.tb.Helper()
	p.Signal(syscall.SIGTERM)
}

// Kill ends the process at once, as the kernel does where memory is short, and returns when it has.
func (p *Process) Kill() {
	p.tb.Helper()
	p.killed = true
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Alive reports whether the process has not ended. It is safe for concurrent use.
func (p *Process) Alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Wait waits for an orderly end, or for that of a process that was killed.
func (p *Process) Wait() {
	p.tb.Helper()
	select {
	case <-p.ended:
		if p.err != nil && !p.killed {
			p.tb.Errorf("webhookd ended: %v\n%s", p.err, p.tail())
		}
	case <-time.After(wait.Patience):
		p.tb.Errorf("webhookd does not end:\n%s", p.tail())
	}
}
