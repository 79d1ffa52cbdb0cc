package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"reflect"
	"runtime"
	"slices"
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
	if got := l.tls.NextProtos; !slices.Equal(got, []string{"http/1.1"}) {
		t.Errorf("protocols %q, want HTTP/1.1 alone", got)
	}
	h := &handshake{turns: handshakeTurns(), got: handshakeBytes}
	if _, err := h.room(1); err != nil {
		t.Errorf("just what is allowed: %v", err)
	}
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
		if first.list != nil {
			t.Error("its connection may be cut off while it computes")
		}
		if _, err := first.Write([]byte("a server's flight")); err != nil {
			t.Fatal(err)
		}
		if first.list == nil {
			t.Error("its connection may not be cut off while its client has its turn")
		}
		if err := <-waiting; err != nil {
			t.Errorf("the next one: %v", err)
		}
		for range 2 {
			_, _ = last.Read(make([]byte, 1))
		}
		if next, got := begin(t.Context()); len(got) == 0 || !next.handshake.share.Converts() {
			t.Error("a turn that is returned twice is not free")
		}
		hello[0] = handshakeRecord + 1
		if other, got := begin(t.Context()); <-got != nil || other.handshake.share.Converts() {
			t.Error("a record of another kind takes a turn")
		}
	})
}

func TestRecordThatComesByteByByte(t *testing.T) {
	t.Parallel()
	var r record
	for i, room := range []int{5, 4, 3, 2, 1, 2, 1, 5} {
		if got := r.room(); got != room {
			t.Errorf("room for %d bytes before byte %d, want %d", got, i, room)
		}
		if whole := r.took([]byte{handshakeRecord, 3, 1, 0, 2, 1, 1, 0}[i : i+1]); whole != (i == 6) {
			t.Errorf("whole after byte %d: %t", i, whole)
		}
	}
}

// A client that speaks HTTP gets an answer that says so, and a failed handshake leaves nothing.
func TestHandshakeThatIsNone(t *testing.T) {
	t.Parallel()
	failed := make(chan string, 1)
	conns := NewConns(0, nil)
	l := New(t.Context(), listenTCP(t), &tls.Config{MinVersion: tls.VersionTLS13}, Times{}, conns, Hooks{HandshakeFailed: func(reason, _ string) { failed <- reason }})
	t.Cleanup(func() { _ = l.Close() })
	for text, want := range map[string]string{
		"GET / HTTP/1.1\r\n\r\n":  "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n",
		"SSH-2.0-OpenSSH_9.9\r\n": "",
	} {
		c := dialTCP(t, l.Addr())
		_, _ = io.WriteString(c, text)
		if said, _ := io.ReadAll(c); string(said) != want { // it may be reset, as not all was read
			t.Errorf("%q is answered %q, want %q", text, said, want)
		}
		if reason := <-failed; reason != HandshakeRefusedByServer {
			t.Errorf("%q is reported as %s", text, reason)
		}
	}
	flows := reflect.ValueOf(l.turns).Elem().FieldByName("flows").Len()
	if n := conns.Count(); n != 0 || flows != 0 {
		t.Errorf("%d connections are counted in the end, and %d flows", n, flows)
	}
}

// A connection that is cut off in its handshake is not one whose handshake has failed.
func TestCutOffInItsHandshake(t *testing.T) {
	t.Parallel()
	for _, cut := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			failed := 0
			l := &Listener{ctx: t.Context(), tls: &tls.Config{MinVersion: tls.VersionTLS13}, turns: handshakeTurns(), conns: NewConns(0, func(string) {})}
			l.hooks.HandshakeFailed = func(string, string) { failed++ }
			near, far := net.Pipe()
			l.conns.add(newConn(near, Times{}, l.conns, l.handOn))
			synctest.Wait()
			if cut {
				l.conns.MakeRoom()
			}
			_ = far.Close()
			if synctest.Wait(); (failed == 0) != cut || l.conns.Count() != 0 {
				t.Errorf("cut off %t: reported %d times, %d counted", cut, failed, l.conns.Count())
			}
		})
	}
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
