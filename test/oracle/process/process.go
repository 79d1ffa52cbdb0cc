package process

import (
	"bufio"
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

	"github.com/crdconvert/webhookd/test/oracle/apiclient"
	"github.com/crdconvert/webhookd/test/oracle/wait"
)

// Options say how a process is started.
type Options struct {
	Binary string
	// CA issues the certificate that the process serves at first.
	CA *tlstest.CA
	// Secret is the directory with the key pair, where there is one already.
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
	// such line fails the test.
	Tolerated []string
}

// A Process is a running `webhookd serve --tls-dir`. Its methods belong on the test's own goroutine
// unless they say otherwise.
type Process struct {
	// Secret is the directory with the key pair.
	Secret string
	// Addr and AdminAddr are where it serves.
	Addr, AdminAddr string

	tb    testing.TB
	opts  Options
	cmd   *exec.Cmd
	group *memoryGroup  // nil: none of its own
	ended chan struct{} // closed when it has, with err
	err   error

	unexpected int // lines of the log that should not be there

	mu  sync.Mutex
	log []string
}

// maxUnexpected is how many unexpected lines of the log are reported.
const maxUnexpected = 10

// serving is the line of the log that says where.
type serving struct {
	Level       string `json:"level"`
	Listen      string `json:"listen"`
	AdminListen string `json:"adminListen"`
}

// Launch starts a process and waits until its log says where it serves. It is killed when the test
// ends.
func Launch(tb testing.TB, o Options) *Process {
	tb.Helper()
	p := &Process{tb: tb, opts: o, Secret: o.Secret, ended: make(chan struct{})}
	if p.Secret == "" {
		p.Secret = filepath.Join(tb.TempDir(), "tls")
		leaf := tlstest.Leaf{Hosts: []string{apiclient.ServiceHost, "127.0.0.1"}}
		tlstest.WriteSecretDir(tb, p.Secret, o.CA.Issue(tb, leaf).Files())
	}
	addr := p.start()
	tb.Cleanup(func() { <-p.ended }) // the end of the test's context kills it
	select {
	case line := <-addr:
		p.Addr, p.AdminAddr = line.Listen, line.AdminListen
	case <-p.ended:
		tb.Fatalf("webhookd ended: %v\n%s", p.err, strings.Join(p.Log(""), "\n"))
	case <-time.After(wait.Patience):
		tb.Fatal("webhookd does not say where it serves")
	}
	return p
}

// start returns where the line comes that says where the process serves.
func (p *Process) start() <-chan serving {
	p.tb.Helper()
	args := append([]string{
		p.opts.Binary, "serve", "--tls-dir", p.Secret, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0",
	}, p.opts.Flags...)
	if p.opts.Ulimit != "" {
		args = append([]string{"/bin/sh", "-c", "ulimit " + p.opts.Ulimit + ` && exec "$0" "$@"`}, args...)
	}
	if p.opts.Memory > 0 {
		p.group = newMemoryGroup(p.tb, p.opts.Memory)
		args = append([]string{"/bin/sh", "-c", "echo $$ >'" + p.group.dir + `/cgroup.procs' && exec "$0" "$@"`}, args...)
	}
	p.cmd = exec.CommandContext(p.tb.Context(), args[0], args[1:]...) //nolint:gosec // just built
	p.cmd.Env = append([]string{}, p.opts.Env...)                     // not nil, which would be the test's own
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		p.tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		p.tb.Fatalf("start webhookd: %v", err)
	}
	addr := make(chan serving, 1)
	go func() {
		defer close(p.ended)
		p.follow(stderr, addr)
		p.err = p.cmd.Wait()
	}()
	return addr
}

// follow reads the log to its end.
func (p *Process) follow(stderr io.Reader, addr chan<- serving) {
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line serving
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			p.tb.Errorf("not a line of the log: %s", lines.Bytes())
		}
		p.keep(lines.Text(), line.Level)
		if line.Listen != "" {
			addr <- line
		}
	}
}

// keep remembers a line that is no review, and judges it.
func (p *Process) keep(text, level string) {
	if level == "error" || level == "warn" {
		if !slices.ContainsFunc(p.opts.Tolerated, func(part string) bool { return strings.Contains(text, part) }) {
			if p.unexpected++; p.unexpected <= maxUnexpected {
				p.tb.Errorf("the log: %s", text)
			}
		}
	} else if strings.Contains(text, `"msg":"review done"`) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, text)
}

// Log returns the lines of the log with this part in them. Reviews that went well are not among
// them. It is safe for concurrent use.
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
	p.Signal(syscall.SIGKILL)
	<-p.ended
}

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Alive reports whether the process has not ended. It is safe for concurrent use.
func (p *Process) Alive() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Wait waits for an orderly end.
func (p *Process) Wait() {
	p.tb.Helper()
	p.WaitAtMost(wait.Patience)
}

// WaitAtMost waits for an orderly end for at most d.
func (p *Process) WaitAtMost(d time.Duration) {
	p.tb.Helper()
	select {
	case <-p.ended:
		if p.err != nil {
			p.tb.Errorf("webhookd ended: %v", p.err)
		}
	case <-time.After(d):
		p.tb.Errorf("webhookd does not end within %s", d)
	}
}
