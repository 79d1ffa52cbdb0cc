package server

import (
	"sync"
	"time"
)

// quiet is how long nothing must have come on a connection before the server ends it. Who sends one request after the other
// sends the next one sooner, and is told with its answer.
const quiet = 500 * time.Millisecond

// A rest is a connection's wait for a request, which ends when the server stops.
//
// http.Server.Shutdown will not do. It closes the connections that have not brought a whole header since the last answer,
// whatever has come or is in the kernel, and drops the requests that it reads from then on, on new connections as well. Each
// is a conversion that fails: Go's client, and so kube-apiserver, sends a POST again only if no byte of it was written.
type rest struct {
	header  time.Duration // that a request's header may take
	reading *lazyDeadline // of the connection

	mu       sync.Mutex
	state    restState
	since    time.Time // it has waited
	ending   bool
	earliest time.Time // when it may be closed, where it is ending
}

type restState int

const (
	busy    restState = iota
	waiting           // nothing has come since the handshake or the last answer
	coming            // something has, of a request's header most likely
)

// begin says that the connection waits for a request from now on.
func (r *rest) begin(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.since = waiting, now
	r.bound(now)
}

// stir says that something has come.
func (r *rest) stir() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == waiting {
		r.state = coming
		r.bound(time.Now())
	}
}

// over says that the header has come.
func (r *rest) over() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = busy
	r.bound(time.Time{})
}

// end has the connection closed when it has waited for long enough, and not before a time. What is being served and what has
// begun to come is not lost: its answer says that it is the last, because the server drains.
func (r *rest) end(earliest time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ending, r.earliest = true, earliest
	r.bound(time.Now())
}

// ended reports whether the connection has waited for long enough.
func (r *rest) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ending && r.state == waiting && !time.Now().Before(r.until())
}

// bound sets the deadline that goes with the state. Callers hold mu, here and below.
func (r *rest) bound(now time.Time) {
	if !r.ending {
		return
	}
	var t time.Time
	switch r.state {
	case busy:
	case waiting:
		t = r.until()
	case coming:
		t = now.Add(r.header)
	}
	_ = r.reading.limit(t) // what is wrong with the socket, the next Read says
}

// until returns when the wait ends.
func (r *rest) until() time.Time {
	if t := r.since.Add(quiet); t.After(r.earliest) {
		return t
	}
	return r.earliest
}
