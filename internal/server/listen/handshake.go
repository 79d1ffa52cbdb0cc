package listen

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"time"

	"github.com/crdconvert/webhookd/internal/server/gate"
)

// A handshake is the TLS handshake of a connection, before net/http gets it. It computes (the key
// exchange, the signature) only between the arrival of a record and the next read or write. Only as
// many connections as there are processors do so at once, shared among sources as conversions are,
// so a flood of handshakes leaves the processors to reviews, and turns to other sources.
type handshake struct {
	turns  *gate.Ledger // nil: the handshake is done
	share  gate.Share   // of the turns
	got    int          // bytes
	record record       // the record being read
}

// handshakeTurns returns a ledger in which one source can have as many turns as there are
// processors.
func handshakeTurns() *gate.Ledger { return gate.NewTurns(runtime.GOMAXPROCS(0)) }

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

// read records that p has arrived. At the end of a record of the handshake, it waits for a turn to
// compute: also for the one after a HelloRetryRequest.
func (h *handshake) read(c *Conn, p []byte) error {
	if h.turns == nil {
		return nil
	}
	h.got += len(p)
	if !h.record.took(p) || h.record.header[0] != handshakeRecord {
		return nil
	}
	c.SetBusy()
	return h.share.Convert()
}

// pause returns the turn: the server waits for its client.
func (h *handshake) pause(c *Conn) {
	if h.share.Converts() {
		h.share.Yield()
		c.conns.setUnused(c)
	}
}

// handshakeRecord is the type of a record of the handshake that is not encrypted.
const handshakeRecord = 22

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

// took advances by p, which is no longer than room, and reports whether the record is complete.
func (r *record) took(p []byte) bool {
	if r.left > 0 {
		r.left -= len(p)
		return r.left == 0
	}
	if r.read += copy(r.header[r.read:], p); r.read == len(r.header) {
		r.read, r.left = 0, int(binary.BigEndian.Uint16(r.header[3:]))
	}
	return false
}

// shake does the handshake of c and returns the connection for net/http.
func (l *Listener) shake(c *Conn) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(l.ctx, HeaderTime)
	defer cancel()
	c.handshake.turns = l.turns
	l.turns.Join(ctx, &c.handshake.share, gate.Key{Source: c.source})
	t := tls.Server(c, l.tls)
	err := t.HandshakeContext(ctx)
	c.handshake.share.Release()
	c.handshake.turns = nil
	if err != nil {
		c.sayHTTPS(err)
		_ = c.Close()
		return nil, err
	}
	c.idle.startWait(time.Now())
	return t, nil
}

// sayHTTPS answers a client that sent HTTP instead of a handshake, as net/http does.
func (c *Conn) sayHTTPS(err error) {
	other, _ := errors.AsType[tls.RecordHeaderError](err)
	switch string(other.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO":
		_, _ = io.WriteString(c.Conn, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n")
	}
}
