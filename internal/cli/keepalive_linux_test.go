package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// I39: the kernel probes a silent connection within 15 s, so connections of a lost node end.
func TestSilentConnectionsAreProbed(t *testing.T) {
	t.Parallel()
	log := &logBuffer{changed: make(chan struct{})}
	codes, cancel := serveHere(t, log)
	address := log.wait(t, servingLine.String())[1]
	c, err := (&tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = c.Close()
		cancel()
		wantEnd(t, codes, 0)
	}()
	ctx, late := context.WithTimeout(t.Context(), patience)
	defer late()
	for {
		timer, after := timerOf(t, c.RemoteAddr(), c.LocalAddr())
		if timer == "02" { // keep-alive; 01 is that of a record which is not acknowledged yet
			if after <= 0 || after > 15*time.Second {
				t.Errorf("the next probe comes after %s, want 15s at most", after)
			}
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("the socket has timer %s, want 02", timer)
		}
	}
}

// timerOf returns the timer of the socket between two addresses of this machine, and when it
// expires: proc_net_tcp(5).
func timerOf(t *testing.T, local, remote net.Addr) (timer string, after time.Duration) {
	t.Helper()
	text, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		words := strings.Fields(lines.Text())
		if words[1] != inProc(t, local) || words[2] != inProc(t, remote) {
			continue
		}
		timer, when, _ := strings.Cut(words[5], ":")
		hundredths, err := strconv.ParseInt(when, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		return timer, time.Duration(hundredths) * 10 * time.Millisecond
	}
	t.Fatalf("no socket from %s to %s", local, remote)
	return "", 0
}

// inProc writes an address as /proc/net/tcp does: the IPv4 address in the machine's order of bytes.
func inProc(t *testing.T, addr net.Addr) string {
	t.Helper()
	a, err := net.ResolveTCPAddr("tcp4", addr.String())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(a.IP.To4()), a.Port)
}
