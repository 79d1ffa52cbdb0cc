package listen

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// countingConn counts how often its read deadline is set.
type countingConn struct {
	net.Conn

	set int
}

// SetReadDeadline sets and counts the deadline.
func (c *countingConn) SetReadDeadline(t time.Time) error {
	c.set++
	return c.Conn.SetReadDeadline(t)
}

// piped returns the server's end of a connection and the client's.
func piped(t *testing.T) (c *Conn, socket *countingConn, client net.Conn) {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	socket = &countingConn{Conn: near}
	return newConn(socket, Times{}, NewConns(0, nil), nil), socket, far
}

func TestDeadlineOfARead(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(d *deadline, start time.Time) // a second after the read began, with a deadline of 10 s
		want   time.Duration
	}{
		{"stays", func(*deadline, time.Time) {}, 10 * time.Second},
		{"becomes later", func(d *deadline, start time.Time) { d.setOwn(start.Add(time.Minute)) }, time.Minute},
		{"becomes earlier", func(d *deadline, start time.Time) { d.setOwn(start.Add(2 * time.Second)) }, 2 * time.Second},
		{"passes at once", func(d *deadline, _ time.Time) { d.setOwn(time.Unix(1, 0)) }, time.Second},
		{"is later for net/http", func(d *deadline, start time.Time) { _ = d.setHTTP(start.Add(time.Minute)) }, 10 * time.Second},
		{"is earlier for net/http", func(d *deadline, start time.Time) { _ = d.setHTTP(start.Add(3 * time.Second)) }, 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, _, _ := piped(t)
				start := time.Now()
				c.reading.setOwn(start.Add(10 * time.Second))
				time.AfterFunc(time.Second, func() { tt.change(&c.reading, start) })
				_, err := c.Read(make([]byte, 1))
				if took := time.Since(start); took != tt.want || !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("the read failed after %s with %v, want %s", took, err, tt.want)
				}
			})
		})
	}
}

// TestSocketKeepsItsDeadline checks that reads with ever later deadlines seldom set the socket's,
// and that none of them fails.
func TestSocketKeepsItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, socket, client := piped(t)
		for i := range 100 {
			c.reading.setOwn(time.Now().Add(10 * time.Second))
			time.AfterFunc(time.Second, func() { _, _ = client.Write([]byte("x")) })
			if _, err := c.Read(make([]byte, 1)); err != nil {
				t.Fatalf("read %d: %v", i, err)
			}
		}
		if socket.set > 15 {
			t.Errorf("the socket's deadline was set %d times in 100 reads, want about 11", socket.set)
		}
	})
}

func TestSlowReaderOfAnAnswerHasItsTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, _, client := piped(t)
		start := time.Now()
		_ = c.SetWriteDeadline(start.Add(10 * time.Second))
		go func() { _, _ = client.Read(make([]byte, 1)) }()
		if _, err := c.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		advance(9 * time.Second)
		_ = c.SetWriteDeadline(time.Now().Add(10 * time.Second))
		go func() { _, _ = client.Read(make([]byte, 1)) }()
		n, err := c.Write([]byte("xyz"))
		if took := time.Since(start); n != 1 || took != 19*time.Second || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d bytes and %v after %s, want one until the second deadline, 19s", n, err, took)
		}
	})
}

func TestInterruptEndsWhatIsPending(t *testing.T) {
	t.Parallel()
	for _, writing := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c, _, _ := piped(t)
			start := time.Now()
			time.AfterFunc(time.Second, func() { c.Interrupt(!writing) })
			time.AfterFunc(2*time.Second, func() { c.Interrupt(writing) })
			pending := c.Read
			if writing {
				pending = c.Write
			}
			if n, err := pending([]byte("x")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != 2*time.Second {
				t.Errorf("writing %t: %d bytes and %v after %s, want none and a deadline after 2s", writing, n, err, time.Since(start))
			}
		})
	}
}
