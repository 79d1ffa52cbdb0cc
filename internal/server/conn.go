package server

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// handshakeBytes bounds what a client may send during its handshake. A ClientHello of Go with a
// client certificate takes less than 4 KiB.
const handshakeBytes = 16 << 10

var errHandshakeTooLarge = errors.New("client sent more than 16 KiB in its handshake")

// A conn is a connection of a listener, below TLS. It bounds the wait for a request, and the
// arrival of the request's header. net/http cannot do so for the first request: its
// ReadHeaderTimeout starts at the end of the handshake. Go's client, and so kube-apiserver, opens
// connections ahead. If the server closed such a connection after five seconds, just as the client
// starts to use it, a conversion would fail.
type conn struct {
	net.Conn

	limits  *Limits
	conns   *conns
	expires time.Time // see connage.go

	reading   readDeadline
	idle      idleState
	handshake handshake

	// Guarded by conns.mu; see conns.go.
	standing standing
	since    time.Time // start of the standing, during the handshake
	answered bool      // it had a review answered
	cutOff   bool      // closed to make room for another

	mu     sync.Mutex // TLS also writes from the reading goroutine
	corked *[]byte    // see cork.go; nil: not corked
	failed error      // the first error of a delayed write
	sent   func(n int)
}

// newConn returns the state of c, accepted just now.
func newConn(c net.Conn, l *Limits, conns *conns) *conn {
	own := &conn{Conn: c, limits: l, conns: conns, expires: expiry(time.Now(), l.ConnectionAge), reading: readDeadline{socket: c}}
	own.idle = idleState{header: l.ReadHeaderTimeout, most: l.IdleTimeout, reading: &own.reading}
	return own
}

// Close closes the connection.
func (c *conn) Close() error {
	defer c.conns.remove(c)
	return c.Conn.Close()
}

// SetReadDeadline sets net/http's deadline, once the first request has arrived. Reads obey the
// server's own deadline as well.
func (c *conn) SetReadDeadline(t time.Time) error {
	if !c.idle.hadRequest() {
		return nil
	}
	return c.reading.setHTTP(t)
}

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Read reads from the socket. The first byte of a request starts the time for its header.
func (c *conn) Read(p []byte) (int, error) {
	room, err := c.handshake.room(len(p))
	if err != nil {
		return 0, err
	}
	p = p[:room]
	n, err := c.Conn.Read(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.idle.ended() {
		// A deadline expires without a look at what has arrived.
		if n, err = readPending(c.Conn, p), nil; n == 0 {
			err = io.EOF
		}
	}
	if n > 0 {
		c.handshake.read(c, p[:n])
		c.idle.received()
	}
	return n, err
}

// send writes all of p to the socket.
func (c *conn) send(p []byte) (int, error) {
	c.handshake.answers(c)
	if c.sent == nil {
		return c.Conn.Write(p)
	}
	c.sent(0)
	n, err := c.Conn.Write(p)
	c.sent(n)
	return n, err
}

// interrupt makes the pending read or write of a request fail at once.
func (c *conn) interrupt(writing bool) {
	if past := time.Unix(1, 0); writing {
		_ = c.SetWriteDeadline(past)
	} else {
		c.reading.setOwn(past)
	}
}

// A readDeadline is the earlier of net/http's deadline and the server's own. It is safe for
// concurrent use.
type readDeadline struct {
	socket interface{ SetReadDeadline(t time.Time) error }

	mu        sync.Mutex
	http, own time.Time // zero: none
}

func (d *readDeadline) setHTTP(t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.http = t
	return d.set()
}

// setOwn sets the server's deadline. The next Read returns an error of the socket.
func (d *readDeadline) setOwn(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.own = t
	_ = d.set()
}

// set updates the socket. Callers hold mu.
func (d *readDeadline) set() error {
	t := d.http
	if t.IsZero() || !d.own.IsZero() && d.own.Before(t) {
		t = d.own
	}
	return d.socket.SetReadDeadline(t)
}
