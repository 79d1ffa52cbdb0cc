package server

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"time"
)

// A handshake is the TLS handshake of a connection, before net/http gets it. Its costly part, the
// key exchange and the signature, is between the ClientHello and the server's first write. Only as
// many connections as there are processors do that part at once, first come, first served, so a
// flood of handshakes leaves the processors to reviews.
type handshake struct {
	turns   chan struct{} // one place per computing handshake; nil: the handshake is done
	got     int           // bytes
	record  record        // the record being read
	hasTurn atomic.Bool
	cancel  atomic.Pointer[context.CancelFunc]
}

func handshakeTurns() chan struct{} { return make(chan struct{}, runtime.GOMAXPROCS(0)) }

// room returns how many bytes may be read at a time, at most n. TLS gets one record at a time.
// Otherwise it would buffer the start of a request's header, and the time for that header would
// never start.
func (h *handshake) room(n int) (int, error) {
	switch {
	case h.turns == nil:
		return n, nil
	case h.got > handshakeBytes:
		return 0, errHandshakeTooLarge
	}
	return min(n, h.record.room()), nil
}

// read records that p has arrived.
func (h *handshake) read(c *conn, p []byte) {
	if h.turns == nil {
		return
	}
	if h.got == 0 {
		c.conns.move(c, greeting)
	}
	h.got += len(p)
	h.record.took(p)
}

// A record is the progress in reading a TLS record (RFC 8446, section 5.1).
type record struct {
	header [5]byte
	read   int // bytes of the header
	left   int // bytes left after the header
}

// room returns how many bytes at most belong to the record.
func (r *record) room() int {
	if r.left > 0 {
		return r.left
	}
	return len(r.header) - r.read
}

// took advances by p, which is no longer than room.
func (r *record) took(p []byte) {
	if r.left > 0 {
		r.left -= len(p)
		return
	}
	if r.read += copy(r.header[r.read:], p); r.read == len(r.header) {
		r.read, r.left = 0, int(binary.BigEndian.Uint16(r.header[3:]))
	}
}

// awaitTurn waits until the handshake of c may compute.
func (h *handshake) awaitTurn(ctx context.Context, c *conn) error {
	c.conns.move(c, computing)
	select {
	case h.turns <- struct{}{}:
		h.hasTurn.Store(true)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// answers returns the turn: the server writes only after it has computed.
func (h *handshake) answers(c *conn) {
	if h.hasTurn.CompareAndSwap(true, false) {
		<-h.turns
		c.conns.move(c, greeting)
	}
}

// giveUp ends a handshake that waits for its turn.
func (h *handshake) giveUp() {
	if cancel := h.cancel.Load(); cancel != nil {
		(*cancel)()
	}
}

// shake does the handshake of c and returns the connection for net/http.
func (l *listener) shake(c *conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, l.limits.ReadHeaderTimeout)
	defer cancel()
	c.handshake.turns = l.turns
	c.handshake.cancel.Store(&cancel)
	t := tls.Server(c, l.tls)
	err := t.HandshakeContext(ctx)
	c.handshake.answers(c) // in case it failed before the first write
	c.handshake.turns = nil
	if err != nil {
		c.sayHTTPS(err)
		_ = c.Close()
		return nil, err
	}
	if len(t.ConnectionState().VerifiedChains) > 0 {
		c.conns.move(c, verified)
	} else {
		c.conns.move(c, fresh)
	}
	c.idle.startWait(time.Now())
	return t, nil
}

// sayHTTPS answers a client that sent HTTP instead of a handshake, as net/http does.
func (c *conn) sayHTTPS(err error) {
	var other tls.RecordHeaderError
	if !errors.As(err, &other) || other.Conn == nil {
		return
	}
	switch string(other.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		_, _ = io.WriteString(other.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
}

// withTurns makes handshakes wait for their turn after the ClientHello.
func withTurns(config *tls.Config) *tls.Config {
	own := config.Clone()
	own.NextProtos = []string{"http/1.1"}
	next := own.GetConfigForClient
	own.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
		if c, ok := hello.Conn.(*conn); ok {
			if err := c.handshake.awaitTurn(hello.Context(), c); err != nil {
				return nil, err
			}
		}
		if next == nil {
			return nil, nil //nolint:nilnil // the config as it is
		}
		return next(hello)
	}
	return own
}
