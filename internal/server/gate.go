package server

import (
	"container/list"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// A gate bounds the requests in progress and their bytes. A request holds the part of its body that
// has arrived, not its Content-Length, and asks for more as more arrives.
//
// Bodies have two classes, because almost all calls of kube-apiserver carry one object of a few KB.
// Large bodies leave a reserve of the budget free. Small ones may take all free bytes, but no more
// than the reserve while a large one waits, so neither class starves the other. Each class is first
// come, first served. A large body leaves free what the oldest large one still needs, so they
// cannot all stop half way. While a request waits, slow ones give way: see transfer.
type gate struct {
	budget      int64 // bytes for both classes and the connections together
	reserve     int64 // bytes of the budget that large bodies leave free
	smallBody   int64 // size of the largest small body
	maxRequests int   // 0: no bound
	wait        time.Duration
	connections func() int64 // returns the bytes that connections take

	mu        sync.Mutex
	held      holdings
	arrival   uint64
	queues    [2]list.List // of *waiter, by class, in order of arrival
	transfers list.List    // of *share: arriving bodies and departing answers, in order of arrival
}

// holdings are what all requests hold together.
type holdings struct {
	requests int
	bytes    [2]int64 // by class; one request's bytes are all in one class
}

func (h holdings) total() int64 { return h.bytes[small] + h.bytes[large] }

const (
	small = 0
	large = 1
)

// A share is what one request holds. Its fields belong to the gate; only the request changes them
// while it does not wait.
type share struct {
	requests int // 0 or 1
	bytes    int64
	class    int
	promised int64 // size of the body; 0: unknown
	arrival  uint64
	transfer transfer
	waited   time.Duration // in all
}

// A waiter is a request that waits for a larger share.
type waiter struct {
	share   *share
	growing bool // it has a share already
	want    int64
	granted chan struct{}
}

// An overloadError is the reason to shed a request: [ShedBytes], [ShedRequests] or [ShedSlow].
type overloadError string

func (e overloadError) Error() string {
	if e == ShedSlow {
		return "webhookd is overloaded, and this request came too slowly to wait for; try again"
	}
	return "webhookd is overloaded: requests in flight take all the room there is; try again"
}

// StatusCode returns the HTTP code to answer.
func (overloadError) StatusCode() int { return http.StatusTooManyRequests }

func newGate(l *Limits, connections func() int64) *gate {
	reserve := l.InFlightBytes * int64(l.SmallBodyShare) / 100
	return &gate{
		budget:      l.InFlightBytes,
		reserve:     reserve,
		smallBody:   min(l.SmallBodyBytes, reserve),
		maxRequests: l.InFlightRequests,
		wait:        l.QueueWait,
		connections: connections,
	}
}

// largest returns the size of the largest body that can be admitted.
func (g *gate) largest() int64 { return g.budget - g.reserve }

// roomForLarge returns how many bytes all large bodies together may have now.
func (g *gate) roomForLarge() int64 { return g.budget - g.connections() - g.reserve }

// classOf returns the class of a share of n bytes. It uses the size of the whole body if that is
// known.
func (g *gate) classOf(s *share, n int64) int {
	if s.promised > 0 {
		n = s.promised
	}
	if n <= g.smallBody {
		return small
	}
	return large
}

// shrink reduces a larger share to n bytes.
func (g *gate) shrink(s *share, n int64) {
	if n >= s.bytes {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.grant(s, n)
	g.admitWaiting()
}

// growNow adds n bytes to a share if it can do so without waiting, and reports whether it did.
func (g *gate) growNow(s *share, n int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.fits(g.held, s, s.bytes+n) {
		return false
	}
	g.grant(s, s.bytes+n)
	return true
}

// answered ends an admitted request, but keeps its bytes.
func (g *gate) answered(s *share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop(s)
	g.held.requests -= s.requests
	s.requests = 0
	g.admitWaiting()
}

// release ends a request and its share.
func (g *gate) release(s *share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(s)
}

// drop is release for callers that hold mu.
func (g *gate) drop(s *share) {
	g.stop(s)
	g.held = g.held.without(s)
	s.requests, s.bytes = 0, 0
	g.admitWaiting()
}

// without returns h without the share s.
func (h holdings) without(s *share) holdings {
	h.requests -= s.requests
	h.bytes[s.class] -= s.bytes
	return h
}

// grant sets the share to n bytes. Callers hold mu.
func (g *gate) grant(s *share, n int64) {
	g.held = g.held.without(s)
	s.requests, s.bytes, s.class = 1, n, g.classOf(s, n)
	g.held.requests++
	g.held.bytes[s.class] += n
}

// grow enlarges the share of s to n bytes, at most largest, and admits its request if that is new.
// It waits for its turn if necessary. It returns an overloadError if the turn does not come in time
// or before ctx's deadline, and ctx's error if ctx is canceled; the share then stays as it is.
func (g *gate) grow(ctx context.Context, s *share, n int64) error {
	g.mu.Lock()
	queue, growing := &g.queues[g.classOf(s, n)], s.requests > 0
	if !growing {
		g.arrival++
		s.arrival = g.arrival
	}
	if (queue.Len() == 0 || growing) && g.fits(g.held, s, n) {
		g.grant(s, n)
		if growing {
			g.admitWaiting() // it may have left the small class
		}
		g.mu.Unlock()
		return nil
	}
	w := &waiter{share: s, growing: growing, want: n, granted: make(chan struct{})}
	place, since := enqueue(queue, w), time.Now()
	s.transfer.pause(since)
	g.mu.Unlock()
	err := g.await(ctx, queue, place, w)
	s.waited += time.Since(since)
	return err
}

// enqueue adds w in order of arrival, so a request that has a share already goes before new ones.
func enqueue(queue *list.List, w *waiter) *list.Element {
	for e := queue.Back(); e != nil; e = e.Prev() {
		if e.Value.(*waiter).share.arrival < w.share.arrival { //nolint:forcetypeassert // nothing else is ever put in
			return queue.InsertAfter(w, e)
		}
	}
	return queue.PushFront(w)
}

// pressureInterval is how often a waiting request looks for slow ones to interrupt.
const pressureInterval = 50 * time.Millisecond

// await waits until w is granted, has waited too long or is canceled.
func (g *gate) await(ctx context.Context, queue *list.List, place *list.Element, w *waiter) error {
	timer, pressure := time.NewTimer(g.wait), time.NewTicker(pressureInterval)
	defer timer.Stop()
	defer pressure.Stop()
	for {
		select {
		case <-w.granted:
			return nil
		case <-pressure.C:
			g.press(queue, place, w)
			continue
		case <-ctx.Done():
		case <-timer.C:
		}
		return g.giveUp(ctx, queue, place, w)
	}
}

// press interrupts slow requests for w, if it is the first of its queue.
func (g *gate) press(queue *list.List, place *list.Element, w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if queue.Front() == place {
		g.giveWay(w, time.Now())
		g.admitWaiting() // connections may have closed
	}
}

// giveUp ends the wait of w.
func (g *gate) giveUp(ctx context.Context, queue *list.List, place *list.Element, w *waiter) error {
	canceled := ctx.Err()
	if errors.Is(canceled, context.DeadlineExceeded) { // the same as waiting too long
		canceled = nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.granted: // in the meantime
		if canceled != nil && !w.growing {
			g.drop(w.share)
		}
		return canceled
	default:
	}
	queue.Remove(place)
	w.share.transfer.resume(time.Now())
	defer g.admitWaiting() // others may have waited only for this one
	if canceled != nil {
		return canceled
	}
	return g.shortage(w)
}

// fits reports whether the share s can have n bytes next to what is held. Callers hold mu.
func (g *gate) fits(held holdings, s *share, n int64) bool {
	held = held.without(s)
	class := g.classOf(s, n)
	held.requests++
	held.bytes[class] += n
	room := g.budget - g.connections()
	switch {
	case g.crowded(held):
		return false
	case n <= s.bytes:
		return true
	case held.total() > room:
		return false
	case class == large:
		return held.bytes[large]+g.neededByTheOldest(s) <= g.roomForLarge()
	case g.queues[large].Len() > 0:
		return held.bytes[small] <= g.reserve
	}
	return true
}

// neededByTheOldest returns how many bytes the oldest large body still needs, or 0 if s is older or
// is that body. Callers hold mu.
func (g *gate) neededByTheOldest(s *share) int64 {
	for e := g.transfers.Front(); e != nil; e = e.Next() {
		oldest := e.Value.(*share) //nolint:forcetypeassert // nothing else is ever put in
		if oldest.class != large || oldest.transfer.sending || oldest.transfer.interrupted.Load() {
			continue
		}
		if oldest == s || oldest.arrival > s.arrival {
			return 0
		}
		return max(0, oldest.promised-oldest.bytes)
	}
	return 0
}

func (g *gate) crowded(held holdings) bool {
	return g.maxRequests > 0 && held.requests > g.maxRequests
}

// shortage returns the error for what w waits for. Callers hold mu.
func (g *gate) shortage(w *waiter) error {
	if !w.growing && g.maxRequests > 0 && g.held.requests >= g.maxRequests {
		return overloadError(ShedRequests)
	}
	return overloadError(ShedBytes)
}

// admitWaiting grants what fits, longest wait first. Callers hold mu.
func (g *gate) admitWaiting() {
	for g.admitOne() {
	}
}

func (g *gate) admitOne() bool {
	first, second := &g.queues[small], &g.queues[large]
	if a, b := head(first), head(second); a != nil && b != nil && b.share.arrival < a.share.arrival {
		first, second = second, first
	}
	return g.admitHead(first) || g.admitHead(second)
}

func (g *gate) admitHead(queue *list.List) bool {
	w := head(queue)
	if w == nil || !g.fits(g.held, w.share, w.want) {
		return false
	}
	queue.Remove(queue.Front())
	g.grant(w.share, w.want)
	w.share.transfer.resume(time.Now())
	close(w.granted)
	return true
}

func head(queue *list.List) *waiter {
	if e := queue.Front(); e != nil {
		return e.Value.(*waiter) //nolint:forcetypeassert // nothing else is ever put in
	}
	return nil
}

func (g *gate) stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Stats{Requests: g.held.requests, Bytes: g.held.total(), BytesLimit: g.budget}
	for class := range g.queues {
		for e := g.queues[class].Front(); e != nil; e = e.Next() {
			s.Waiting++
			if !e.Value.(*waiter).growing { //nolint:forcetypeassert // nothing else is ever put in
				s.Requests++
			}
		}
	}
	return s
}
