package webhook_test

import (
	"bufio"
	"io"
	"net"
	"testing"

	"github.com/crdconvert/webhookd/test/e2e/webhook"
)

// TestBalancerTakesTargetsInTurn holds that connections go round, that one which does not answer is
// left out, and that a set of targets can be replaced.
func TestBalancerTakesTargetsInTurn(t *testing.T) {
	t.Parallel()
	a, b, dead := greeter(t, "a"), greeter(t, "b"), "127.0.0.1:1"
	balancer := webhook.NewBalancer(t, "127.0.0.1:0", a, dead, b)
	want := []string{"a", "b", "b", "a"} // the dead one's turn is the next one's
	for i, name := range want {
		if got := greeting(t, balancer.Addr()); got != name {
			t.Errorf("connection %d: %q, want %q", i, got, name)
		}
	}
	balancer.Set(b)
	if got := greeting(t, balancer.Addr()); got != "b" {
		t.Errorf("%q, want the only target", got)
	}
	balancer.Set()
	if got := greeting(t, balancer.Addr()); got != "" {
		t.Errorf("%q, want the connection to be closed", got)
	}
}

// greeter listens until the test ends, says its name to who connects, and closes.
func greeter(t *testing.T, name string) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, name+"\n")
			conn.Close()
		}
	}()
	return l.Addr().String()
}

// greeting connects and returns the first line, without its end, or nothing.
func greeting(t *testing.T, addr string) string {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return ""
	}
	return line[:len(line)-1]
}
