package gate

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
)

// A Share is what one request holds. [Ledger.Join] makes it usable. Its methods are for the
// request's own goroutine, except [Share.Done] and [Share.Refused]. Those that wait return an
// [OverloadError] if the request is given up, or if there is no room in time, and the error of its
// context if that is canceled. The share is then as it was.
type Share struct {
	amount // guarded by the ledger, as all fields are but for those with a note

	ledger  *Ledger
	ctx     context.Context //nolint:containedctx // of the request
	flow    *flow
	arrival uint64

	want    amount // while it waits
	queue   *queue // nil: it does not wait
	granted chan struct{}
	asked   time.Time
	waited  time.Duration // in all; for the request's goroutine

	stage   Stage
	size    int64        // of the body or of the answer
	since   time.Time    // start of the stage, plus the waits before it
	done    atomic.Int64 // bytes of size
	refused atomic.Pointer[OverloadError]
	stop    func(Stage)
}

// A Stage is what a request is doing.
type Stage int

// The stages, in this order.
const (
	Receiving  Stage = iota // the server waits for the body
	Converting              // the client waits for the answer
	Answering               // the server waits for the client to take the answer
)

// Join gives a new share to a flow, for as long as ctx lasts. It must be released, whether or not
// it is ever granted anything.
func (l *Ledger) Join(ctx context.Context, s *Share, key Key) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.flows[key]
	if f == nil {
		f = &flow{key: key}
		l.flows[key] = f
	}
	f.shares++
	l.arrivals++
	s.ledger, s.ctx, s.flow, s.arrival = l, ctx, f, l.arrivals
}

// Release ends the share.
func (s *Share) Release() {
	l := s.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.watched, s)
	l.grant(s, amount{})
	if s.flow.shares--; s.flow.shares == 0 {
		delete(l.flows, s.flow.key)
	}
	l.serve()
}

// Hold ends the request, but keeps its bytes until the share is released.
func (s *Share) Hold() {
	s.shrink(func(want amount) amount {
		delete(s.ledger.watched, s)
		return amount{bytes: want.bytes}
	})
}

// Bytes returns what is reserved.
func (s *Share) Bytes() int64 { return s.bytes }

// Waited returns for how long the request has waited for the server.
func (s *Share) Waited() time.Duration { return s.waited }

// Done counts bytes of the body that have arrived, or of the answer that the client has taken.
func (s *Share) Done(n int64) { s.done.Add(n) }

// Refused returns why the request was given up, or nil.
func (s *Share) Refused() error {
	if reason := s.refused.Load(); reason != nil {
		return *reason
	}
	return nil
}

// Admit begins a request, of which so many bytes are there.
func (s *Share) Admit(bytes int64) error {
	return s.ledger.grow(s, amount{requests: 1, bytes: bytes})
}

// Reserve makes the share one of so many bytes, if it has fewer.
func (s *Share) Reserve(bytes int64) error {
	want := s.amount
	if bytes <= want.bytes {
		return nil
	}
	want.bytes = bytes
	return s.ledger.grow(s, want)
}

// ReserveNow reserves more bytes if it need not wait, and reports whether it did.
func (s *Share) ReserveNow(bytes int64) bool {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	want := s.plus(amount{bytes: bytes})
	fits := s.ledger.fits(s, want)
	if fits {
		s.ledger.grant(s, want)
	}
	return fits
}

// Settle makes the share one of so many bytes, if it has more.
func (s *Share) Settle(bytes int64) {
	s.shrink(func(want amount) amount {
		want.bytes = min(want.bytes, bytes)
		return want
	})
}

// Convert begins the conversion of a request whose body has arrived: it waits for a turn.
func (s *Share) Convert() error {
	s.ledger.mu.Lock()
	s.stage = Converting
	want := s.amount
	s.ledger.mu.Unlock()
	want.turns = 1
	return s.ledger.grow(s, want)
}

// Converts reports whether the request has a turn.
func (s *Share) Converts() bool { return s.turns > 0 }

// Heavy waits until an object of so many bytes may be converted in place of the last one.
func (s *Share) Heavy(bytes int64) error {
	want := s.amount
	want.heavy = bytes
	if bytes > s.heavy {
		return s.ledger.grow(s, want)
	}
	s.shrink(func(amount) amount { return want })
	return nil
}

// Yield returns the turn: the request waits for something else than a processor.
func (s *Share) Yield() {
	s.shrink(func(want amount) amount { return amount{requests: want.requests, bytes: want.bytes} })
}

// Answer begins the answer, of so many bytes, and returns the turn.
func (s *Share) Answer(size int64) {
	s.shrink(func(want amount) amount {
		s.stage, s.size, s.since = Answering, size, time.Now().Add(-s.waited)
		s.done.Store(0)
		return amount{requests: want.requests, bytes: want.bytes}
	})
}

// shrink makes the share what less returns, and serves those that wait.
func (s *Share) shrink(less func(amount) amount) {
	s.ledger.mu.Lock()
	defer s.ledger.mu.Unlock()
	s.ledger.grant(s, less(s.amount))
	s.ledger.serve()
}

func (s *Share) wantsTurn(want amount) bool { return want.turns > s.turns || want.heavy > s.heavy }

// leaveQueue ends the wait. Callers hold mu.
func (s *Share) leaveQueue() {
	at := slices.Index(*s.queue, s)
	*s.queue = slices.Delete(*s.queue, at, at+1)
	s.queue = nil
}

// wake ends the wait, and lets the request know. Callers hold mu.
func (s *Share) wake() {
	s.leaveQueue()
	close(s.granted)
}
