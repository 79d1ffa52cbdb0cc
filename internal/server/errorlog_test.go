package server

import (
	"errors"
	"fmt"
	"log"
	"net"
	"net/netip"
	"strings"
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
	l := newErrorLog(log.New(&out, "", 0), &Hooks{HandshakeFailed: func(reason, _ string) { counted[reason]++ }})
	l.now = func() time.Time { return now }
	in := l.logger()

	const (
		wentAway = "TLS handshake error from 10.0.0.1:%d: EOF"
		refused  = "TLS handshake error from 10.0.0.1:%d: remote error: tls: bad certificate"
		noTLS    = "TLS handshake error from [fd00::1]:%d: client sent an HTTP request to an HTTPS server"
		other    = "http: response.WriteHeader on hijacked connection"
	)
	// fail reports a failure with the text of its line.
	fail := func(line string, args ...any) {
		address, text, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf(line, args...), "TLS handshake error from "), ": ")
		l.handshakeFailed(net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address)), errors.New(text))
	}
	for i := range 1000 {
		fail(wentAway, i)
		fail(refused, i)
		in.Print(other)
	}
	fail(noTLS, 1)
	for range 2 {
		l.acceptFailed(errors.New("too many open files"))
	}
	now = now.Add(logInterval)
	fail(refused, 1000)
	in.Print(other)
	now = now.Add(handshakeInterval)
	fail(refused, 2000)
	fail(refused, 2001)
	own := "127.0.0.1:7"
	l.own.Store(&own)
	fail("TLS handshake error from 127.0.0.1:7: tls: client didn't provide a certificate")
	fail("TLS handshake error from 127.0.0.1:77: tls: client didn't provide a certificate")

	want := []string{
		fmt.Sprintf(refused, 0),
		other,
		fmt.Sprintf(noTLS, 1),
		"http: Accept error: too many open files",
		other + " (999 lines suppressed before this)",
		fmt.Sprintf(refused, 2000) + " (1000 lines suppressed before this)",
		"TLS handshake error from 127.0.0.1:77: tls: client didn't provide a certificate",
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	wantCounted := map[string]int{
		HandshakeClosed: 1000, HandshakeCertificateRefused: 1003, HandshakeNotTLS: 1, HandshakeClientCertificate: 1,
	}
	if diff := cmp.Diff(wantCounted, counted); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}

	newErrorLog(nil, &Hooks{}).logger().Print("dropped")
}
