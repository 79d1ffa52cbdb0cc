package listen

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"testing"
	"time"
)

// listenTCP listens on a free port of the loopback interface.
func listenTCP(t *testing.T) net.Listener {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func dialTCP(t *testing.T, addr net.Addr) net.Conn {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestRetiringListenerLosesNoConnection checks that connections completed by the kernel are served,
// however late the server accepts them.
func TestRetiringListenerLosesNoConnection(t *testing.T) {
	t.Parallel()
	open := NewConns(0, nil)
	l := New(t.Context(), listenTCP(t), nil, Times{}, open, Hooks{})
	const clients = 20
	for range clients {
		dialTCP(t, l.Addr())
	}
	retired := make(chan struct{})
	go func() {
		defer close(retired)
		l.Retire()
	}()
	for l.retiring.Load() == nil {
		runtime.Gosched()
	}
	for range clients {
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
	}
	<-retired
	if err := l.Close(); err != nil { // as net/http does when it shuts down
		t.Error(err)
	}
	if _, err := l.Accept(); !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("error %v, want %v", err, http.ErrServerClosed)
	}
	if n := open.Count(); n != clients {
		t.Errorf("%d connections are counted, want %d", n, clients)
	}
}

// A backlog has connections that the kernel accepts only after the first deadline.
type backlog struct {
	net.Listener

	retired  chan struct{} // closed by the first deadline
	pending  int
	accepted int // for the goroutine that accepts
	armed    bool
}

func (l *backlog) SetDeadline(time.Time) error {
	select {
	case <-l.retired:
		l.armed = true
	default:
		close(l.retired)
	}
	return nil
}

func (l *backlog) Accept() (net.Conn, error) {
	<-l.retired
	if !l.armed || l.accepted == l.pending {
		return nil, os.ErrDeadlineExceeded
	}
	l.armed = false
	l.accepted++
	near, _ := net.Pipe()
	return near, nil
}

// TestRetiringListenerTakesTheBacklog checks that connections which the kernel has when the
// listener retires are accepted.
func TestRetiringListenerTakesTheBacklog(t *testing.T) {
	t.Parallel()
	open := NewConns(0, nil)
	l := New(t.Context(), &backlog{Listener: listenTCP(t), retired: make(chan struct{}), pending: 5}, nil, Times{}, open, Hooks{})
	l.Retire()
	if n := open.Count(); n != 5 {
		t.Errorf("%d connections are accepted, want 5", n)
	}
	_ = l.Close()
}

// TestPendingRequestIsReadBeforeClosing checks that a connection is not closed while the kernel has
// a request on it.
func TestPendingRequestIsReadBeforeClosing(t *testing.T) {
	t.Parallel()
	listening := listenTCP(t)
	peer := dialTCP(t, listening.Addr())
	accepted, err := listening.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(accepted, Times{Idle: time.Minute}, NewConns(0, nil), nil)
	t.Cleanup(func() { _ = c.Close() })
	if _, err := peer.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-time.Hour)
	wantRead := func(since time.Time, text string, want error) {
		t.Helper()
		c.idle.startWait(since)
		p := make([]byte, 1)
		if n, err := c.Read(p); string(p[:n]) != text || !errors.Is(err, want) {
			t.Errorf("read %q, %v; want %q, %v", p[:n], err, text, want)
		}
	}
	wantRead(time.Now(), "a", nil) // so the other has arrived as well
	c.idle.closeWhenIdle(long)
	wantRead(long, "b", nil)
	wantRead(long, "", io.EOF)
}

// TestConnectionsEndOneByOne checks how long that takes.
func TestConnectionsEndOneByOne(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]time.Duration{0: 0, 1: 0, 100: 99 * betweenEnds, 10_000: allEnds} {
		open := NewConns(0, nil)
		var latest time.Time
		began := time.Now()
		for range n {
			open.add(newConn(&sink{}, Times{}, open, func(*Conn) {}))
		}
		none := open.End()
		for c := range allOpen(open) {
			if c.idle.earliest.After(latest) {
				latest = c.idle.earliest
			}
		}
		if took := latest.Sub(began); n > 0 && (took < want*99/100 || took > want+time.Since(began)) {
			t.Errorf("%d connections: the last one ends after %s, want %s", n, took, want)
		}
		select {
		case <-none:
			if n > 0 {
				t.Error("none are left, but there are some")
			}
		default:
			if n == 0 {
				t.Error("some are left of none")
			}
		}
	}
}

// allOpen returns the connections of s, which are of no source.
func allOpen(s *Conns) map[*Conn]struct{} {
	if o := s.sources[netip.Prefix{}]; o != nil {
		return o.open
	}
	return nil
}
