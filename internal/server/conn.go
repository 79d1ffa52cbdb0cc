package server

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"
)

// handshakeBytes bounds what a client may send during its handshake. A ClientHello of Go with a
// client certificate takes less than 4 KiB.
const handshakeBytes = 16 << 10

// socketBuffer bounds what the kernel keeps of a request that is not read, or of an answer. It is
// enough for 60 MB a second to a client that is a millisecond away.
const socketBuffer = 64 << 10

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

	reading   deadline
	writing   deadline
	idle      idleState
	handshake handshake

	source netip.Prefix
	start  func(*conn) // once there is room for it

	// Guarded by conns.mu; see conns.go.
	counted  bool      // by conns
	gone     bool      // cut off
	busy     bool      // its client waits for the server
	answered bool      // it had a review answered
	since    time.Time // the server waits for its client

	mu     sync.Mutex // TLS also writes from the reading goroutine
	corked *[]byte    // see cork.go; nil: not corked
	failed error      // the first error of a delayed write
	share  *share     // of the request that is answered; may be nil
}

// newConn returns the state of c, accepted just now.
func newConn(c net.Conn, l *Limits, conns *conns, start func(*conn)) *conn {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(socketBuffer) // of no use on a connection that has failed
		_ = tcp.SetWriteBuffer(socketBuffer)
	}
	own := &conn{
		Conn: c, limits: l, conns: conns, expires: expiry(time.Now(), l.ConnectionAge),
		source: sourceOfConn(c), start: start,
		reading: deadline{set: c.SetReadDeadline}, writing: deadline{set: c.SetWriteDeadline},
	}
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
	if !c.idle.used.Load() {
		return nil
	}
	return c.reading.setHTTP(t)
}

// SetWriteDeadline sets net/http's deadline for writes.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.writing.setHTTP(t) }

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
	c.handshake.pause(c)
	p = p[:room]
	n, err := c.receive(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.idle.ended() {
		// A deadline expires without a look at what has arrived.
		if n, err = readPending(c.Conn, p), nil; n == 0 {
			err = io.EOF
		}
	}
	if n > 0 {
		c.idle.received()
		if failed := c.handshake.read(c, p[:n]); failed != nil {
			return n, failed
		}
	}
	return n, err
}

// receive reads from the socket until the deadline.
func (c *conn) receive(p []byte) (int, error) {
	c.idle.readAgain()
	for {
		c.reading.begin()
		n, err := c.Conn.Read(p)
		if !c.reading.end(err) {
			return n, err
		}
	}
}

// send writes all of p to the socket.
func (c *conn) send(p []byte) (int, error) {
	c.handshake.pause(c)
	n, err := c.transmit(p)
	if c.share != nil {
		c.share.done.Add(int64(n))
	}
	return n, err
}

// transmit writes all of p to the socket until the deadline.
func (c *conn) transmit(p []byte) (int, error) {
	for sent := 0; ; {
		c.writing.begin()
		n, err := c.Conn.Write(p[sent:])
		sent += n
		if !c.writing.end(err) {
			return sent, err
		}
	}
}

// interrupt makes the pending read or write of a request fail at once.
func (c *conn) interrupt(writing bool) {
	if past := time.Unix(1, 0); writing {
		_ = c.SetWriteDeadline(past)
	} else {
		c.reading.setOwn(past)
	}
}
