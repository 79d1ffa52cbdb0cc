package listen

import (
	"container/list"
	"net/netip"
	"sync"
	"time"
)

// Conns are the open connections of a listener. There are at most limit of them, because each takes
// memory that no request has reserved. Beyond that, a new one waits, unread, until there is room. A
// source that has more connections than the new one's loses one for it at once. A source that has
// the most itself loses one that has not been used for a while.
type Conns struct {
	limit  int                // 0: none
	cutOff func(state string) // called for each connection that is closed for another
	corks  sync.Pool          // see cork.go

	mu      sync.Mutex
	sources map[netip.Prefix]*connsOf
	open    int
	closing int // connections cut off but not closed yet
	waiting int
	pressed bool          // press is about to be called
	none    chan struct{} // made by End, closed when no connection is left
}

// connsOf are the connections of a source.
type connsOf struct {
	open    map[*Conn]struct{}
	unused  [2]list.List // of those that are open: the fresh and the idle ones whose client the server waits for
	waiting []*Conn      // in order of arrival
}

// unlist removes c from the list that it is in, if any.
func (c *Conn) unlist() {
	if c.list != nil {
		c.list.Remove(c.place)
		c.list = nil
	}
}

// ConnBytes is the memory of an open connection, with a TLS record and the header of a request
// (TestR11 of test/oracle/faults).
const ConnBytes = 48 << 10

const (
	// freshGrace and idleGrace are how long a connection is kept unused if its own source needs the
	// room. A fresh one that is closed comes back as a handshake. An idle one may be closed just as
	// its client uses it, which fails a conversion.
	freshGrace = 2 * time.Second
	idleGrace  = 10 * time.Second
	// connPress is how often waiting connections look for room.
	connPress = 50 * time.Millisecond
	// waitingEach is how many connections may wait for each that may be open. One that waits takes
	// a file descriptor and about 1 KB; one that is closed instead comes back at once.
	waitingEach = 8
)

// What the client of a connection that is cut off had done.
const (
	connWaiting = "waiting" // nothing was read of it
	connFresh   = "fresh"   // it never had a review answered
	connIdle    = "idle"    // it had
)

// CutOffStates returns the states of connections that are cut off.
func CutOffStates() []string { return []string{connWaiting, connFresh, connIdle} }

// NewConns returns Conns that call cutOff, with the state, for each connection that is closed for
// another.
func NewConns(limit int, cutOff func(state string)) *Conns {
	return &Conns{limit: limit, cutOff: cutOff, sources: map[netip.Prefix]*connsOf{}}
}

// add counts c until it is removed, and calls c.start once there is room for it, which may be
// never.
func (s *Conns) add(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.sources[c.source]
	if own == nil {
		own = &connsOf{open: map[*Conn]struct{}{}}
		s.sources[c.source] = own
	}
	if s.room(own, s.mostOpen()) {
		s.begin(own, c)
		return
	}
	own.waiting = append(own.waiting, c)
	if s.waiting++; s.waiting > waitingEach*s.limit {
		s.dropWaiting()
	}
	s.pressLater()
}

// begin opens c. Callers hold mu.
func (s *Conns) begin(own *connsOf, c *Conn) {
	own.open[c] = struct{}{}
	s.open++
	c.counted = true
	s.listUnused(c)
	go c.start(c)
}

// room makes room for a connection of a source, and reports whether there is any. Most is the
// source that has the most. Callers hold mu.
func (s *Conns) room(own, most *connsOf) bool {
	if s.limit == 0 || s.open < s.limit {
		return true
	}
	if s.closing > s.limit/2 {
		return false
	}
	if len(most.open) > len(own.open)+1 {
		return s.cut(most, 0, 0)
	}
	return s.cut(own, freshGrace, idleGrace)
}

// most returns the source that has the most by count. Callers hold mu.
func (s *Conns) most(count func(*connsOf) int) *connsOf {
	most := &connsOf{}
	for _, o := range s.sources {
		if count(o) > count(most) {
			most = o
		}
	}
	return most
}

// mostOpen returns the source that has the most open connections. Callers hold mu.
func (s *Conns) mostOpen() *connsOf { return s.most(func(o *connsOf) int { return len(o.open) }) }

// cut closes the connection of a source that has been unused longest, if that is at least the grace
// period: a fresh one rather than an idle one. It reports whether there was one. Callers hold mu.
func (s *Conns) cut(from *connsOf, fresh, idle time.Duration) bool {
	for i, grace := range [...]time.Duration{fresh, idle} {
		first := from.unused[i].Front() // not all: a flood has thousands closed in a second
		if first == nil {
			continue
		}
		if c := first.Value.(*Conn); time.Since(c.since) >= grace { //nolint:forcetypeassert // as listUnused puts there
			s.close(from, c)
			return true
		}
	}
	return false
}

// close cuts off c. Callers hold mu.
func (s *Conns) close(from *connsOf, c *Conn) {
	delete(from.open, c)
	c.unlist()
	s.open--
	s.closing++
	c.gone = true
	if c.answered {
		s.cutOff(connIdle)
	} else {
		s.cutOff(connFresh)
	}
	_ = c.Conn.Close() // the goroutine that serves it then closes the connection
}

// dropWaiting closes the latest waiting connection of the source that has the most of them, and
// reports whether there was one. Callers hold mu.
func (s *Conns) dropWaiting() bool {
	most := s.most(func(o *connsOf) int { return len(o.waiting) })
	last := len(most.waiting) - 1
	if last < 0 {
		return false
	}
	c := most.waiting[last]
	_ = c.Conn.Close()
	most.waiting = most.waiting[:last]
	s.waiting--
	s.forget(c.source)
	s.cutOff(connWaiting)
	return true
}

// MakeRoom closes a connection, because there is no file descriptor or no memory left.
func (s *Conns) MakeRoom() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.dropWaiting() {
		s.cut(s.mostOpen(), 0, 0)
	}
}

// pressLater looks for room again after some time, while any wait. Callers hold mu.
func (s *Conns) pressLater() {
	if s.waiting > 0 && !s.pressed {
		s.pressed = true
		time.AfterFunc(connPress, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.pressed = false
			s.openWaiting()
			s.pressLater()
		})
	}
}

// openWaiting opens waiting connections while there is room, those of the source with the fewest
// first. Callers hold mu.
func (s *Conns) openWaiting() {
	for s.waiting > 0 {
		next := s.next()
		if next == nil {
			return
		}
		c := next.waiting[0]
		next.waiting = next.waiting[1:]
		s.waiting--
		s.begin(next, c)
	}
}

// next returns a source with a waiting connection for which there is room, of those that have the
// fewest open, or nil. Callers hold mu.
func (s *Conns) next() *connsOf {
	fewest := s.most(func(o *connsOf) int { return min(len(o.waiting), 1) * (s.open + 1 - len(o.open)) })
	most := s.mostOpen()
	for _, o := range s.sources {
		if len(o.waiting) > 0 && len(o.open) == len(fewest.open) && s.room(o, most) {
			return o
		}
	}
	return nil
}

// SetBusy records that the client waits for the server, so the connection is not cut off.
func (c *Conn) SetBusy() {
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	c.unlist()
}

// SetAnswered records that the connection had a review answered.
func (c *Conn) SetAnswered() {
	c.conns.mu.Lock()
	defer c.conns.mu.Unlock()
	c.answered = true
}

// setUnused records that the server waits for the client of c.
func (s *Conns) setUnused(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listUnused(c)
	s.openWaiting()
}

// listUnused makes c the last of its source to be cut off, if it is open. Callers hold mu.
func (s *Conns) listUnused(c *Conn) {
	if c.gone {
		return
	}
	which := 0
	if c.answered {
		which = 1
	}
	c.unlist()
	c.since = time.Now()
	c.list = &s.sources[c.source].unused[which]
	c.place = c.list.PushBack(c)
}

// wasCutOff reports whether c was cut off.
func (s *Conns) wasCutOff(c *Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.gone
}

func (s *Conns) remove(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.counted {
		return
	}
	c.counted = false
	if c.gone {
		s.closing--
	} else {
		delete(s.sources[c.source].open, c)
		c.unlist()
		s.open--
	}
	s.openWaiting()
	s.forget(c.source)
	s.signalNone()
}

// forget removes a source without connections. Callers hold mu.
func (s *Conns) forget(source netip.Prefix) {
	if o := s.sources[source]; o != nil && len(o.open)+len(o.waiting) == 0 {
		delete(s.sources, source)
	}
}

// Count returns how many connections are open.
func (s *Conns) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open + s.closing
}

// Connections are ended one by one. The server checks that a connection is idle and then closes it,
// and loses a request that arrives in between. If all ended at once, each would wait for a
// processor in between.
const (
	betweenEnds = time.Millisecond
	allEnds     = time.Second // at most
)

// End ends every connection once it is idle, and returns a channel that is closed when none is
// left. It may be called once, after [Listener.Retire].
func (s *Conns) End() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = 0
	s.openWaiting()
	at, between := time.Now(), min(betweenEnds, allEnds/time.Duration(s.open+1))
	for _, o := range s.sources {
		for c := range o.open {
			c.idle.closeWhenIdle(at)
			at = at.Add(between)
		}
	}
	none := make(chan struct{})
	s.none = none
	s.signalNone()
	return none
}

// signalNone closes none if no connection is left. Callers hold mu.
func (s *Conns) signalNone() {
	if s.none != nil && s.open+s.closing == 0 {
		close(s.none)
		s.none = nil
	}
}
