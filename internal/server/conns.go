package server

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// conns are the open connections of the webhook listener.
type conns struct {
	mu      sync.Mutex
	open    map[*conn]struct{}
	none    chan struct{} // made by end, and closed when there are no more
	beating bool          // see beat
}

// add has c counted until it is removed.
func (s *conns) add(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*conn]struct{}{}
	}
	s.open[c] = struct{}{}
	if !s.beating {
		s.beating = true
		time.AfterFunc(pulse, s.beat)
	}
}

// pulse is how long the runtime's sysmon sleeps at most while there are connections. It is less than a probe waits, and a beat
// that wakes everything takes 0.2 ms of a processor.
const pulse = 500 * time.Millisecond

// beat does nothing but come again. Sysmon takes the processor from goroutines that keep it. While nothing runs it sleeps until
// a system call is announced, which those of a socket are not, or until a timer is due that it has seen before: without one,
// converters that do not return could keep all processors for a minute.
func (s *conns) beat() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.beating = len(s.open) > 0; s.beating {
		time.AfterFunc(pulse, s.beat)
	}
}

func (s *conns) remove(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
	s.tell()
}

// Connections are closed one after the other: each is looked at, found idle and closed, and what comes in between is lost.
// All at once would wait for a processor in between.
const (
	betweenEnds = time.Millisecond
	allEnds     = time.Second // at most
)

// end ends every connection once it is at rest, and returns a channel that is closed when the last has gone. None may be
// added any more, and it may be called only once.
func (s *conns) end() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, between := time.Now(), min(betweenEnds, allEnds/time.Duration(len(s.open)+1))
	for c := range s.open {
		c.rest.end(at)
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

// connState keeps a connection's rest in step with what net/http does.
func connState(c net.Conn, state http.ConnState) {
	own := connOf(c)
	switch {
	case own == nil:
	case state == http.StateIdle:
		own.rest.begin(time.Now())
	case state == http.StateActive:
		own.rest.over()
	}
}
