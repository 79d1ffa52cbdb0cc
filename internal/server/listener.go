package server

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
)

const (
	// acceptGrace is how long a retiring listener waits for the next completed connection. It is
	// longer than a busy machine needs from setting the deadline to the system call.
	acceptGrace = 50 * time.Millisecond
	// lastAccepts bounds how long a retiring listener accepts connections.
	lastAccepts = time.Second
)

// A listener accepts connections, makes room for them, and does their TLS handshakes. net/http gets
// connections that are ready for a request. It closes without loss: net/http would close it while
// completed connections wait to be accepted, whose clients may have sent a request.
type listener struct {
	net.Listener

	ctx    context.Context //nolint:containedctx // for handshakes: Accept has no such parameter
	limits *Limits
	conns  *conns
	tls    *tls.Config   // nil: plain HTTP
	turns  chan struct{} // see handshake
	failed func(client net.Addr, err error)

	ready    chan net.Conn // for net/http
	errs     chan error    // of Accept
	retiring atomic.Pointer[time.Time]
	accepted chan struct{} // closed when it has stopped accepting
	over     chan struct{} // closed when net/http takes no more connections
	close    func() error  // works once
}

// listen returns a listener that starts to accept from l at once. It reports failed handshakes to
// failed.
func listen(ctx context.Context, l net.Listener, config *tls.Config, limits *Limits, conns *conns, failed func(net.Addr, error)) *listener {
	own := &listener{
		Listener: l, ctx: ctx, limits: limits, conns: conns, turns: handshakeTurns(), failed: failed,
		ready: make(chan net.Conn), errs: make(chan error), accepted: make(chan struct{}), over: make(chan struct{}),
	}
	if config != nil {
		own.tls = withTurns(config) //nolint:contextcheck // a handshake has the context of its connection
	}
	own.close = sync.OnceValue(func() error {
		defer close(own.over)
		return ignoreClosed(l.Close())
	})
	go own.run() //nolint:contextcheck // ctx is the listener's
	return own
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// run accepts connections until the listener retires or is closed.
func (l *listener) run() {
	defer close(l.accepted)
	for {
		c, err := l.acceptOne()
		if err == nil {
			l.admit(c)
			continue
		}
		if errors.Is(err, http.ErrServerClosed) {
			return
		}
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			l.conns.makeRoom()
		}
		select {
		case l.errs <- err: // net/http logs it and tries again later, or ends
		case <-l.over:
			return
		}
	}
}

// acceptOne waits for the next connection. Once the listener retires, it returns the completed
// connections and then http.ErrServerClosed.
func (l *listener) acceptOne() (net.Conn, error) {
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

// admit makes room for c and passes it on, or closes it if there is no room.
func (l *listener) admit(c net.Conn) {
	own := newConn(c, l.limits, l.conns)
	if !l.conns.add(own) {
		_ = c.Close()
		return
	}
	go l.handOn(own)
}

// handOn passes c to net/http once it is ready for a request.
func (l *listener) handOn(c *conn) {
	ready, err := net.Conn(c), error(nil)
	if l.tls == nil {
		c.conns.move(c, fresh)
		c.idle.startWait(time.Now())
	} else if ready, err = l.shake(c); err != nil {
		if !c.conns.wasCutOff(c) {
			l.failed(c.RemoteAddr(), err)
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
func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.ready:
		return c, nil
	case err := <-l.errs:
		return nil, err // unwrapped: net/http checks whether it is temporary
	case <-l.over:
		return nil, http.ErrServerClosed
	}
}

// retire accepts the connections completed before, then closes the socket.
func (l *listener) retire() {
	now := time.Now()
	l.retiring.Store(&now)
	if l.setDeadline(now) != nil { // otherwise it wakes the accepting goroutine
		_ = l.Close()
	}
	<-l.accepted
	_ = l.Listener.Close()
}

func (l *listener) setDeadline(t time.Time) error {
	if d, ok := l.Listener.(interface{ SetDeadline(t time.Time) error }); ok {
		return d.SetDeadline(t)
	}
	return errors.ErrUnsupported
}

// Close closes the listener. net/http calls it after its last Accept.
func (l *listener) Close() error { return l.close() }
