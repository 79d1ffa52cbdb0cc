package server

import (
	"fmt"
	"log"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestErrorLog holds that clients cannot flood the log, and that what matters still gets there.
func TestErrorLog(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	now := time.Unix(0, 0)
	l := newErrorLog(log.New(&out, "", 0))
	l.now = func() time.Time { return now }
	in := l.logger()

	const handshake = "http: TLS handshake error from 10.0.0.1:%d: EOF"
	for i := range 1000 {
		in.Printf(handshake, i)
	}
	for range 2 {
		in.Print("http: Accept error: too many open files; retrying in 5ms")
	}
	now = now.Add(time.Second)
	in.Printf(handshake, 2000)
	in.Printf(handshake, 2001)
	now = now.Add(time.Second)
	own := "127.0.0.1:7"
	l.own.Store(&own)
	in.Print("http: TLS handshake error from 127.0.0.1:7: tls: client didn't provide a certificate")
	in.Print("http: TLS handshake error from 127.0.0.1:77: EOF")

	want := []string{
		fmt.Sprintf(handshake, 0),
		"http: Accept error: too many open files; retrying in 5ms",
		"http: Accept error: too many open files; retrying in 5ms",
		fmt.Sprintf(handshake, 2000) + " (999 lines suppressed before this)",
		"http: TLS handshake error from 127.0.0.1:77: EOF (1 lines suppressed before this)",
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}

	newErrorLog(nil).logger().Print("nobody listens")
}
