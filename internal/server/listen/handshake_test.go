package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/crdconvert/webhookd/internal/server/gate"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
)

// TestHandshakeTooLarge checks that a client cannot make the server keep more than handshakeBytes.
func TestHandshakeTooLarge(t *testing.T) {
	t.Parallel()
	failed := make(chan string, 1)
	hooks := Hooks{HandshakeFailed: func(_, text string) { failed <- text }}
	l := New(t.Context(), listenTCP(t), &tls.Config{MinVersion: tls.VersionTLS13}, Times{}, NewConns(0, nil), hooks)
	t.Cleanup(func() { _ = l.Close() })
	c := dialTCP(t, l.Addr())
	// The first record of a ClientHello that claims 60,000 bytes, and more of it.
	_, _ = io.WriteString(c, "\x16\x03\x01\x40\x00\x01\x00\xea\x60"+strings.Repeat("\x00", 1<<14-4))
	_, _ = io.WriteString(c, "\x16\x03\x01\x40\x00"+strings.Repeat("\x00", 1<<14))
	if text := <-failed; !strings.Contains(text, errHandshakeTooLarge.Error()) {
		t.Errorf("%q, want %v", text, errHandshakeTooLarge)
	}
}

// TestHandshakesComputeInTurn checks that at most as many handshakes compute as there are
// processors, that the next read or write returns the turn, and that a canceled handshake takes
// none.
func TestHandshakesComputeInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		turns := handshakeTurns()
		hello := []byte{handshakeRecord, 3, 1, 0, 1, 1}
		// begin has a hello arrive on another goroutine.
		begin := func(ctx context.Context) (c *Conn, got chan error) {
			c = shaking(ctx, &sink{}, turns)
			got = make(chan error, 1)
			go func() {
				_ = c.handshake.read(c, hello[:5])
				got <- c.handshake.read(c, hello[5:])
			}()
			synctest.Wait()
			return c, got
		}
		first, got := begin(t.Context())
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		for range runtime.GOMAXPROCS(0) - 1 {
			if _, got := begin(t.Context()); <-got != nil {
				t.Fatal("a processor has no handshake")
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, canceled := begin(ctx)
		last, waiting := begin(t.Context())
		cancel()
		if err := <-canceled; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want %v", err, context.Canceled)
		}
		if len(waiting) > 0 {
			t.Error("more handshakes compute than there are processors")
		}
		if _, err := first.Write([]byte("a server's flight")); err != nil {
			t.Fatal(err)
		}
		if err := <-waiting; err != nil {
			t.Errorf("the next one: %v", err)
		}
		last.handshake.pause(last)
		last.handshake.pause(last)
		if next, got := begin(t.Context()); len(got) == 0 || !next.handshake.share.Converts() {
			t.Error("a turn that is returned twice is not free")
		}
	})
}

// shaking returns a connection in its handshake.
func shaking(ctx context.Context, socket net.Conn, turns *gate.Ledger) *Conn {
	c := newConn(socket, Times{}, NewConns(0, nil), func(*Conn) {})
	c.conns.add(c)
	c.handshake.turns = turns
	turns.Join(ctx, &c.handshake.share, gate.Key{})
	return c
}

// A lateConn calls before ahead of its second write.
type lateConn struct {
	net.Conn

	writes int
	before func()
	held   atomic.Bool
}

func (c *lateConn) Write(p []byte) (int, error) {
	if c.writes++; c.writes == 2 {
		c.before()
		c.held.Store(true)
	}
	return c.Conn.Write(p)
}

// TestSecondHelloTakesATurn checks that the hello after a HelloRetryRequest, which is the one that
// costs a key exchange and a signature, waits for a turn as well.
func TestSecondHelloTakesATurn(t *testing.T) {
	t.Parallel()
	listening, turns, others := listenTCP(t), gate.NewTurns(1), gate.Share{}
	turns.Join(t.Context(), &others, gate.Key{Large: true})
	far := dialTCP(t, listening.Addr())
	near, err := listening.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := shaking(t.Context(), near, turns)
	t.Cleanup(func() { _ = c.Close() })
	served, shaken := make(chan error, 1), make(chan error, 1)
	go func() {
		config := &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{tlstest.NewCA(t, "server").Issue(t, tlstest.Leaf{}).TLS(t)}, CurvePreferences: []tls.CurveID{tls.CurveP384}}
		served <- tls.Server(c, config).HandshakeContext(t.Context())
	}()
	late := &lateConn{Conn: far, before: func() {
		if err := others.Convert(); err != nil {
			t.Error(err)
		}
	}}
	client := tls.Client(late, &tls.Config{InsecureSkipVerify: true, CurvePreferences: []tls.CurveID{tls.X25519, tls.CurveP384}})
	go func() { shaken <- client.HandshakeContext(t.Context()) }()
	for waits := false; !waits; runtime.Gosched() {
		c.conns.mu.Lock()
		waits = c.list == nil && late.held.Load()
		c.conns.mu.Unlock()
		if len(shaken) > 0 {
			t.Fatal("the second hello is answered without a turn")
		}
	}
	others.Release()
	if err := errors.Join(<-shaken, <-served); err != nil || !client.ConnectionState().HelloRetryRequest {
		t.Errorf("a second hello: %t, %v", client.ConnectionState().HelloRetryRequest, err)
	}
}
