package server_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/crdconvert/webhookd/internal/server"
)

var errRefused = errors.New("connection refused")

// A pipeListener is a listener without a network, so a server can run in a bubble, where time
// passes only while all goroutines block.
type pipeListener struct {
	accepting chan net.Conn // nil: there is no descriptor for it
	closed    chan struct{}
	close     func()
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepting:
		if c == nil {
			return nil, syscall.EMFILE
		}
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.close()
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// piped is a server under test that listens only on pipes.
type piped struct {
	*running

	listener *pipeListener
}

// startPiped is start for a test in a bubble.
func startPiped(t *testing.T, change func(*server.Options)) *piped {
	t.Helper()
	opts := options(t, change)
	opts.AdminListen = ""
	// A pipe has no buffer for the bytes that the handshake leaves behind, so a client that does
	// not read could not write either.
	opts.TLS.SessionTicketsDisabled = true
	s := server.New(opts)
	closed := make(chan struct{})
	l := &pipeListener{accepting: make(chan net.Conn), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
	server.ListenOn(s, l)
	return &piped{run(t, s), l}
}

// dial makes a connection, or fails if the server no longer listens.
func (p *piped) dial() (net.Conn, error) {
	own, peer := net.Pipe()
	select {
	case p.listener.accepting <- peer:
		return own, nil
	case <-p.listener.closed:
		return nil, errRefused
	}
}

// raw makes a connection and its handshake.
func (p *piped) raw() *rawConn {
	p.t.Helper()
	own, err := p.dial()
	if err != nil {
		p.t.Fatal(err)
	}
	c := newRaw(p.t, tls.Client(own, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}))
	if err := c.HandshakeContext(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	return c
}

// pipeClient returns a client whose new connections go to the result of endpoint.
func pipeClient(t *testing.T, endpoint func() *piped) *http.Client {
	t.Helper()
	client := newClient(t)
	client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
		return endpoint().dial()
	}
	return client
}
