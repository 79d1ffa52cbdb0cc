package miniapi

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// newest is the minor that test/e2e/apiserver/go.mod pins. Others have a file next to it.
const newest = 37

var minor = flag.Int("minor", newest, "the minor of Kubernetes whose API server runs") //nolint:gochecknoglobals // a flag

// built builds the API server once a process. A program that is up to date is not built again.
var built = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // it never changes
	dir, err := webhook.FindRoot()
	if err != nil {
		return "", err
	}
	version := fmt.Sprintf("1.%d", *minor)
	path, file := filepath.Join(dir, ".cache", "apiserver", version), version+".mod"
	if *minor == newest {
		file = "go.mod"
	}
	cmd := exec.Command("go", "build", "-modfile", file, "-ldflags", "-s -w", "-o", path, ".") //nolint:gosec // files of this tree
	cmd.Dir = filepath.Join(dir, "test", "e2e", "apiserver")
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the API server of %s: %w\n%s", version, err, out)
	}
	return path, nil
})

// startAPI starts the API server, and ends it when the test has ended.
func (s *Server) startAPI(t *testing.T) {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	// Not the test's own context, which ends before the cleanups that still need the server.
	s.cmd = exec.CommandContext(context.WithoutCancel(t.Context()), program, //nolint:gosec // just built
		"-etcd", s.etcd.url, "-dir", s.dir, fmt.Sprintf("-watch-cache=%v", s.options.WatchCache))
	stdin, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder // of all that is slow or fails
	s.cmd.Stderr = &log
	if err := s.cmd.Start(); err != nil {
		t.Fatalf("start the API server: %v", err)
	}
	t.Cleanup(func() {
		timer := time.AfterFunc(patience, func() { _ = s.cmd.Process.Kill() })
		defer timer.Stop()
		if err := errors.Join(stdin.Close(), s.cmd.Wait()); err != nil {
			t.Errorf("the API server ended: %v\n%s", err, log.String())
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the API server does not say where it serves: %v", err)
	}
	s.addr = strings.TrimSpace(line)
	if s.ca, err = os.ReadFile(filepath.Join(s.dir, "apiserver.crt")); err != nil {
		t.Fatal(err)
	}
	if err := s.ready(t.Context()); err != nil {
		t.Fatalf("the API server is not ready: %v", err)
	}
}

// PID returns the number of the API server's process.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// ready waits until the API server is.
func (s *Server) ready(ctx context.Context) error {
	transport, err := rest.HTTPClientFor(s.Config())
	if err != nil {
		return err
	}
	defer transport.CloseIdleConnections()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); ; <-ticker.C {
		if err = readyz(ctx, transport, s.addr); err == nil || time.Now().After(deadline) {
			return err
		}
	}
}

func readyz(ctx context.Context, client *http.Client, addr string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+addr+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d: %s", resp.StatusCode, text)
	}
	return err
}
