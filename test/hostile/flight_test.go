package hostile_test

import (
	"crypto/tls"
	"io"
	"net"
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

// TestHeaderThatComesWithTheHandshake: header-timeout (1 s here) bounds a header whose first bytes
// came along with the end of the handshake as it bounds any other.
func TestHeaderThatComesWithTheHandshake(t *testing.T) {
	t.Parallel()
	p := start(t, "--header-timeout", "1s")
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
	began := time.Now()
	if err := raw.SetReadDeadline(began.Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, raw)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the connection was kept for %s: %v", took, err)
	}
}
