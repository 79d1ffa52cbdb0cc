package server

import (
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pipeConn is an open connection. Closing its socket also closes it for the server.
type pipeConn struct {
	net.Conn

	own    *conn
	closed bool
}

// Close closes the connection as its serving goroutine would.
func (c *pipeConn) Close() error {
	if !c.closed {
		c.closed = true
		go func() { _ = c.own.Close() }()
	}
	return c.Conn.Close()
}

// opened adds a connection with a standing.
func opened(t *testing.T, s *conns, to standing, answered bool) *pipeConn {
	t.Helper()
	limits := DefaultLimits()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	c := &pipeConn{Conn: near}
	c.own = newConn(c, &limits, s)
	if !s.add(c.own) {
		t.Fatal("there is no room")
	}
	c.own.answered = answered
	s.move(c.own, to)
	synctest.Wait()
	return c
}

func TestWhichConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		open []standing
		want int // index of the connection that is cut off; -1: none
	}{
		{"the oldest without an answer goes first", []standing{idle, reading, fresh, fresh}, 2},
		{"then the oldest idle one", []standing{reading, converting, idle, idle}, 2},
		{"then the oldest that sends a request", []standing{verified, reading, converting, reading}, 1},
		{"never a verified or converting one", []standing{verified, converting, verified, converting}, -1},
		{"handshakes have half of the room", []standing{verified, idle, greeting, silent}, 3},
		{"a handshake that waits for the server stays", []standing{verified, idle, computing, greeting}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var evicted []standing
				s := newConns(len(tt.open), func(s standing) { evicted = append(evicted, s) })
				all := make([]*pipeConn, 0, len(tt.open))
				for _, standing := range tt.open {
					c := opened(t, s, standing, true)
					all = append(all, c)
				}
				advance(time.Minute)
				limits := DefaultLimits()
				added := s.add(newConn(&sink{}, &limits, s))
				synctest.Wait()
				gone := slices.IndexFunc(all, func(c *pipeConn) bool { return c.closed })
				if gone != tt.want || added != (tt.want >= 0) {
					t.Errorf("connection %d went, and another was added: %t; want %d", gone, added, tt.want)
				}
				if tt.want >= 0 {
					if diff := cmp.Diff([]standing{tt.open[tt.want]}, evicted); diff != "" {
						t.Error(diff)
					}
				}
			})
		})
	}
}

// TestHandshakeHasTimeBeforeCutOff checks that a handshake is not cut off at once, however many
// others arrive.
func TestHandshakeHasTimeBeforeCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newConns(4, func(standing) {})
		first, began := opened(t, s, silent, false), time.Now()
		opened(t, s, greeting, false)
		opened(t, s, silent, false)
		if took := time.Since(began); !first.closed || took < greetGrace || took > 2*greetGrace {
			t.Errorf("cut off %t after %s, want it after %s", first.closed, took, greetGrace)
		}
	})
}

func TestRoomReturnsWithTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newConns(4, func(s standing) { t.Errorf("one that was %s is cut off", s) })
		for range 100 {
			c := opened(t, s, fresh, false)
			_ = c.own.Close()
			_ = c.own.Close()
		}
		if n := s.count(); n != 0 {
			t.Errorf("%d connections are counted, want none", n)
		}
	})
}

// TestStandings checks the standing after each step of a client.
func TestStandings(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newConns(0, nil)
		c := opened(t, s, fresh, false)
		want := func(what string, to standing) {
			t.Helper()
			if got := c.own.standing; got != to {
				t.Errorf("%s: %s, want %s", what, got, to)
			}
		}
		s.setReading(c.own)
		want("its first request", fresh)
		s.move(c.own, converting)
		want("its body has come", converting)
		s.setIdle(c.own)
		want("without an answer", fresh)
		c.own.answered = true
		s.setIdle(c.own)
		want("after an answer", idle)
		s.setReading(c.own)
		want("its next request", reading)
		s.move(c.own, verified)
		s.setIdle(c.own)
		want("with a certificate", verified)
		_ = c.own.Close()
	})
}
