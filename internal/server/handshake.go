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

// A handshake is what a connection does before net/http sees it. Its costly part, the key exchange and the signature, comes
// between the ClientHello and the server's first write. Only as many connections as there are processors do that part at once,
// first come, first served: a flood of handshakes leaves the processors to reviews.
type handshake struct {
	turns   chan struct{} // one place for each handshake that computes; nil: the handshake is done
	got     int           // bytes
	record  record        // that is being read
	hasTurn atomic.Bool
	cancel  atomic.Pointer[context.CancelFunc]
}

func handshakeTurns() chan struct{} { return make(chan struct{}, runtime.GOMAXPROCS(0)) }

// room returns how much may be read at a time, n at most. TLS is given one record: what it had read beyond the handshake would be
// the beginning of a header that nobody saw arrive, and that could wait for its end as long as an idle connection.
func (h *handshake) room(n int) (int, error) {
	switch {
	case h.turns == nil:
		return n, nil
	case h.got > handshakeBytes:
		return 0, errHandshakeTooLarge
	}
	return min(n, h.record.room()), nil
}

// read takes what has come.
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

// answers gives the turn back: what is written has been computed.
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

// shake does the handshake of c, and returns the connection for net/http.
func (l *listener) shake(c *conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, l.limits.ReadHeaderTimeout)
	defer cancel()
	c.handshake.turns = l.turns
	c.handshake.cancel.Store(&cancel)
	t := tls.Server(c, l.tls)
	err := t.HandshakeContext(ctx)
	c.handshake.answers(c) // where it failed before it wrote
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
	c.idle.begin(time.Now())
	return t, nil
}

// sayHTTPS answers a client that has sent HTTP in place of a handshake, as net/http does.
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

// withTurns has a handshake wait for its turn between the ClientHello and what it has computed.
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
