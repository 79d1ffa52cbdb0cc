package listen

import (
	"net"
	"net/http"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/server/gate"
)

// pipeConn is a connection. Closing its socket also closes it for the server.
type pipeConn struct {
	net.Conn

	source  byte
	own     *Conn
	started bool
	closed  bool
	stuck   bool // its goroutine does not see that
}

// Close closes the connection as its serving goroutine would.
func (c *pipeConn) Close() error {
	if !c.closed {
		c.closed = true
		if !c.stuck {
			go func() { _ = c.own.Close() }()
		}
	}
	return c.Conn.Close()
}

// RemoteAddr returns an address of the source.
func (c *pipeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, c.source}), 1))
}

// opened adds a connection of a source.
func opened(t *testing.T, s *Conns, source byte) *pipeConn {
	t.Helper()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	c := &pipeConn{Conn: near, source: source}
	c.own = newConn(c, Times{}, s, func(*Conn) { c.started = true })
	s.add(c.own)
	synctest.Wait()
	return c
}

// several adds connections of a source.
func several(t *testing.T, s *Conns, source byte, n int) []*pipeConn {
	t.Helper()
	all := make([]*pipeConn, n)
	for i := range all {
		all[i] = opened(t, s, source)
		advance(time.Millisecond) // so that their order shows
	}
	return all
}

func countClosed(all []*pipeConn) (n int) {
	for _, c := range all {
		if c.closed {
			n++
		}
	}
	return n
}

// TestWhichConnectionMakesRoom checks which of a source goes, and what is reported.
func TestWhichConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var cut []string
		s := NewConns(6, func(state string) { cut = append(cut, state) })
		all := several(t, s, 1, 6)
		idle, used, busy, fresh, later := all[0], all[1], all[2], all[3], all[4]
		busy.own.SetBusy()
		all[5].own.SetBusy()
		for _, c := range []*pipeConn{idle, used} {
			c.own.SetAnswered()
			advance(time.Second)
			State(c.own, map[*pipeConn]http.ConnState{idle: http.StateIdle, used: http.StateActive}[c])
		}
		for i, gone := range []*pipeConn{fresh, later, idle, used} {
			if next := opened(t, s, 2+byte(i)); !next.started || !gone.closed {
				t.Errorf("step %d: started %t, the one to go is closed: %t", i, next.started, gone.closed)
			}
			State(gone.own, http.StateIdle) // too late
		}
		next := opened(t, s, 9)
		if next.started || busy.closed {
			t.Errorf("one that is converted is closed: %t; another is open: %t", busy.closed, next.started)
		}
		State(busy.own, http.StateIdle)
		if synctest.Wait(); !next.started || !busy.closed {
			t.Error("what waits does not get its room at once")
		}
		if diff := cmp.Diff([]string{connFresh, connFresh, connIdle, connIdle, connFresh}, cut); diff != "" {
			t.Error(diff)
		}
	})
}

// A source with few connections gets one at once, from the one with the most; a source that has the
// most itself waits until one of its own has not been used for a while.
func TestCrowdDoesNotKeepOthersOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewConns(10, func(string) {})
		crowd := several(t, s, 1, 30)
		if countClosed(crowd) > 0 || crowd[10].started || !crowd[9].started {
			t.Fatalf("%d are closed before their time", countClosed(crowd))
		}
		others := several(t, s, 2, 6)
		for i, c := range others {
			if c.started != (i < 5) {
				t.Errorf("connection %d of another source: open %t", i, c.started)
			}
		}
		if n := countClosed(crowd); n != 5 {
			t.Errorf("%d of the crowd are closed for others, want 5", n)
		}
		for _, c := range others {
			c.own.SetAnswered()
			c.own.SetBusy()
		}
		advance(freshGrace + connPress)
		if n := countClosed(crowd); n != 10 || !crowd[14].started || crowd[15].started {
			t.Errorf("%d of the crowd are closed for its own, want 10", n)
		}
		waiting := 0
		for _, c := range append(crowd, others...) {
			if !c.started && !c.closed {
				waiting++
			}
		}
		if s.waiting != waiting {
			t.Errorf("%d are counted as waiting, want %d", s.waiting, waiting)
		}
	})
}

// Connections that are cut off count until they are closed, and no more than half of all are at a
// time.
func TestClosingConnectionsCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewConns(5, func(string) {})
		crowd := several(t, s, 1, 5)
		for _, c := range crowd {
			c.stuck = true
		}
		open := crowd[3:]
		for i := range 4 {
			next := opened(t, s, 2+byte(i))
			if open = append(open, next); next.started != (i < 3) {
				t.Errorf("connection %d of another source: open %t", i, next.started)
			} else if i == 3 {
				_ = crowd[0].own.Close()
				if synctest.Wait(); !next.started {
					t.Error("it does not get the room of one that is closed")
				}
			}
		}
		if n := s.Count(); n != 8 {
			t.Errorf("%d are counted, want 8", n)
		}
		none := s.End()
		for _, c := range append(open, crowd[1:3]...) {
			select {
			case <-none:
				t.Fatal("none is left, but some are")
			default:
				_ = c.own.Close()
			}
		}
		<-none
		_ = opened(t, s, 1).own.Close() // one more, too late
	})
}

// Of sources that wait, the one with the fewest goes first, and none loses one so that another
// has as many.
func TestFewestGoFirst(t *testing.T) {
	t.Parallel()
	for range 40 { // a map has any order
		synctest.Test(t, func(t *testing.T) {
			s := NewConns(7, func(string) {})
			crowd, few := several(t, s, 1, 2), several(t, s, 2, 1)
			for source := byte(3); source <= 6; source++ {
				few = append(few, opened(t, s, source))
			}
			more, next := opened(t, s, 1), opened(t, s, 2)
			if more.started || next.started || countClosed(crowd)+countClosed(few) > 0 {
				t.Fatal("one is closed for no gain")
			}
			_ = few[1].own.Close()
			if synctest.Wait(); more.started || !next.started {
				t.Errorf("the one of the source with the most is open: %t; with the fewest: %t", more.started, next.started)
			}
		})
	}
}

// A client's kept connection outlasts the silent ones of its own source.
func TestIdleConnectionIsKeptLonger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewConns(2, func(string) {})
		kept := opened(t, s, 1)
		kept.own.SetBusy()
		kept.own.SetAnswered()
		s.setUnused(kept.own)
		crowd := several(t, s, 1, 4)
		advance(3*freshGrace + connPress)
		if n := countClosed(crowd); n != 3 || kept.closed {
			t.Errorf("%d of 4 silent ones are closed, want 3; the kept one: %t", n, kept.closed)
		}
		crowd[3].own.SetBusy()
		opened(t, s, 1)
		advance(idleGrace)
		if !kept.closed {
			t.Error("the kept one, which is not used for long, keeps others out")
		}
	})
}

// Those that wait are bounded, and go first when there are no file descriptors.
func TestWaitingConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cut := map[string]int{}
		s := NewConns(2, func(state string) { cut[state]++ })
		crowd := several(t, s, 1, 2+2*waitingEach+3)
		if n := countClosed(crowd); n != 3 || cut[connWaiting] != 3 {
			t.Errorf("%d are closed, want 3", n)
		}
		for i := range 2*waitingEach + 2 {
			if i < 2*waitingEach && cut[connFresh] > 0 {
				t.Fatal("an open one goes before those that wait")
			}
			s.MakeRoom()
		}
		advance(connPress)
		if n := countClosed(crowd); n != len(crowd) || cut[connFresh] != 2 {
			t.Errorf("%d of %d are closed, %v", n, len(crowd), cut)
		}
		if s.Count() != 0 || len(s.sources) > 0 || s.waiting != 0 || s.pressed {
			t.Errorf("%d are counted in the end, %d sources, %d that wait: %t", s.Count(), len(s.sources), s.waiting, s.pressed)
		}
		for _, c := range several(t, s, 1, 2) {
			c.own.SetBusy()
		}
		opened(t, s, 2).stuck = true // nothing serves it yet
		if s.MakeRoom(); len(s.sources) != 1 {
			t.Errorf("a source is kept whose only connection is gone: %v", s.sources)
		}
	})
}

func TestRoomReturnsWithTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cut := 0
		s := NewConns(4, func(string) { cut++ })
		opened(t, s, 1).own.SetBusy()
		for range 100 {
			c := opened(t, s, 1)
			_ = c.own.Close()
			_ = c.own.Close()
		}
		if n := s.Count(); n != 1 || cut > 0 {
			t.Errorf("%d connections are counted, want 1; %d are cut off", n, cut)
		}
		if len(s.sources) != 1 || len(s.sources[gate.SourceOf(netip.AddrFrom4([4]byte{10, 0, 0, 1}))].open) != 1 {
			t.Errorf("sources in the end: %v", s.sources)
		}
		rest := several(t, s, 1, 3)
		if next := opened(t, s, 2); !next.started || !rest[0].closed || cut != 1 {
			t.Errorf("another is open: %t; the first of those left makes room: %t", next.started, rest[0].closed)
		}
	})
}

// At the end of a drain, connections that wait are served too.
func TestWaitingConnectionsAreServedAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := NewConns(1, func(string) {})
		all := several(t, s, 1, 3)
		none := s.End()
		synctest.Wait()
		for i, c := range all {
			if !c.started {
				t.Errorf("connection %d is not served", i)
			}
			_ = c.own.Close()
		}
		<-none
	})
}
