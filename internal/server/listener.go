package server

import (
	"errors"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// glance is how long it is waited for what the kernel should have already. It is longer than a busy machine needs to go
	// from setting the deadline to the system call.
	glance = 50 * time.Millisecond
	// lastAccepts bounds the time in which connections are accepted that came before the listener closed.
	lastAccepts = time.Second
)

// A listener makes each connection that it accepts a conn. It closes without a loss: net/http would close it over the
// connections that are complete but not accepted, whose clients may have sent a request.
type listener struct {
	net.Listener

	limits *Limits
	conns  *conns

	retiring atomic.Pointer[time.Time] // since when
	close    func() error              // once
	closed   chan struct{}
}

func newListener(l net.Listener, limits *Limits, conns *conns) *listener {
	closed := make(chan struct{})
	return &listener{Listener: l, limits: limits, conns: conns, closed: closed, close: sync.OnceValue(func() error {
		defer close(closed)
		return l.Close()
	})}
}

// Accept waits for the next connection. While the listener retires, it returns those that are there, and then
// http.ErrServerClosed.
func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if since := l.retiring.Load(); err != nil && since != nil {
		c, err = l.acceptUntil(since.Add(lastAccepts))
	}
	if err != nil {
		return nil, err // as it is: net/http asks it whether to try again
	}
	own := newConn(c, l.limits, l.conns.remove)
	l.conns.add(own)
	return own, nil
}

func (l *listener) acceptUntil(end time.Time) (net.Conn, error) {
	now := time.Now()
	if now.After(end) || l.setDeadline(now.Add(glance)) != nil {
		return nil, http.ErrServerClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, http.ErrServerClosed
	}
	return c, nil
}

// retire closes the listener once the connections are accepted that came before. It returns when Accept is called no more.
func (l *listener) retire() {
	now := time.Now()
	l.retiring.Store(&now)
	if l.setDeadline(now) != nil { // else it wakes Accept
		_ = l.Close()
	}
	<-l.closed
}

func (l *listener) setDeadline(t time.Time) error {
	if d, ok := l.Listener.(interface{ SetDeadline(t time.Time) error }); ok {
		return d.SetDeadline(t)
	}
	return errors.ErrUnsupported
}

// Close closes the listener. net/http does so when it calls Accept no more.
func (l *listener) Close() error { return l.close() }
