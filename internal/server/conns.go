package server

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// conns are the open connections of a listener. There are at most limit of them, because each takes
// memory that no request has reserved. When the limit is reached, a new connection replaces an old
// one. Clients without an answered review go first: they are the least likely to be an API server.
// Among connections of the same standing, the oldest goes first.
//
// Handshakes may use half of the limit. Beyond that, a new handshake replaces an old one that has
// had its grace period.
type conns struct {
	limit   int                    // 0: none
	evicted func(s standing)       // called for each connection that is cut off
	exempt  atomic.Pointer[string] // a remote address that is never cut off: the server's own check

	mu      sync.Mutex
	open    map[*conn]struct{}
	ranks   [verified + 1]rank // by standing; without those that were cut off
	closing int                // connections cut off but not closed yet
	changed chan struct{}      // receives when there may be room
	none    chan struct{}      // made by end, closed when no connection is left
	number  atomic.Int64       // of open
}

// A standing is what a client has shown of itself. Its name is a label of a metric.
type standing int

const (
	silent     standing = iota // has sent nothing
	greeting                   // its handshake waits for the client
	computing                  // its handshake waits for the server
	fresh                      // never had a review answered
	idle                       // had one; waits for its next request
	reading                    // had one; is sending its next request
	converting                 // has sent a whole request
	verified                   // has a verified client certificate
)

func (s standing) String() string {
	return [...]string{"silent", "greeting", "computing", "fresh", "idle", "reading", "converting", "verified"}[s]
}

// CutOffStandings returns the values that [Hooks].CutOff may report.
func CutOffStandings() []string {
	standings := append(connections(), greetings()...)
	all := make([]string, len(standings))
	for i, s := range standings {
		all[i] = s.String()
	}
	return all
}

// The standings to cut off, in order, if there is no room for a handshake or for a connection.
func greetings() []standing   { return []standing{silent, greeting} }
func connections() []standing { return []standing{fresh, idle, reading} }

// greetGrace is how long a handshake may wait for its client before it can be cut off.
const greetGrace = 500 * time.Millisecond

func newConns(limit int, evicted func(standing)) *conns {
	return &conns{limit: limit, evicted: evicted, open: map[*conn]struct{}{}, changed: make(chan struct{}, 1)}
}

// add counts c until it is removed. If there is no room, it cuts off another connection and waits
// until that is closed. It reports whether there was one to cut off. Only one goroutine may call
// it.
func (s *conns) add(c *conn) bool {
	for {
		s.mu.Lock()
		full, crowded := s.full()
		if !full && !crowded {
			s.open[c], c.since = struct{}{}, time.Now()
			s.ranks[silent].add(c)
			c.listed = true
			s.number.Add(1)
			s.mu.Unlock()
			return true
		}
		order := connections()
		if crowded {
			order = greetings()
		}
		gone := s.cut(order)
		wait := s.closing > 0 || crowded // handshakes end by themselves
		s.mu.Unlock()
		gone.hangUp()
		if !wait {
			return false
		}
		select {
		case <-s.changed:
		case <-time.After(greetGrace / 10):
		}
	}
}

// full reports whether there is no room for a connection, or none for a handshake. Callers hold mu.
func (s *conns) full() (full, crowded bool) {
	if s.limit == 0 {
		return false, false
	}
	handshakes := s.ranks[silent].length + s.ranks[greeting].length + s.ranks[computing].length
	return len(s.open) >= s.limit, handshakes >= max(1, s.limit/2)
}

// makeRoom cuts off one connection.
func (s *conns) makeRoom() {
	s.mu.Lock()
	gone := s.cut(connections())
	s.mu.Unlock()
	gone.hangUp()
}

// cut removes the first connection to cut off from its rank and returns it. It returns nil if there
// is none, or if one is closing already. Callers hold mu.
func (s *conns) cut(order []standing) *conn {
	if s.closing > 0 {
		return nil
	}
	for _, standing := range order {
		for c := s.ranks[standing].oldest; c != nil; c = c.rank.later {
			if own := s.exempt.Load(); own != nil && c.RemoteAddr().String() == *own {
				continue
			}
			if standing <= greeting && time.Since(c.since) < greetGrace {
				break
			}
			s.ranks[standing].remove(c)
			c.listed, c.cutOff = false, true
			s.closing++
			s.evicted(standing)
			return c
		}
	}
	return nil
}

// hangUp closes the socket of a connection that was cut off. The goroutine that serves it then
// closes the connection.
func (c *conn) hangUp() {
	if c != nil {
		c.handshake.giveUp()
		_ = c.Conn.Close()
	}
}

// wasCutOff reports whether c was cut off.
func (s *conns) wasCutOff(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.cutOff
}

// move changes the standing of c. A verified connection keeps its standing.
func (s *conns) move(c *conn, to standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.listed || c.standing == verified {
		return
	}
	s.ranks[c.standing].remove(c)
	if c.standing <= computing {
		c.since = time.Now()
		s.signalRoom()
	}
	c.standing = to
	s.ranks[to].add(c)
}

// setReading records that a request is arriving on c, setIdle that c waits for one.
func (s *conns) setReading(c *conn) { s.moveAnswered(c, reading) }
func (s *conns) setIdle(c *conn)    { s.moveAnswered(c, idle) }

func (s *conns) moveAnswered(c *conn, to standing) {
	if !c.answered {
		to = fresh
	}
	s.move(c, to)
}

func (s *conns) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, open := s.open[c]; !open {
		return
	}
	if c.cutOff {
		s.closing--
	} else {
		s.ranks[c.standing].remove(c)
	}
	delete(s.open, c)
	c.listed = false
	s.number.Add(-1)
	s.signalNone()
	s.signalRoom()
}

// signalRoom wakes add. Callers hold mu.
func (s *conns) signalRoom() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// count returns how many connections are open.
func (s *conns) count() int { return int(s.number.Load()) }

// Connections are ended one by one. The server checks that a connection is idle and then closes it,
// and loses a request that arrives in between. If all ended at once, each would wait for a
// processor in between.
const (
	betweenEnds = time.Millisecond
	allEnds     = time.Second // at most
)

// end ends every connection once it is idle, and returns a channel that is closed when none is
// left. It may be called once, and add not at all afterwards.
func (s *conns) end() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, between := time.Now(), min(betweenEnds, allEnds/time.Duration(len(s.open)+1))
	for c := range s.open {
		c.idle.closeWhenIdle(at)
		at = at.Add(between)
	}
	none := make(chan struct{})
	s.none = none
	s.signalNone()
	return none
}

// signalNone closes none if no connection is left. Callers hold mu.
func (s *conns) signalNone() {
	if s.none != nil && len(s.open) == 0 {
		close(s.none)
		s.none = nil
	}
}

// connState updates a connection when its state in net/http changes.
func connState(c net.Conn, state http.ConnState) {
	own := connOf(c)
	switch {
	case own == nil:
	case state == http.StateIdle:
		own.conns.setIdle(own)
		own.idle.startWait(time.Now())
	case state == http.StateActive:
		own.conns.setReading(own)
		own.idle.headerDone()
	}
}

// connOf returns the conn below a connection of net/http, or nil.
func connOf(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}
