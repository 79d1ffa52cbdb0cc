package server

import (
	"sync"
	"time"
)

// quiet is how long nothing must have come on a connection before the server ends it. Who sends one request after the other
// sends the next one sooner, and is told with its answer.
const quiet = 500 * time.Millisecond

// An idleState bounds a connection's wait for a request, and the arrival of that request's header. The wait ends early when the
// server stops.
//
// http.Server.Shutdown will not do for that. It closes the connections that have not brought a whole header since the last
// answer, whatever has come or is in the kernel, and drops the requests that it reads from then on, on new connections as well.
// Each is a conversion that fails: Go's client, and so kube-apiserver, sends a POST again only if no byte of it was written.
type idleState struct {
	header  time.Duration // that a request's header may take
	most    time.Duration // that a connection may wait for one
	reading *readDeadline // of the connection

	mu       sync.Mutex
	state    awaited
	used     bool      // for a request
	since    time.Time // it has waited
	ending   bool
	earliest time.Time // when it may be closed, where it is ending
}

type awaited int

const (
	nothing awaited = iota
	request         // nothing has come since the handshake or the last answer
	header          // something has, of a request's header most likely
)

// begin says that the connection waits for a request from now on.
func (s *idleState) begin(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.since = request, now
	s.reading.setOwn(s.until())
}

// stir says that something has come.
func (s *idleState) stir() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == request {
		s.state = header
		s.reading.setOwn(time.Now().Add(s.header))
	}
}

// over says that the header has come.
func (s *idleState) over() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.used = nothing, true
	s.reading.setOwn(time.Time{})
}

// end has the connection closed when it has waited for long enough, and not before a time. What is being served and what has
// begun to come is not lost: its answer says that it is the last, because the server drains.
func (s *idleState) end(earliest time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending, s.earliest = true, earliest
	if s.state == request {
		s.reading.setOwn(s.until())
	}
}

// hadRequest reports whether the header of a request has come.
func (s *idleState) hadRequest() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// ended reports whether the connection has waited for long enough.
func (s *idleState) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending && s.state == request && !time.Now().Before(s.until())
}

// until returns when the wait ends. Callers hold mu.
func (s *idleState) until() time.Time {
	switch t := s.since.Add(quiet); {
	case !s.ending:
		return s.since.Add(s.most)
	case t.After(s.earliest):
		return t
	default:
		return s.earliest
	}
}
