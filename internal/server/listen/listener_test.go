package listen

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
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
	pause    time.Duration // between two
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
	<-time.After(l.pause)
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
	if _, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String()); err == nil {
		t.Error("the kernel accepts more")
	}
	_ = l.Close()
}

// A listener that retires does not accept for ever.
func TestRetiringListenerEndsUnderLoad(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		flood := &backlog{Listener: noListener{}, retired: make(chan struct{}), pending: 1 << 30, pause: time.Millisecond}
		conns := NewConns(0, nil)
		l := New(t.Context(), flood, nil, Times{}, conns, Hooks{})
		began := time.Now()
		l.Retire()
		if took := time.Since(began); took < lastAccepts || took > lastAccepts+acceptGrace {
			t.Errorf("it accepted for %s, want %s", took, lastAccepts)
		}
		if err := l.Close(); err != nil {
			t.Errorf("close of what is closed: %v", err)
		}
		if synctest.Wait(); conns.Count() != 0 {
			t.Errorf("%d connections are left", conns.Count())
		}
	})
}

// noListener has no socket.
type noListener struct{}

func (noListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (noListener) Close() error              { return net.ErrClosed }
func (noListener) Addr() net.Addr            { return nil }

// A fullListener has no descriptors left for its first connections.
type fullListener struct {
	noListener

	fails  int
	err    error
	closed chan struct{}
}

func (l *fullListener) Accept() (net.Conn, error) {
	if l.fails--; l.fails >= 0 {
		return nil, &net.OpError{Op: "accept", Err: l.err}
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *fullListener) Close() error { close(l.closed); return l.err }

// Without descriptors a connection is closed for the next, and net/http does not slow down; it gets
// other errors.
func TestListenerWithoutDescriptors(t *testing.T) {
	t.Parallel()
	for err, full := range map[error]bool{syscall.EMFILE: true, syscall.ENFILE: true, syscall.ECONNABORTED: false} {
		synctest.Test(t, func(t *testing.T) {
			cut, reported := 0, 0
			conns := NewConns(0, func(string) { cut++ })
			opened(t, conns, 1)
			l := New(t.Context(), &fullListener{fails: 1, err: err, closed: make(chan struct{})}, nil, Times{}, conns, Hooks{AcceptFailed: func(error) { reported++ }})
			got := make(chan error, 1)
			go func() { _, err := l.Accept(); got <- err }()
			advance(2 * acceptPause)
			if (cut == 1 && reported == 1) != full || (len(got) == 0) != full {
				t.Errorf("%v: %d are cut off, %d failures reported, net/http gets an error: %t", err, cut, reported, len(got) > 0)
			}
			if closed := l.Close(); !errors.Is(closed, err) {
				t.Errorf("close: %v, want %v", closed, err)
			}
			if err := <-got; err == nil {
				t.Error("there is a connection")
			}
		})
	}
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
			if at := c.idle.until(); at.After(latest) {
				latest = at
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

// A connection without TLS may wait for its request as long as another. Once that has come, the
// server's own deadlines are those of its body.
func TestPlainConnectionWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &Listener{conns: NewConns(0, nil), ready: make(chan net.Conn)}
		dial := func() (*Conn, net.Conn) {
			near, far := net.Pipe()
			l.conns.add(newConn(near, Times{Idle: time.Minute}, l.conns, l.handOn))
			return (<-l.ready).(*Conn), far //nolint:forcetypeassert // handOn's
		}
		silent, _ := dial()
		start := time.Now()
		if _, err := silent.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("it ends after %s: %v", time.Since(start), err)
		}
		used, far := dial()
		for _, pause := range []time.Duration{0, 2 * time.Minute} {
			time.AfterFunc(pause, func() { _, _ = far.Write([]byte("x")) })
			if _, err := used.Read(make([]byte, 1)); err != nil {
				t.Errorf("after %s: %v", pause, err)
			}
			State(used, http.StateActive)
		}
	})
}
