package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestErrorLog checks that clients cannot flood the log, and that important lines still get there.
func TestErrorLog(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	counted := map[string]int{}
	now := time.Unix(0, 0)
	l := NewErrorLog(log.New(&out, "", 0), func(reason, _ string) { counted[reason]++ })
	l.now = func() time.Time { return now }
	in := l.Logger()

	wentAway := []error{&net.OpError{Op: "read", Err: syscall.ECONNRESET}, io.EOF, io.ErrUnexpectedEOF, context.DeadlineExceeded}
	refused := &net.OpError{Op: "remote error", Err: errors.New("tls: bad certificate")}
	noTLS := tls.RecordHeaderError{Msg: "first record does not look like a TLS handshake"}
	const other = "http: response.WriteHeader on hijacked connection"
	fail := func(port uint16, err error) {
		l.handshakeFailed(net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), port)), err)
	}
	line := func(port uint16, err error) string {
		return fmt.Sprintf("TLS handshake error from 10.0.0.1:%d: %v", port, err)
	}
	for i := range uint16(1000) {
		fail(i, wentAway[i%4])
		fail(i, refused)
		in.Print(other)
	}
	fail(1, noTLS)
	for range 2 {
		l.acceptFailed(errors.New("too many open files"))
	}
	now = now.Add(logInterval)
	fail(1000, refused)
	in.Print(other)
	now = now.Add(handshakeInterval)
	fail(2000, refused)
	fail(2001, refused)
	fail(77, noTLS)

	want := []string{
		line(0, refused),
		other,
		line(1, noTLS),
		"http: Accept error: too many open files",
		other + " (999 lines suppressed before this)",
		line(2000, refused) + " (1000 lines suppressed before this)",
		line(77, noTLS),
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	wantCounted := map[string]int{
		HandshakeClosed: 1000, HandshakeRefusedByClient: 1003, HandshakeRefusedByServer: 2,
	}
	if diff := cmp.Diff(wantCounted, counted); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}

	NewErrorLog(nil, nil).Logger().Print("dropped")
}
