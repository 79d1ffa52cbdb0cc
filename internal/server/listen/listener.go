// Package listen has the connections of a listener, below net/http: how many there may be and whose
// is closed for another, their TLS handshakes, how long they may be silent, and how they end. It
// knows who shares them from package gate, but not what a request is. Read listener.go first.
package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/crdconvert/webhookd/internal/server/gate"
)

// HeaderTime bounds the TLS handshake, and the request header from its first byte.
const HeaderTime = 5 * time.Second

// Times bound what connections may take.
type Times struct {
	// Idle is how long a connection may wait for its next request.
	Idle time.Duration
	// Age is the age, plus or minus 20 %, at which a connection ends with its next answer. 0: any.
	Age time.Duration
}

const (
	// acceptGrace is how long a retiring listener waits for the next completed connection. It is
	// longer than a busy machine needs from setting the deadline to the system call.
	acceptGrace = 50 * time.Millisecond
	// lastAccepts bounds how long a retiring listener accepts connections.
	lastAccepts = time.Second
	// acceptPause is the time between two attempts to accept, after a failure.
	acceptPause = 10 * time.Millisecond
)

// A Listener accepts connections, makes room for them, and does their TLS handshakes. net/http gets
// connections that are ready for a request. It closes without loss: net/http would close it while
// completed connections wait to be accepted, whose clients may have sent a request.
type Listener struct {
	net.Listener

	ctx   context.Context //nolint:containedctx // for handshakes: Accept has no such parameter
	times Times
	conns *Conns
	tls   *tls.Config  // nil: plain HTTP
	turns *gate.Ledger // see handshake
	hooks Hooks

	ready    chan net.Conn // for net/http
	errs     chan error    // of Accept
	retiring atomic.Pointer[time.Time]
	accepted chan struct{} // closed when it has stopped accepting
	over     chan struct{} // closed when net/http takes no more connections
	close    func() error  // works once
}

// New returns a Listener that starts to accept from l at once, with TLS unless config is nil. It
// calls hooks. ctx is for handshakes.
func New(ctx context.Context, l net.Listener, config *tls.Config, times Times, conns *Conns, hooks Hooks) *Listener {
	own := &Listener{
		Listener: l, ctx: ctx, times: times, conns: conns, turns: handshakeTurns(), hooks: hooks,
		ready: make(chan net.Conn), errs: make(chan error), accepted: make(chan struct{}), over: make(chan struct{}),
	}
	if config != nil {
		own.tls = config.Clone()
		own.tls.NextProtos = []string{"http/1.1"}
	}
	own.close = sync.OnceValue(func() error {
		defer close(own.over)
		return ignoreClosed(l.Close())
	})
	go own.run()
	return own
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// run accepts connections until the listener retires or is closed.
func (l *Listener) run() {
	defer close(l.accepted)
	for {
		c, err := l.acceptOne()
		if err == nil {
			l.conns.add(newConn(c, l.times, l.conns, l.handOn))
			continue
		}
		if errors.Is(err, http.ErrServerClosed) {
			return
		}
		errs := l.errs // net/http logs it and tries again later, or ends
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			l.conns.MakeRoom()
			l.hooks.AcceptFailed(err)
			errs = nil // net/http would take no connection for up to a second
		}
		select {
		case errs <- err:
		case <-time.After(acceptPause):
		case <-l.over:
			return
		}
	}
}

// acceptOne waits for the next connection. Once the listener retires, it returns the completed
// connections and then http.ErrServerClosed.
func (l *Listener) acceptOne() (net.Conn, error) {
	c, err := l.Listener.Accept()
	since := l.retiring.Load()
	if err == nil || since == nil {
		return c, err
	}
	now := time.Now()
	if now.After(since.Add(lastAccepts)) || l.setDeadline(now.Add(acceptGrace)) != nil {
		return nil, http.ErrServerClosed
	}
	if c, err = l.Listener.Accept(); err != nil {
		return nil, http.ErrServerClosed
	}
	return c, nil
}

// handOn passes c to net/http once it is ready for a request.
func (l *Listener) handOn(c *Conn) {
	ready, err := net.Conn(c), error(nil)
	if l.tls == nil {
		c.idle.startWait(time.Now())
	} else if ready, err = l.shake(c); err != nil {
		if !c.conns.wasCutOff(c) {
			l.hooks.handshakeFailed(c.RemoteAddr(), err)
		}
		return
	}
	select {
	case l.ready <- ready:
	case <-l.over:
		_ = ready.Close()
	}
}

// Accept waits for a connection that is ready for a request. It returns http.ErrServerClosed after
// Close.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case err := <-l.errs:
		return nil, err // unwrapped: net/http checks whether it is temporary
	case <-l.over:
		return nil, http.ErrServerClosed
	}
}

// Retire accepts the connections completed before, then closes the socket.
func (l *Listener) Retire() {
	now := time.Now()
	l.retiring.Store(&now)
	if l.setDeadline(now) != nil { // otherwise it wakes the accepting goroutine
		_ = l.Close()
	}
	<-l.accepted
	_ = l.Listener.Close()
}

func (l *Listener) setDeadline(t time.Time) error {
	if d, ok := l.Listener.(interface{ SetDeadline(t time.Time) error }); ok {
		return d.SetDeadline(t)
	}
	return errors.ErrUnsupported
}

// Close closes the listener. net/http calls it after its last Accept.
func (l *Listener) Close() error { return l.close() }
