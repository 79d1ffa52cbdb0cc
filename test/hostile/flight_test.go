package hostile_test

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// A lateFlight holds back what is written after the hello until it is let go, so that the end of
// the handshake and the beginning of a request arrive in one segment.
type lateFlight struct {
	net.Conn

	writes int
	held   []byte
}

func (c *lateFlight) Write(p []byte) (int, error) {
	if c.writes++; c.writes == 1 {
		return c.Conn.Write(p)
	}
	c.held = append(c.held, p...)
	return len(p), nil
}

// TestHeaderThatComesWithTheHandshake: the time for a header bounds one whose first bytes
// came along with the end of the handshake as it bounds any other.
func TestHeaderThatComesWithTheHandshake(t *testing.T) {
	t.Parallel()
	p := start(t)
	raw := p.dialTCP(t)
	flight := &lateFlight{Conn: raw}
	c := tls.Client(flight, &tls.Config{RootCAs: p.ca.Pool(), ServerName: "localhost"})
	if err := c.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(c, "POST /crdconvert HTTP/1.1\r\nHost: localhost\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := raw.Write(flight.held); err != nil {
		t.Fatal(err)
	}
	if err := raw.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // less than an idle connection is kept
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, raw); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the connection is kept")
	}
}
