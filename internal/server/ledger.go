package server

import (
	"container/list"
	"context"
	"errors"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"time"
)

// A ledger bounds what all requests use together: their number, the memory, and the turns to
// convert. What a request uses is reserved as it grows.
//
// Flows share it. A flow may have at most flowShare times what it leaves free, so a flow that comes
// later always finds some room, and small bodies never wait behind large ones. If requests wait,
// the flow that has the least goes first. Within a flow, the first come is the first served.
type ledger struct {
	limit       amount // requests 0: no bound
	wait        time.Duration
	connections func() int64 // returns the bytes that connections take

	mu       sync.Mutex
	held     amount
	arrivals uint64
	flows    map[flowKey]*flow
	watched  list.List // of *share, the latest last
	tight    bool      // the heap is almost full: no large body is admitted
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

// A flowKey names the requests that compete as one: the small or the large bodies of one source.
type flowKey struct {
	source netip.Prefix
	large  bool
}

// A flow is kept while it has shares.
type flow struct {
	key    flowKey
	shares int
	held   amount
	queues [2]list.List // of *share, in order of arrival
}

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

// An overloadError is the reason to shed a request, such as [ShedBytes].
type overloadError string

func (e overloadError) Error() string {
	if e == ShedSlow {
		return "webhookd is overloaded, and this request came too slowly to wait for; try again"
	}
	return "webhookd is overloaded: requests in flight take all the room there is; try again"
}

// StatusCode returns the HTTP code to answer.
func (overloadError) StatusCode() int { return http.StatusTooManyRequests }

func newLedger(l *Limits, connections func() int64) *ledger {
	return &ledger{
		limit:       amount{l.InFlightRequests, turnsEach * runtime.GOMAXPROCS(0), l.InFlightBytes, l.InFlightBytes / heavyShare},
		wait:        l.QueueWait,
		connections: connections,
		flows:       map[flowKey]*flow{},
	}
}

// largest returns the size of the largest body that can be admitted.
func (l *ledger) largest() int64 { return l.limit.bytes / (flowShare + 1) * flowShare }

// largestReview returns how much a review of the largest body can take.
func (l *ledger) largestReview() int64 { return l.limit.bytes / (2*flowShare + 1) * 2 * flowShare }

// room returns how many bytes a flow may have if it is alone.
func (l *ledger) room() int64 { return (l.limit.bytes - l.connections()) / (flowShare + 1) * flowShare }

// join gives a new share to a flow. It must be released, whether or not it is ever granted
// anything.
func (l *ledger) join(s *share, key flowKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.flows[key]
	if f == nil {
		f = &flow{key: key}
		l.flows[key] = f
	}
	f.shares++
	l.arrivals++
	s.flow, s.arrival = f, l.arrivals
}

// release ends a share.
func (l *ledger) release(s *share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unwatch(s)
	l.grant(s, amount{})
	if s.flow.shares--; s.flow.shares == 0 {
		delete(l.flows, s.flow.key)
	}
	l.serve()
}

// shrink reduces a share to want.
func (l *ledger) shrink(s *share, want amount) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grant(s, want)
	l.serve()
}

// growNow adds n bytes to a share if it need not wait, and reports whether it did.
func (l *ledger) growNow(s *share, n int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	want := s.plus(amount{bytes: n})
	fits := l.fits(s, want)
	if fits {
		l.grant(s, want)
	}
	return fits
}

// grow enlarges a share to want, and waits for it if necessary. It returns an overloadError if the
// share was given up, or does not become available in time or before ctx's deadline, and ctx's
// error if ctx is canceled. The share is then as it was.
func (l *ledger) grow(ctx context.Context, s *share, want amount) error {
	l.mu.Lock()
	if reason := s.refused.Load(); reason != nil {
		l.mu.Unlock()
		return *reason
	}
	queue, wait := forMemory, l.wait
	if s.wantsTurn(want) {
		queue, wait = forTurn, turnWait
	}
	// A request that holds something does not wait behind those that hold nothing.
	if (s.requests > 0 || s.flow.queues[queue].Len() == 0) && l.fits(s, want) {
		l.grant(s, want)
		l.mu.Unlock()
		return nil
	}
	s.want, s.granted, s.asked = want, make(chan struct{}), time.Now()
	q := &s.flow.queues[queue]
	s.place = enqueue(q, s)
	l.mu.Unlock()
	return l.await(ctx, s, q, wait)
}

// enqueue adds s in order of arrival.
func enqueue(queue *list.List, s *share) *list.Element {
	for e := queue.Back(); e != nil; e = e.Prev() {
		if shareOf(e).arrival < s.arrival {
			return queue.InsertAfter(s, e)
		}
	}
	return queue.PushFront(s)
}

func shareOf(e *list.Element) *share { return e.Value.(*share) } //nolint:forcetypeassert // nothing else is ever put in

// await waits until s is granted or refused, has waited too long or is canceled.
func (l *ledger) await(ctx context.Context, s *share, queue *list.List, wait time.Duration) error {
	timer, press := time.NewTimer(wait), time.NewTicker(pressInterval)
	defer timer.Stop()
	defer press.Stop()
	for {
		select {
		case <-press.C:
			l.press(s, queue)
			continue
		case <-s.granted:
		case <-ctx.Done():
		case <-timer.C:
		}
		return l.stopWaiting(ctx, s, queue)
	}
}

func (l *ledger) stopWaiting(ctx context.Context, s *share, queue *list.List) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	waits := s.place != nil
	if waits {
		queue.Remove(s.place)
		s.place = nil
	}
	s.granted, s.waited = nil, s.waited+time.Since(s.asked)
	l.serve() // others may have waited only for this one
	canceled := ctx.Err()
	switch reason := s.refused.Load(); {
	case reason != nil:
		return *reason
	case canceled != nil && !errors.Is(canceled, context.DeadlineExceeded): // that is the same as waiting too long
		return canceled
	case !waits:
		return nil
	case s.wantsTurn(s.want):
		return overloadError(ShedTurns)
	case l.crowded(s.want.minus(s.amount)):
		return overloadError(ShedRequests)
	}
	return overloadError(ShedBytes)
}

// grant sets what a share holds. Callers hold mu.
func (l *ledger) grant(s *share, want amount) {
	more := want.minus(s.amount)
	s.amount, s.flow.held, l.held = want, s.flow.held.plus(more), l.held.plus(more)
}

// fits reports whether s can have want next to what is held. Callers hold mu.
func (l *ledger) fits(s *share, want amount) bool {
	more := want.minus(s.amount)
	held, free := s.flow.held.plus(more), l.limit.minus(l.held).minus(more)
	free.bytes -= l.connections()
	most := flowShare * free.bytes
	if s.stage == converting {
		most *= 2 // it ends by itself, and then returns what it has
	}
	switch {
	case l.crowded(more):
		return false
	case more.bytes > 0 && held.bytes > most:
		return false
	case more.turns > 0 && held.turns > flowShare*free.turns:
		return false
	case more.heavy > 0 && l.held.heavy > 0 && free.heavy < 0: // one alone may be of any size
		return false
	}
	return !l.tight || !s.flow.key.large || more.requests == 0 && more.turns == 0 && more.heavy <= 0
}

// crowded reports whether there would be too many requests with more. Callers hold mu.
func (l *ledger) crowded(more amount) bool {
	return more.requests > 0 && l.limit.requests > 0 && l.held.requests+more.requests > l.limit.requests
}

// serve grants what fits to those who wait. Callers hold mu.
func (l *ledger) serve() {
	for s := l.next(); s != nil; s = l.next() {
		l.grant(s, s.want)
		l.wake(s)
	}
}

// next returns the first that waits, and fits, of the flow that has the least. Callers hold mu.
func (l *ledger) next() (next *share) {
	for _, f := range l.flows {
		for i := range f.queues {
			e := f.queues[i].Front()
			if e == nil {
				continue
			}
			if s := shareOf(e); l.fits(s, s.want) && (next == nil || l.before(s, next)) {
				next = s
			}
		}
	}
	return next
}

// before reports whether a goes before b. Callers hold mu.
func (l *ledger) before(a, b *share) bool {
	if x, y := l.used(a.flow), l.used(b.flow); x != y {
		return x < y
	}
	return a.arrival < b.arrival
}

// used returns which part a flow has of what it has most of. Callers hold mu.
func (l *ledger) used(f *flow) float64 {
	return max(float64(f.held.bytes)/float64(l.limit.bytes), float64(f.held.turns)/float64(l.limit.turns))
}

// wake ends the wait of s. Callers hold mu.
func (l *ledger) wake(s *share) {
	for i := range s.flow.queues {
		s.flow.queues[i].Remove(s.place) // of one of them
	}
	s.place = nil
	close(s.granted)
}

func (l *ledger) stats() Stats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := Stats{Requests: l.held.requests, Bytes: l.held.bytes, BytesLimit: l.limit.bytes}
	for _, f := range l.flows {
		for i := range f.queues {
			for e := f.queues[i].Front(); e != nil; e = e.Next() {
				s.Waiting++
				s.Requests += 1 - shareOf(e).requests
			}
		}
	}
	return s
}
