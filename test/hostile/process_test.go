package hostile_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/crdconvert/webhookd/test/hostile"
)

// patience only ends a test that hangs.
const patience = 2 * time.Minute

// A process is a running `webhookd serve`, and ends with its test.
type process struct {
	t      *testing.T
	ca     *tlstest.CA
	secret string // the folder of its certificate
	addr   string
	admin  string
	pid    int

	mu    sync.Mutex
	lines []string // of its log
	more  chan struct{}
}

// start runs webhookd with the kind that is converted by rules, the limits that the cases are for
// and further flags.
func start(t *testing.T, flags ...string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{t: t, ca: tlstest.NewCA(t, "hostile"), secret: filepath.Join(dir, "tls"), more: make(chan struct{}, 1)}
	tlstest.WriteSecretDir(t, p.secret, p.ca.Issue(t, tlstest.Leaf{}).Files())
	write(t, filepath.Join(dir, "crd.yaml"), hostile.RuledCRD)
	write(t, filepath.Join(dir, "rules.yaml"), hostile.RuledConversion)
	ctx := context.WithoutCancel(t.Context())                   // the cleanup ends it in order
	cmd := exec.CommandContext(ctx, binary(t), append([]string{ //nolint:gosec // just built
		"serve", "--tls-dir", p.secret, "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--drain-delay", "0s",
		"--log-level", "debug", "--log-reviews", "all", "--rules", filepath.Join(dir, "rules.yaml"), "--crds", filepath.Join(dir, "crd.yaml"),
		"--max-body", "32Mi", "--max-in-flight-bytes", "1Gi",
	}, flags...)...)
	cmd.Env = []string{}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start webhookd: %v", err)
	}
	p.pid = cmd.Process.Pid
	ended := make(chan error, 1)
	serving := make(chan struct{})
	go func() {
		p.follow(stderr, serving)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("end webhookd: %v", err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("webhookd ended: %v", err)
			}
		case <-time.After(patience):
			t.Error("webhookd does not end")
			_ = cmd.Process.Kill()
		}
		p.noSecrets("the log", strings.Join(p.log(0), "\n"))
	})
	select {
	case <-serving:
	case <-time.After(patience):
		t.Fatalf("webhookd does not serve:\n%s", strings.Join(p.log(0), "\n"))
	}
	return p
}

// follow keeps the lines of the log, but for the summaries that come each minute, and reads where
// webhookd serves.
func (p *process) follow(log io.Reader, serving chan<- struct{}) {
	lines := bufio.NewReader(log)
	for {
		text, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		var l struct {
			Msg         string `json:"msg"`
			Listen      string `json:"listen"`
			AdminListen string `json:"adminListen"`
		}
		_ = json.Unmarshal([]byte(text), &l)
		if l.Msg == "review summary" {
			continue
		}
		p.mu.Lock()
		p.lines = append(p.lines, strings.TrimSuffix(text, "\n"))
		p.mu.Unlock()
		if l.Msg == "serving" { // only now, as cases count the lines from here on
			p.addr, p.admin = l.Listen, l.AdminListen
			close(serving)
		}
		select {
		case p.more <- struct{}{}:
		default:
		}
	}
}

// log returns the lines of the log from the first one on.
func (p *process) log(first int) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines[first:len(p.lines):len(p.lines)]
}

// await waits until so many lines of the log, from the first one on, are wanted, and returns all of
// them.
func (p *process) await(first, n int, wanted func(line string) bool) []string {
	deadline := time.After(patience)
	for {
		lines, found := p.log(first), 0
		for _, line := range lines {
			if wanted(line) {
				found++
			}
		}
		if found >= n {
			return lines
		}
		select {
		case <-p.more:
		case <-deadline:
			return lines
		}
	}
}

// noSecrets fails the test if a text has the canary.
func (p *process) noSecrets(what, text string) {
	p.t.Helper()
	if at := strings.Index(text, hostile.Canary); at >= 0 {
		p.t.Errorf("%s quotes a secret: %.200q", what, text[max(0, at-100):])
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
