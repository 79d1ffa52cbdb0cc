// Package gate shares what all requests use together among the sources that they come from: the
// memory, which is reserved as it grows, and the turns to convert. A watch on the
// heap gives up requests when that has not been enough. It knows sources and bytes, but neither
// HTTP nor connections. Read ledger.go first.
package gate

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A Ledger bounds what all requests hold together. It is safe for concurrent use.
//
// Flows share it. A flow may have at most flowShare times what it leaves free, so a flow that comes
// later always finds some room, and small bodies never wait behind large ones. If requests wait,
// the flow that has the least goes first. Within a flow, the first come is the first served.
type Ledger struct {
	limit       amount // its requests have none
	wait        time.Duration
	connections func() int64 // returns the bytes that connections take

	mu       sync.Mutex
	held     amount
	arrivals uint64
	flows    map[Key]*flow
	watched  map[*Share]struct{}
	tight    bool // the heap is almost full: no large body is admitted
}

// An amount is what a request, a flow or all of them hold.
type amount struct {
	requests, turns int
	bytes           int64
	heavy           int64 // bytes of large objects that are being converted
}

func (a amount) plus(b amount) amount {
	return amount{a.requests + b.requests, a.turns + b.turns, a.bytes + b.bytes, a.heavy + b.heavy}
}

func (a amount) minus(b amount) amount {
	return amount{a.requests - b.requests, a.turns - b.turns, a.bytes - b.bytes, a.heavy - b.heavy}
}

// A Key names a flow, the requests that compete as one: the small or the large bodies of a source.
type Key struct {
	Source netip.Prefix
	Large  bool
}

// KeyOf returns the flow of a request with a body of so many bytes; negative: unknown.
func KeyOf(source netip.Prefix, body int64) Key { return Key{source, body < 0 || body > smallBody} }

// A flow is kept while it has shares.
type flow struct {
	key    Key
	shares int
	held   amount
	queues [2]queue
}

// A queue has the shares that wait, in order of arrival.
type queue []*Share

// What the requests of a queue wait for.
const (
	forMemory = iota // or to be admitted
	forTurn
)

const (
	// flowShare is how many times what is left free a flow may have: three quarters of everything
	// if it is alone.
	flowShare = 3
	// smallBody is the size of the largest small body. Almost all calls of kube-apiserver carry one
	// object of a few KB.
	smallBody = 64 << 10
	// turnsEach is how many conversions a processor may have at once.
	turnsEach = 4
	// heavyShare is how many times its size a large object may take while it is converted (TestR15
	// of test/oracle/faults), compared with all memory for requests.
	heavyShare = 200
	// turnWait is how long a request waits for its turn: it has arrived, and waits for processors.
	turnWait = 10 * time.Second
	// pressInterval is how often a waiting request looks for one that can give way.
	pressInterval = 25 * time.Millisecond
)

// Reasons to answer 429.
const (
	// ShedBytes: the requests in flight use the whole memory for them, or the client's share.
	ShedBytes = "bytes"
	// ShedTurns: too many requests were converted at once.
	ShedTurns = "turns"
	// ShedSlow: the request's body or answer was too slow while others waited.
	ShedSlow = "slow"
	// ShedMemory: the heap was almost full, and this was the largest request.
	ShedMemory = "memory"
)

// ShedReasons returns all reasons.
func ShedReasons() []string {
	return []string{ShedBytes, ShedTurns, ShedSlow, ShedMemory}
}

// An OverloadError is the reason to shed a request, such as [ShedBytes].
type OverloadError string

func (e OverloadError) Error() string {
	if e == ShedSlow {
		return "webhookd is overloaded, and this request came too slowly to wait for; try again"
	}
	return "webhookd is overloaded: requests in flight take all the room there is; try again"
}

// StatusCode returns the HTTP code to answer.
func (OverloadError) StatusCode() int { return http.StatusTooManyRequests }

// New returns a Ledger of bytes for requests, each of which may wait for its share. Connections
// returns how many of the bytes connections take now.
func New(bytes int64, wait time.Duration, connections func() int64) *Ledger {
	return &Ledger{
		limit:       amount{turns: turnsEach * runtime.GOMAXPROCS(0), bytes: bytes, heavy: bytes / heavyShare},
		wait:        wait,
		connections: connections,
		flows:       map[Key]*flow{},
		watched:     map[*Share]struct{}{},
	}
}

// NewTurns returns a Ledger in which one source can have n turns.
func NewTurns(n int) *Ledger {
	l := New(1, 0, func() int64 { return 0 })
	l.limit.turns = n + n/flowShare + 1
	return l
}

// Largest returns the size of the largest body that can be admitted.
func (l *Ledger) Largest() int64 { return l.limit.bytes / (flowShare + 1) * flowShare }

// LargestReview returns how much a review of the largest body can take.
func (l *Ledger) LargestReview() int64 { return l.limit.bytes / (2*flowShare + 1) * 2 * flowShare }

// Room returns how many bytes a flow may have if it is alone.
func (l *Ledger) Room() int64 { return (l.limit.bytes - l.connections()) / (flowShare + 1) * flowShare }

// Use is what requests hold.
type Use struct {
	// Requests is the number of requests in progress, Waiting how many of them wait for their share
	// or for a larger one.
	Requests, Waiting int
	// Bytes is what they have reserved, BytesLimit the bound.
	Bytes, BytesLimit int64
}

// Use returns what requests hold now.
func (l *Ledger) Use() Use {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := Use{Requests: l.held.requests, Bytes: l.held.bytes, BytesLimit: l.limit.bytes}
	for _, f := range l.flows {
		for _, q := range f.queues {
			for _, s := range q {
				u.Waiting++
				u.Requests += 1 - s.requests
			}
		}
	}
	return u
}

// grow enlarges s to want, and waits for it if necessary. Its error is that of the
// methods of Share.
func (l *Ledger) grow(s *Share, want amount) error {
	l.mu.Lock()
	if reason := s.refused.Load(); reason != nil {
		l.mu.Unlock()
		return *reason
	}
	line, wait := &s.flow.queues[forMemory], l.wait
	if s.wantsTurn(want) {
		line, wait = &s.flow.queues[forTurn], turnWait
	}
	// A request that holds something does not wait behind those that hold nothing.
	if (s.requests > 0 || len(*line) == 0) && l.fits(s, want) {
		l.grant(s, want)
		l.mu.Unlock()
		return nil
	}
	s.want, s.queue, s.granted, s.asked = want, line, make(chan struct{}), time.Now()
	at, _ := slices.BinarySearchFunc(*line, s.arrival, func(s *Share, arrival uint64) int { return cmp.Compare(s.arrival, arrival) })
	*line = slices.Insert(*line, at, s)
	l.mu.Unlock()
	return l.await(s, wait)
}

// await waits until s is granted or refused, has waited too long or is canceled.
func (l *Ledger) await(s *Share, wait time.Duration) error {
	timer, press := time.NewTimer(wait), time.NewTicker(pressInterval)
	defer timer.Stop()
	defer press.Stop()
	for {
		select {
		case <-press.C:
			l.press(s)
			continue
		case <-s.granted:
		case <-s.ctx.Done():
		case <-timer.C:
		}
		return l.stopWaiting(s)
	}
}

func (l *Ledger) stopWaiting(s *Share) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	waits := s.queue != nil
	if waits {
		s.leaveQueue()
	}
	s.waited += time.Since(s.asked)
	l.serve() // others may have waited only for this one
	canceled := s.ctx.Err()
	switch reason := s.refused.Load(); {
	case reason != nil:
		return *reason
	case canceled != nil && !errors.Is(canceled, context.DeadlineExceeded): // that is the same as waiting too long
		return canceled
	case !waits:
		return nil
	case s.wantsTurn(s.want):
		return OverloadError(ShedTurns)
	}
	return OverloadError(ShedBytes)
}

// grant sets what a share holds. Callers hold mu.
func (l *Ledger) grant(s *Share, want amount) {
	more := want.minus(s.amount)
	s.amount, s.flow.held, l.held = want, s.flow.held.plus(more), l.held.plus(more)
}

// fits reports whether s can have want next to what is held. Callers hold mu.
func (l *Ledger) fits(s *Share, want amount) bool {
	more := want.minus(s.amount)
	held, free := s.flow.held.plus(more), l.limit.minus(l.held).minus(more)
	free.bytes -= l.connections()
	most := flowShare * free.bytes
	if s.stage == Converting {
		most *= 2 // it ends by itself, and then returns what it has
	}
	switch {
	case more.bytes > 0 && held.bytes > most:
		return false
	case more.turns > 0 && held.turns > flowShare*free.turns:
		return false
	case more.heavy > 0 && l.held.heavy > 0 && free.heavy < 0: // one alone may be of any size
		return false
	}
	return !l.tight || !s.flow.key.Large || more.requests == 0 && more.turns == 0 && more.heavy <= 0
}

// serve grants what fits to those who wait. Callers hold mu.
func (l *Ledger) serve() {
	for s := l.next(); s != nil; s = l.next() {
		l.grant(s, s.want)
		s.wake()
	}
}

// next returns the first that waits, and fits, of the flow that has the least. Callers hold mu.
func (l *Ledger) next() (next *Share) {
	for _, f := range l.flows {
		for _, q := range f.queues {
			if len(q) > 0 && l.fits(q[0], q[0].want) && (next == nil || l.before(q[0], next)) {
				next = q[0]
			}
		}
	}
	return next
}

// before reports whether a goes before b. Callers hold mu.
func (l *Ledger) before(a, b *Share) bool {
	return cmp.Or(cmp.Compare(l.used(a.flow), l.used(b.flow)), cmp.Compare(a.arrival, b.arrival)) < 0
}

// used returns which part a flow has of what it has most of. Callers hold mu.
func (l *Ledger) used(f *flow) float64 {
	return max(float64(f.held.bytes)/float64(l.limit.bytes), float64(f.held.turns)/float64(l.limit.turns))
}
