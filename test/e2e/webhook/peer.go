package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// A Peer is another webhook that runs as a process, to be measured.
type Peer struct {
	ca   *tlstest.CA
	addr string
	pid  int
}

// StartPeer runs a program that takes --listen and --tls-dir until the test ends.
func StartPeer(t *testing.T, program, listen string, hosts []string) *Peer {
	t.Helper()
	p := &Peer{ca: tlstest.NewCA(t, "peer"), addr: freeAddress(t, listen)}
	dir := filepath.Join(t.TempDir(), "tls")
	tlstest.WriteSecretDir(t, dir, p.ca.Issue(t, tlstest.Leaf{Hosts: hosts}).Files())
	// Not the test's own context, which ends before the cleanups that still need the webhook.
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, "--listen", p.addr, "--tls-dir", dir) //nolint:gosec // named by the caller
	cmd.SysProcAttr, cmd.Stderr = attributes(), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p.pid = cmd.Process.Pid
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for deadline := time.Now().Add(patience); ; <-look.C {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.addr)
		if err == nil {
			conn.Close()
			return p
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not listen: %v", program, err)
		}
	}
}

// freeAddress returns the address, with a free port in place of 0.
func freeAddress(t *testing.T, address string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// Addr returns the host:port of the webhook.
func (p *Peer) Addr() string { return p.addr }

// CA returns who issued the certificate.
func (p *Peer) CA() *tlstest.CA { return p.ca }

// CPU returns the user and system time that the process has used.
func (p *Peer) CPU(t *testing.T) time.Duration {
	t.Helper()
	used, err := processCPU(p.pid)
	if err != nil {
		t.Fatalf("CPU of the peer: %v", err)
	}
	return used
}

// processCPU reads /proc/PID/stat (proc_pid_stat(5)), whose ticks are of 10 ms.
func processCPU(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("too few fields in /proc/PID/stat")
	}
	user, err := strconv.ParseInt(fields[11], 10, 64)
	system, errSystem := strconv.ParseInt(fields[12], 10, 64)
	return time.Duration(user+system) * 10 * time.Millisecond, errors.Join(err, errSystem)
}
