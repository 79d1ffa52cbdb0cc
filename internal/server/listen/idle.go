package listen

import (
	"sync"
	"sync/atomic"
	"time"
)

// quiet is how long a connection must be idle before the server ends it during a drain. A client
// that sends one request after another sends the next one sooner, and its answer ends the
// connection.
const quiet = 500 * time.Millisecond

// An idleState bounds a connection's wait for a request, and the arrival of the request's header.
// The wait is shorter while the server drains.
//
// http.Server.Shutdown cannot do this. It closes connections that have not sent a whole header
// since the last answer, even if the kernel has one. It also drops requests that it reads
// afterwards, even on new connections. Each of them is a failed conversion: Go's client, and so
// kube-apiserver, repeats a POST only if no byte of it was written.
type idleState struct {
	most    time.Duration // time to wait for a request
	reading *deadline     // the connection's
	used    atomic.Bool   // the header of a request has arrived

	mu       sync.Mutex
	state    awaited
	since    time.Time // start of the wait
	ending   bool
	earliest time.Time // earliest time to close it, if ending
}

type awaited int

const (
	nothing awaited = iota
	request         // nothing has come since the handshake or the last answer
	begun           // something has, most likely part of a header
	header          // the rest of it has not come at once
)

// startWait starts the wait for a request.
func (s *idleState) startWait(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.since = request, now
	s.reading.setOwn(s.until())
}

// received records that something has arrived. Most headers arrive whole, so their time only starts
// with the next read.
func (s *idleState) received() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == request {
		s.state = begun
	}
}

// readAgain starts the time for the header before a read, if only part of it may have arrived.
func (s *idleState) readAgain() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == begun {
		s.state = header
		s.reading.setOwn(time.Now().Add(HeaderTime))
	}
}

// headerDone records that the whole header has arrived.
func (s *idleState) headerDone() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = nothing
	s.used.Store(true)
	s.reading.setOwn(time.Time{})
}

// closeWhenIdle closes the connection once it has been idle for quiet, but not before earliest.
// Requests in progress, and those whose first byte has arrived, are answered; that answer ends the
// connection, because the server drains.
func (s *idleState) closeWhenIdle(earliest time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ending, s.earliest = true, earliest
	if s.state == request {
		s.reading.setOwn(s.until())
	}
}

// ended reports whether the connection drains and is idle; its deadline has passed.
func (s *idleState) ended() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ending && s.state == request
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
