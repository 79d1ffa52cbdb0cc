package server

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestHandshakeTooLarge checks that a client cannot make the server keep more than handshakeBytes.
func TestHandshakeTooLarge(t *testing.T) {
	t.Parallel()
	limits, failed := DefaultLimits(), make(chan error, 1)
	l := listen(t.Context(), listenTCP(t), &tls.Config{MinVersion: tls.VersionTLS13}, &limits, newConns(0, nil),
		func(_ net.Addr, err error) { failed <- err })
	t.Cleanup(func() { _ = l.Close() })
	c := dialTCP(t, l.Addr())
	// The first record of a ClientHello that claims 60,000 bytes, and more of it.
	_, _ = io.WriteString(c, "\x16\x03\x01\x40\x00\x01\x00\xea\x60"+strings.Repeat("\x00", 1<<14-4))
	_, _ = io.WriteString(c, "\x16\x03\x01\x40\x00"+strings.Repeat("\x00", 1<<14))
	if err := <-failed; !errors.Is(err, errHandshakeTooLarge) {
		t.Errorf("error %v, want %v", err, errHandshakeTooLarge)
	}
}

// TestHandshakesComputeInTurn checks that at most as many handshakes compute as there are turns,
// that a write returns the turn, and that a canceled handshake takes none.
func TestHandshakesComputeInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limits, turns := DefaultLimits(), make(chan struct{}, 1)
		begin := func() *conn {
			c := newConn(&sink{}, &limits, newConns(0, nil))
			c.handshake.turns = turns
			return c
		}
		first, second, third := begin(), begin(), begin()
		if err := first.handshake.awaitTurn(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := second.handshake.awaitTurn(ctx, second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
		}
		took := make(chan error)
		go func() { took <- third.handshake.awaitTurn(t.Context(), third) }()
		synctest.Wait()
		second.handshake.answers(second)
		select {
		case err := <-took:
			t.Fatalf("two handshakes compute at once: %v", err)
		default:
		}
		if _, err := first.Write([]byte("a server's flight")); err != nil {
			t.Fatal(err)
		}
		if err := <-took; err != nil {
			t.Errorf("the next one: %v", err)
		}
		third.handshake.answers(third)
		if len(turns) != 0 {
			t.Error("a turn is not given back")
		}
	})
}
