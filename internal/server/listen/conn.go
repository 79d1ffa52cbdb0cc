package listen

import (
	"cmp"
	"container/list"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/crdconvert/webhookd/internal/server/gate"
)

// handshakeBytes bounds what a client may send during its handshake. A ClientHello of Go with a
// client certificate takes less than 4 KiB.
const handshakeBytes = 16 << 10

// socketBuffer bounds what the kernel keeps of a request that is not read, or of an answer. It is
// enough for 60 MB a second to a client that is a millisecond away.
const socketBuffer = 64 << 10

// lastLook is how long an idle connection is read again before it is closed. It is longer than a
// busy machine needs from setting the deadline to the system call.
const lastLook = 20 * time.Millisecond

var errHandshakeTooLarge = errors.New("client sent more than 16 KiB in its handshake")

// A Conn is a connection of a [Listener], below TLS. It bounds the wait for a request, and the
// arrival of the request's header. net/http cannot do so for the first request: its
// ReadHeaderTimeout starts at the end of the handshake. Go's client, and so kube-apiserver, opens
// connections ahead. If the server closed such a connection after five seconds, just as the client
// starts to use it, a conversion would fail.
type Conn struct {
	net.Conn

	source    netip.Prefix // see gate.SourceOf
	conns     *Conns
	expires   time.Time // see expiry
	reading   deadline
	writing   deadline
	idle      idleState
	handshake handshake
	start     func(*Conn) // once there is room for it

	// Guarded by conns.mu; see conns.go.
	counted  bool       // by conns
	gone     bool       // cut off
	answered bool       // it had a review answered
	list     *list.List // of unused ones; nil: its client waits for the server
	place    *list.Element
	since    time.Time // that it is in the list

	mu     sync.Mutex  // TLS also writes from the reading goroutine
	corked *[]byte     // see cork.go; nil: not corked
	failed error       // the first error of a delayed write
	share  *gate.Share // of the request that is answered; may be nil
}

// newConn returns the state of c, accepted just now.
func newConn(c net.Conn, times Times, conns *Conns, start func(*Conn)) *Conn {
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(socketBuffer) // of no use on a connection that has failed
		_ = tcp.SetWriteBuffer(socketBuffer)
	}
	own := &Conn{
		Conn: c, conns: conns, expires: expiry(time.Now(), times.Age), start: start,
		reading: deadline{set: c.SetReadDeadline}, writing: deadline{set: c.SetWriteDeadline},
	}
	tcp, _ := c.RemoteAddr().(*net.TCPAddr) // nil has no address
	own.source = gate.SourceOf(tcp.AddrPort().Addr())
	own.idle = idleState{most: times.Idle, reading: &own.reading}
	return own
}

type connKey struct{}

// Context is for [http.Server.ConnContext].
func Context(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, below(c))
}

// Of returns the connection of a request, or nil if it is one of another server's listener.
func Of(r *http.Request) *Conn {
	c, _ := r.Context().Value(connKey{}).(*Conn)
	return c
}

// below returns the Conn below a connection of net/http, or nil.
func below(c net.Conn) *Conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*Conn)
	return own
}

// State is for [http.Server.ConnState].
func State(c net.Conn, state http.ConnState) {
	own := below(c)
	switch state { //nolint:exhaustive // the others change nothing
	case http.StateIdle:
		own.conns.setUnused(own)
		own.idle.startWait(time.Now())
	case http.StateActive:
		own.conns.setUnused(own)
		own.idle.headerDone()
	}
}

// expiry returns when a connection made now must end with its next answer: never (zero) for age 0.
// A client keeps its connection to one replica as long as it can. Connections that end with age
// give new replicas their share of the load, and let clients leave a lost node. The age varies by a
// fifth: otherwise all connections made after a restart would end at once.
func expiry(now time.Time, age time.Duration) time.Time {
	if age == 0 {
		return time.Time{}
	}
	return now.Add(time.Duration(float64(age) * (0.8 + 0.4*rand.Float64()))) //nolint:gosec // not a secret
}

// Expired reports whether the connection must end. A nil one never does.
func (c *Conn) Expired(now time.Time) bool {
	return c != nil && !c.expires.IsZero() && now.After(c.expires)
}

// Close closes the connection.
func (c *Conn) Close() error {
	defer c.conns.remove(c)
	return c.Conn.Close()
}

// SetReadDeadline sets net/http's deadline, once the first request has arrived. Reads obey the
// server's own deadline as well.
func (c *Conn) SetReadDeadline(t time.Time) error {
	if !c.idle.used.Load() {
		return nil
	}
	return c.reading.setHTTP(t)
}

// SetWriteDeadline sets net/http's deadline for writes.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.writing.setHTTP(t) }

// Read reads from the socket. The first byte of a request starts the time for its header.
func (c *Conn) Read(p []byte) (int, error) {
	room, err := c.handshake.room(len(p))
	if err != nil {
		return 0, err
	}
	c.handshake.pause(c)
	p = p[:room]
	n, err := c.receive(p)
	if errors.Is(err, os.ErrDeadlineExceeded) && c.idle.ended() {
		// A deadline expires without a look at what has arrived.
		_ = c.Conn.SetReadDeadline(time.Now().Add(lastLook)) // otherwise the read fails
		if n, err = c.Conn.Read(p); n == 0 {
			err = io.EOF
		}
	}
	c.idle.received() // or nothing has, and the connection ends
	return n, cmp.Or(c.handshake.read(c, p[:n]), err)
}

// receive reads from the socket until the deadline.
func (c *Conn) receive(p []byte) (int, error) {
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
func (c *Conn) send(p []byte) (int, error) {
	c.handshake.pause(c)
	n, err := c.transmit(p)
	if c.share != nil {
		c.share.Done(int64(n))
	}
	return n, err
}

// transmit writes all of p to the socket until the deadline.
func (c *Conn) transmit(p []byte) (int, error) {
	for sent := 0; ; {
		c.writing.begin()
		n, err := c.Conn.Write(p[sent:])
		sent += n
		if !c.writing.end(err) {
			return sent, err
		}
	}
}

// SetBodyDeadline sets when reads of a request's body fail; zero: never.
func (c *Conn) SetBodyDeadline(t time.Time) { c.reading.setOwn(t) }

// Interrupt makes the pending read or write of a request fail at once.
func (c *Conn) Interrupt(writing bool) {
	if past := time.Unix(1, 0); writing {
		_ = c.SetWriteDeadline(past)
	} else {
		c.reading.setOwn(past)
	}
}
