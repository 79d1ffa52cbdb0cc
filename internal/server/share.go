package server

import (
	"container/list"
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// A share is what one request holds. The ledger guards its fields, except as noted.
type share struct {
	amount

	flow    *flow
	arrival uint64

	want    amount // while it waits
	place   *list.Element
	granted chan struct{}
	asked   time.Time
	waited  time.Duration // in all; for the request's goroutine

	stage   stage
	size    int64        // of the body or of the answer
	since   time.Time    // start of the stage, plus the waits before it
	done    atomic.Int64 // bytes of size
	watched *list.Element
	refused atomic.Pointer[overloadError] // why it was given up
	stop    func(stage)                   // makes a stage fail; must not call the ledger
}

// A stage is what a request is doing.
type stage int

const (
	receiving  stage = iota // the server waits for the body
	converting              // the client waits for the answer
	answering               // the server waits for the client to take the answer
)

const (
	// slowGrace is how long a transfer may be slow.
	slowGrace = 250 * time.Millisecond
	// maxTransferTime is how long a whole transfer may take at its pace while another request
	// waits.
	maxTransferTime = 20 * time.Second
	// minWatched is the size of the smallest body that is worth giving up.
	minWatched = 4 << 10
)

func (s *share) wantsTurn(want amount) bool { return want.turns > s.turns || want.heavy > s.heavy }

// watch lets s be given up. Stop makes a stage fail at once.
func (l *ledger) watch(s *share, size int64, since time.Time, stop func(stage)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.size, s.since, s.stop = size, since, stop
	s.watched = l.watched.PushBack(s)
}

// unwatch undoes watch. Callers hold mu.
func (l *ledger) unwatch(s *share) {
	if s.watched != nil {
		l.watched.Remove(s.watched)
		s.watched = nil
	}
}

// received begins the conversion of a request whose body has arrived.
func (l *ledger) received(ctx context.Context, s *share) error {
	l.mu.Lock()
	s.stage = converting
	want := s.amount
	l.mu.Unlock()
	want.turns = 1
	return l.grow(ctx, s, want)
}

// yield returns the turn of s, which waits for something else than a processor.
func (l *ledger) yield(s *share) {
	want := s.amount
	want.turns, want.heavy = 0, 0
	l.shrink(s, want)
}

// answers begins the answer, of n bytes, and returns the turn.
func (l *ledger) answers(s *share, n int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.stage, s.size, s.since = answering, n, time.Now().Add(-s.waited)
	s.done.Store(0)
	l.grant(s, amount{requests: s.requests, bytes: s.bytes})
	l.serve()
}

// isSlow reports whether s waits for a client that is slow.
func (s *share) isSlow(now time.Time) bool {
	took := now.Sub(s.since) - s.waited - slowGrace
	size := max(s.size, s.bytes)
	return float64(s.done.Load()) < float64(size)*took.Seconds()/maxTransferTime.Seconds()
}

// press gives up a request if s is the first of its queue, and waits for memory: the largest slow
// one, or if s has waited for long, the latest of its flow that came after it.
func (l *ledger) press(s *share, queue *list.List) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.serve() // connections may have closed
	if s.place == nil || queue.Front() != s.place || s.wantsTurn(s.want) {
		return
	}
	now := time.Now()
	long := s.requests > 0 && now.Sub(s.asked) > l.wait/2
	var slow, late *share
	for e := l.watched.Front(); e != nil; e = e.Next() {
		switch other := shareOf(e); {
		case other == s || other.refused.Load() != nil || other.stage == converting:
		case other.place == nil && other.isSlow(now):
			if slow == nil || other.bytes > slow.bytes {
				slow = other
			}
		case long && other.flow == s.flow && other.arrival > s.arrival:
			late = other
		}
	}
	switch {
	case slow != nil:
		l.refuse(slow, ShedSlow)
	case late != nil:
		l.refuse(late, ShedSlow)
	}
}

// refuse gives up s. Callers hold mu.
func (l *ledger) refuse(s *share, reason overloadError) {
	s.refused.Store(&reason)
	if s.place != nil {
		l.wake(s)
		return
	}
	s.stop(s.stage)
}

// refuseLargest gives up the largest request that has no answer yet, the latest if some are equal,
// or if there is none, the largest answer. It reports whether there was any. It does nothing while
// one that was given up still holds its memory.
func (l *ledger) refuseLargest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	var largest *share
	for e := l.watched.Front(); e != nil; e = e.Next() {
		s := shareOf(e)
		answered := s.stage == answering
		switch {
		case s.refused.Load() != nil:
			return true
		case largest == nil, largest.stage == answering && !answered,
			(largest.stage == answering) == answered && s.bytes >= largest.bytes:
			largest = s
		}
	}
	if largest != nil {
		l.refuse(largest, ShedMemory)
	}
	return largest != nil
}

// setTight says whether large bodies are admitted.
func (l *ledger) setTight(tight bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tight = tight
	l.serve()
}

type callKey struct{}

// Reserve asks for additional bytes of memory, apart from the body, for the request that
// [Options].Webhook got with ctx, until its answer begins. It waits as the body does. The
// StatusCode method of its error returns the code to answer: 429 if there is too little memory or
// the request was given up, counted as shed, or 413 if there can never be enough, counted as
// rejected. With a context of another origin it does nothing. It is not safe for concurrent use
// within one request.
func Reserve(ctx context.Context, bytes int64) error {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil
	}
	want := c.share.plus(amount{bytes: bytes})
	if want.bytes > c.server.ledger.largestReview() && c.share.refused.Load() == nil {
		c.server.opts.Hooks.rejected(http.StatusRequestEntityTooLarge)
		return footprintError{}
	}
	return c.grow(want)
}

// Settle reduces what is reserved for the request that [Options].Webhook got with ctx to the given
// bytes, which it needs to write its answer.
func Settle(ctx context.Context, bytes int64) {
	if c, ok := ctx.Value(callKey{}).(*call); ok && !c.held {
		want := c.share.amount
		want.bytes = min(want.bytes, bytes)
		c.server.ledger.shrink(&c.share, want)
	}
}

// Heavy waits until an object of so many bytes may be converted next to others of the request that
// [Options].Webhook got with ctx, and of other requests. The object takes the place of the last
// one. Its error is that of [Reserve].
func Heavy(ctx context.Context, bytes int64) error {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok {
		return nil
	}
	want := c.share.amount
	want.heavy = bytes
	if bytes <= c.share.heavy {
		c.server.ledger.shrink(&c.share, want)
		return nil
	}
	return c.grow(want)
}

// Yield returns the turn of the request that [Options].Webhook got with ctx, for a handler that
// waits for something else than a processor.
func Yield(ctx context.Context) {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		c.server.ledger.yield(&c.share)
	}
}

// Hold keeps the memory of the request that [Options].Webhook got with ctx counted after the
// answer, until release is called. It is for a handler that leaves its body, and its memory from
// [Reserve], to another goroutine. The request itself is no longer counted. A call of Reserve may
// be in progress on the other goroutine, which must call release afterwards.
func Hold(ctx context.Context) (release func()) {
	c, ok := ctx.Value(callKey{}).(*call)
	if !ok || c.held {
		return func() {}
	}
	c.held = true
	c.server.ledger.hold(&c.share)
	return func() { c.server.ledger.release(&c.share) }
}

// hold ends a request, but keeps its bytes.
func (l *ledger) hold(s *share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unwatch(s)
	l.grant(s, amount{bytes: s.bytes})
	l.serve()
}

// A footprintError says that one review needs more memory than all reviews together may use.
type footprintError struct{}

func (footprintError) Error() string {
	return "request takes more memory than webhookd has for all of them: " +
		"send fewer objects, give it more memory or raise max-in-flight-bytes"
}

// StatusCode returns the HTTP code to answer.
func (footprintError) StatusCode() int { return http.StatusRequestEntityTooLarge }
