package server

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// A conn is a connection of the webhook listener below TLS.
//
// It lets a new connection wait for its first request as long as one between two requests may.
// net/http applies ReadHeaderTimeout from the end of the handshake on; but Go's client, and so
// kube-apiserver, opens connections ahead and keeps those that it did not need at once. If the server
// closes such a connection after five seconds, just as the client comes to use it, then a conversion
// fails. The timeout counts from the first byte instead, which is what it is there to bound.
type conn struct {
	net.Conn

	expires time.Time // see connage.go
	limits  *Limits

	// Only the goroutine that serves the connection changes these, and not once the first request
	// has begun, when others come to read.
	phase   phase
	waiting time.Time     // since when it has waited for the first byte
	header  time.Time     // the deadline that net/http set then
	waited  time.Duration // how long it did

	reading, writing lazyDeadline
	record           record      // that is being read, while handshaking
	rest             rest        // see rest.go
	gone             func(*conn) // called when it is closed

	mu          sync.Mutex // TLS writes from the goroutine that reads, too
	corked      *[]byte    // see cork.go; nil: nothing is gathered
	corkedUntil time.Time
	failed      error // the first error of a gathered write
}

type phase int

const (
	handshaking phase = iota
	handshaken
	firstWait   // for a byte of the first request
	firstHeader // of the first request is being read
	serving
)

// newConn returns the state of c, which was accepted now.
func newConn(c net.Conn, l *Limits, gone func(*conn)) *conn {
	own := &conn{
		Conn: newSocket(c), expires: expiry(time.Now(), l.ConnectionAge), limits: l, gone: gone,
		reading: lazyDeadline{set: c.SetReadDeadline}, writing: lazyDeadline{set: c.SetWriteDeadline},
	}
	own.rest = rest{header: l.ReadHeaderTimeout, reading: &own.reading}
	return own
}

// Close closes the connection.
func (c *conn) Close() error {
	defer c.gone(c)
	return c.Conn.Close()
}

// SetReadDeadline knows by the order of calls what net/http means: it clears the deadline after the
// handshake, then sets ReadHeaderTimeout and, once it has the header, ReadTimeout, both counted from
// the end of the handshake.
func (c *conn) SetReadDeadline(t time.Time) error {
	switch c.phase {
	case handshaking:
		if t.IsZero() {
			c.phase = handshaken
		}
	case handshaken:
		c.phase = firstWait
		c.waiting, c.header = time.Now(), t
		c.rest.begin(c.waiting)
		t = c.waiting.Add(c.limits.IdleTimeout)
	case firstWait, firstHeader: // where the request came along with the handshake, nothing was read
		c.phase = serving
		t = t.Add(c.waited)
	case serving:
	}
	return c.reading.want(t)
}

// SetWriteDeadline sets the deadline of writes.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.writing.want(t) }

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// Read starts the time for the first request's header at its first byte.
//
// Until then TLS is given one record at a time: what it had read beyond the handshake would be the beginning of a header that
// nobody saw arrive, and that could wait for its end as long as an idle connection.
func (c *conn) Read(p []byte) (n int, err error) {
	if c.phase == handshaking {
		p = p[:min(len(p), c.record.room())]
		defer func() { c.record.took(p[:n]) }()
	}
	err = c.reading.do(func() (err error) {
		n, err = c.Conn.Read(p)
		return err
	})
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.rest.ended() {
		// A deadline that strikes does so without a look at what has arrived.
		if n, err = arrived(c.Conn, p), nil; n == 0 {
			err = io.EOF
		}
	}
	if n > 0 {
		c.rest.stir()
	}
	if c.phase == firstWait && n > 0 {
		c.phase = firstHeader
		c.waited = time.Since(c.waiting)
		if err == nil {
			err = c.reading.want(c.header.Add(c.waited))
		}
	}
	return n, err
}

// send writes all of p to the socket.
func (c *conn) send(p []byte) (n int, err error) {
	err = c.writing.do(func() error {
		more, err := c.Conn.Write(p[n:])
		n += more
		return err
	})
	return n, err
}

// A record is how far a TLS record has been read (RFC 8446, section 5.1).
type record struct {
	header [5]byte
	read   int // of the header
	left   int // of what is behind it
}

// room returns how many bytes belong to the record at the most.
func (r *record) room() int {
	if r.left > 0 {
		return r.left
	}
	return len(r.header) - r.read
}

// took goes on behind p, which is no longer than room.
func (r *record) took(p []byte) {
	if r.left > 0 {
		r.left -= len(p)
		return
	}
	if r.read += copy(r.header[r.read:], p); r.read == len(r.header) {
		r.read, r.left = 0, int(binary.BigEndian.Uint16(r.header[3:]))
	}
}
