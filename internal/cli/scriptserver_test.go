package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

type serverKey struct{}

// A scriptServer is the server of one script.
type scriptServer struct {
	console        bool // the log is for people
	cmd            *exec.Cmd
	log            *logBuffer
	roots          *x509.CertPool // of the pairs that scripts make
	webhook, admin string         // URLs
	client         *http.Client
}

func command(run func(*scriptServer, *testscript.TestScript, bool, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		run(ts.Value(serverKey{}).(*scriptServer), ts, neg, args) //nolint:forcetypeassert // Setup's
	}
}

// patience only ends a test that hangs.
const patience = 2 * time.Minute

// A logBuffer collects a log that others wait for.
type logBuffer struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
	return b.text.Write(p)
}

// A failer is a *testing.T or a *testscript.TestScript.
type failer interface {
	Fatalf(format string, args ...any)
}

// wait waits until a pattern matches the log, and returns the first match.
func (b *logBuffer) wait(ts failer, pattern string) []string {
	re := regexp.MustCompile("(?m)" + pattern)
	timeout := time.After(patience)
	for {
		b.mu.Lock()
		found, changed, text := re.FindStringSubmatch(b.text.String()), b.changed, b.text.String()
		b.mu.Unlock()
		if found != nil {
			return found
		}
		select {
		case <-changed:
		case <-timeout:
			ts.Fatalf("the log has no line like %s:\n%s", pattern, text)
		}
	}
}

func (s *scriptServer) start(ts *testscript.TestScript, neg bool, flags []string) {
	if s.cmd != nil {
		ts.Fatalf("usage: [!] start [FLAG...], once")
	}
	s.console = slices.Contains(flags, "console")
	args := append([]string{"serve", "--listen=127.0.0.1:0", "--admin-listen=127.0.0.1:0"}, flags...)
	selfSigned := !slices.Contains(flags, "--tls-dir")
	if selfSigned {
		args = append(args, "--self-signed")
	}
	path, err := exec.LookPath(cmp.Or(ts.Getenv("PROGRAM"), "webhookd")) // of testscript.Main
	ts.Check(err)
	s.cmd = exec.CommandContext(context.Background(), path, args...) //nolint:forbidigo,gosec // ended by the cleanup
	s.cmd.Dir = ts.Getenv("WORK")
	s.cmd.Env = append(os.Environ(), "TMPDIR="+ts.Getenv("TMPDIR"))
	s.cmd.Stderr = s.log
	ts.Check(s.cmd.Start())
	ts.Defer(func() {
		if s.cmd.ProcessState == nil {
			_ = s.cmd.Process.Kill()
			_ = s.cmd.Wait()
		}
	})
	found := s.log.wait(ts, `serving"?,?\s*\{?"listen": ?"([^"]+)", ?"path": ?"([^"]+)", ?"adminListen": ?"([^"]+)"`)
	s.webhook, s.admin = "https://"+found[1], "http://"+found[3]
	if selfSigned {
		s.trust(ts)
	}
	s.client = &http.Client{Timeout: patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: s.roots},
	}}
	ts.Defer(s.client.CloseIdleConnections)
	if !neg {
		s.waitReady(ts)
	}
}

// trust reads the certificate from the path in the curl line.
func (s *scriptServer) trust(ts *testscript.TestScript) {
	pem, err := os.ReadFile(s.log.wait(ts, `^curl --cacert (\S+) `)[1])
	ts.Check(err)
	s.roots = x509.NewCertPool()
	if !s.roots.AppendCertsFromPEM(pem) {
		ts.Fatalf("no certificate in the file of the curl line")
	}
}

func (s *scriptServer) waitReady(ts *testscript.TestScript) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); ; <-ticker.C {
		code, body := s.do(ts, http.MethodGet, s.admin+"/readyz", nil)
		if code == http.StatusOK {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("not ready: %s", body)
		}
	}
}

func (s *scriptServer) do(ts *testscript.TestScript, method, url string, body io.Reader) (code int, answer string) {
	r, err := http.NewRequestWithContext(context.Background(), method, url, body) //nolint:forbidigo // the client has a timeout
	ts.Check(err)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w, err := s.client.Do(r)
	ts.Check(err)
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	ts.Check(err)
	return w.StatusCode, string(text)
}

func (s *scriptServer) post(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: post FILE [PATH]")
	}
	path := "/crdconvert"
	if len(args) == 2 {
		path = args[1]
	}
	code, answer := s.do(ts, http.MethodPost, s.webhook+path, strings.NewReader(ts.ReadFile(args[0])))
	show(ts, answer, strconv.Itoa(code)+"\n")
}

func (s *scriptServer) get(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] get webhook|admin PATH")
	}
	base := s.webhook
	if args[0] == "admin" {
		base = s.admin
	}
	code, answer := s.do(ts, http.MethodGet, base+args[1], nil)
	show(ts, answer, strconv.Itoa(code)+"\n")
	if (code == http.StatusOK) == neg {
		ts.Fatalf("code %d: %s", code, answer)
	}
}

// show makes its texts the input of the commands stdout and stderr.
func show(ts *testscript.TestScript, stdout, stderr string) {
	_, err := io.WriteString(ts.Stdout(), stdout)
	ts.Check(err)
	_, err = io.WriteString(ts.Stderr(), stderr)
	ts.Check(err)
}

func (s *scriptServer) waitLog(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitlog REGEXP")
	}
	s.log.wait(ts, args[0])
}

func (s *scriptServer) shutdown(ts *testscript.TestScript, neg bool, args []string) {
	signal := syscall.SIGTERM
	if len(args) == 1 && args[0] == "INT" {
		signal = syscall.SIGINT
	}
	if s.cmd == nil || len(args) > 1 {
		ts.Fatalf("usage: [!] shutdown [TERM|INT], after start")
	}
	ts.Check(s.cmd.Process.Signal(signal))
	if neg {
		s.log.wait(ts, `"msg":"draining"`)
		ts.Check(s.cmd.Process.Signal(signal))
	}
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case err := <-ended:
		if (err != nil) != neg {
			ts.Fatalf("ended with %v:\n%s", err, s.log.text.String())
		}
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		ts.Logf("killed: %v", <-ended)
		ts.Fatalf("does not end:\n%s", s.log.text.String())
	}
	ts.Check(os.WriteFile(ts.MkAbs("log"), s.log.text.Bytes(), 0o600))
	if !s.console {
		s.checkLog(ts)
	}
}

// checkLog checks that each line is what docs/reference/logs.md promises: a JSON object with time,
// level and message, or a message for a person.
func (s *scriptServer) checkLog(ts *testscript.TestScript) {
	lines := bufio.NewScanner(bytes.NewReader(s.log.text.Bytes()))
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "webhookd: ") || strings.HasPrefix(line, "curl ") {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			ts.Fatalf("not JSON: %v: %s", err, line)
		}
		for _, name := range []string{"ts", "level", "msg"} {
			if _, ok := fields[name].(string); !ok {
				ts.Fatalf("no %s: %s", name, line)
			}
		}
	}
}
