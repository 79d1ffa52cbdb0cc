package server

import (
	"container/list"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// conns are the open connections of a listener, at most limit of them. Each takes memory that no request has asked for, so where
// there is no room for another, one of them goes. Who has had a review answered is more likely to be an API server than who has
// not, and goes later; of those who have shown as much, the one goes first that has had its standing for the longest time.
//
// Connections whose handshake is not done have half of the room: there they go for each other, once they have made the server wait
// for a while, and not for those that are.
type conns struct {
	limit   int                    // 0: none
	evicted func(s standing)       // called for each that is cut off
	exempt  atomic.Pointer[string] // a remote address that is never cut off: that of the server's own check

	mu      sync.Mutex
	open    map[*conn]*list.Element // its place in its rank
	ranks   [verified + 1]list.List // of *conn, by standing; those that were cut off are in none
	leaving int                     // that were cut off, and are not closed yet
	changed chan struct{}           // told when there may be room
	none    chan struct{}           // made by end, and closed when there are no more
}

// A standing says what a client has shown of itself.
type standing int

const (
	silent     standing = iota // has sent nothing
	greeting                   // has begun its handshake, which waits for more of it
	computing                  // its handshake waits for the server
	fresh                      // never had a review answered
	resting                    // had one, and waits for its next request
	bringing                   // had one, and is sending its next request
	converting                 // its request has come whole
	verified                   // has shown a client certificate
)

func (s standing) String() string {
	return [...]string{"silent", "greeting", "computing", "fresh", "resting", "bringing", "converting", "verified"}[s]
}

// CutOffStandings returns what [Hooks].CutOff may report.
func CutOffStandings() []string {
	standings := append(connections(), greetings()...)
	all := make([]string, len(standings))
	for i, s := range standings {
		all[i] = s.String()
	}
	return all
}

// Who goes first, where a handshake has no room, and where nothing has.
func greetings() []standing   { return []standing{silent, greeting} }
func connections() []standing { return []standing{fresh, resting, bringing} }

// greetGrace is how long a handshake may wait for its client before the connection makes room for another.
const greetGrace = 500 * time.Millisecond

func newConns(limit int, evicted func(standing)) *conns {
	return &conns{limit: limit, evicted: evicted, open: map[*conn]*list.Element{}, changed: make(chan struct{}, 1)}
}

// add counts c until it is removed. Where there is no room, it cuts another one off and waits until that has gone; it reports
// whether there was one. It is for one goroutine.
func (s *conns) add(c *conn) bool {
	for {
		s.mu.Lock()
		full, crowded := s.full()
		if !full && !crowded {
			s.open[c], c.stood = s.ranks[silent].PushBack(c), time.Now()
			s.mu.Unlock()
			return true
		}
		order := connections()
		if crowded {
			order = greetings()
		}
		gone := s.cut(order)
		wait := s.leaving > 0 || crowded // handshakes end
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

// full reports whether there is no room for a connection, or for a handshake. Callers hold mu.
func (s *conns) full() (full, crowded bool) {
	if s.limit == 0 {
		return false, false
	}
	handshakes := s.ranks[silent].Len() + s.ranks[greeting].Len() + s.ranks[computing].Len()
	return len(s.open) >= s.limit, handshakes >= max(1, s.limit/2)
}

// makeRoom cuts off one connection.
func (s *conns) makeRoom() {
	s.mu.Lock()
	gone := s.cut(connections())
	s.mu.Unlock()
	gone.hangUp()
}

// cut takes the connection that goes first from its rank, unless one is leaving, and returns it, or nil. Callers hold mu.
func (s *conns) cut(order []standing) *conn {
	if s.leaving > 0 {
		return nil
	}
	for _, standing := range order {
		for e := s.ranks[standing].Front(); e != nil; e = e.Next() {
			c := e.Value.(*conn) //nolint:forcetypeassert // nothing else is ever put in
			if own := s.exempt.Load(); own != nil && c.RemoteAddr().String() == *own {
				continue
			}
			if standing <= greeting && time.Since(c.stood) < greetGrace {
				break
			}
			s.ranks[standing].Remove(e)
			s.open[c], c.cutOff = nil, true
			s.leaving++
			s.evicted(standing)
			return c
		}
	}
	return nil
}

// hangUp closes the socket of a connection that was cut off. Who serves it learns so, and closes the connection.
func (c *conn) hangUp() {
	if c != nil {
		c.handshake.giveUp()
		_ = c.Conn.Close()
	}
}

// wasCutOff reports whether c had to make room.
func (s *conns) wasCutOff(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.cutOff
}

// move gives c another standing. Who is verified stays so.
func (s *conns) move(c *conn, to standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place(c, to)
}

// place does so. Callers hold mu.
func (s *conns) place(c *conn, to standing) {
	e, open := s.open[c]
	if !open || c.cutOff || c.standing == verified {
		return
	}
	s.ranks[c.standing].Remove(e)
	if c.standing <= computing {
		c.stood = time.Now()
		s.tellChange()
	}
	c.standing = to
	s.open[c] = s.ranks[to].PushBack(c)
}

// bring says that a request is coming on c, rest that c waits for one.
func (s *conns) bring(c *conn) { s.placeAnswered(c, bringing) }
func (s *conns) rest(c *conn)  { s.placeAnswered(c, resting) }

func (s *conns) placeAnswered(c *conn, to standing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.answered {
		to = fresh
	}
	s.place(c, to)
}

// answer notes that c has had a review answered.
func (s *conns) answer(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.answered = true
}

func (s *conns) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, open := s.open[c]
	switch {
	case !open:
		return
	case c.cutOff:
		s.leaving--
	default:
		s.ranks[c.standing].Remove(e)
	}
	delete(s.open, c)
	s.tell()
	s.tellChange()
}

// tellChange wakes add. Callers hold mu.
func (s *conns) tellChange() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// count returns how many connections are open.
func (s *conns) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Connections are closed one after the other: each is looked at, found idle and closed, and what comes in between is lost.
// All at once would wait for a processor in between.
const (
	betweenEnds = time.Millisecond
	allEnds     = time.Second // at most
)

// end ends every connection once it is idle, and returns a channel that is closed when the last has gone. None may be
// added any more, and it may be called only once.
func (s *conns) end() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, between := time.Now(), min(betweenEnds, allEnds/time.Duration(len(s.open)+1))
	for c := range s.open {
		c.idle.end(at)
		at = at.Add(between)
	}
	none := make(chan struct{})
	s.none = none
	s.tell()
	return none
}

// tell closes none when it is time. Callers hold mu.
func (s *conns) tell() {
	if s.none != nil && len(s.open) == 0 {
		close(s.none)
		s.none = nil
	}
}

// connState keeps a connection's state in step with what net/http does.
func connState(c net.Conn, state http.ConnState) {
	own := connOf(c)
	switch {
	case own == nil:
	case state == http.StateIdle:
		own.conns.rest(own)
		own.idle.begin(time.Now())
	case state == http.StateActive:
		own.conns.bring(own)
		own.idle.over()
	}
}

// connOf returns the conn below a connection that net/http serves, or nil.
func connOf(c net.Conn) *conn {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	own, _ := c.(*conn)
	return own
}
