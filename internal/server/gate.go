package server

import (
	"container/list"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// A gate bounds the requests in progress and the bytes that they hold. A request holds what has come of its body, not what it
// promises, and asks for more as more comes.
//
// Bodies are of two classes, for almost all of kube-apiserver's calls carry one object of a few KB. Large ones leave a reserve
// of the budget alone. Small ones may take all that is free, but no more than the reserve while a large one waits, so neither
// class starves the other. Within a class it is first come, first served; and a large body leaves alone what the oldest one
// still needs, so that they cannot all stop half way. While a request waits, slow ones give way: see transfer.
type gate struct {
	budget      int64 // bytes, for both classes and the connections together
	reserve     int64 // bytes of the budget that large bodies leave alone
	smallBody   int64 // size of the largest small body
	maxRequests int   // 0: no bound
	wait        time.Duration
	connections func() int64 // bytes that they take

	mu        sync.Mutex
	held      holdings
	arrival   uint64
	queues    [2]list.List // of *waiter, by class, in order of arrival
	transfers list.List    // of *share: the bodies that are coming and the answers that are leaving, in order of arrival
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

// A share is what one request holds. Its fields are the gate's.
type share struct {
	requests int // 0 or 1
	bytes    int64
	class    int
	promised int64 // size of the body; unknown: 0
	arrival  uint64
	transfer transfer
}

// A waiter is a request that waits to have its share changed.
type waiter struct {
	share   *share
	growing bool // it holds something
	want    int64
	granted chan struct{}
}

// An overloadError says what there was too little of: [ShedBytes] or [ShedRequests]; or that the request gave way: [ShedSlow].
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

// largest returns the size of the largest body that can ever be admitted.
func (g *gate) largest() int64 { return g.budget - g.reserve }

// roomForLarge returns how many bytes all large bodies together can have now.
func (g *gate) roomForLarge() int64 { return g.budget - g.connections() - g.reserve }

// classOf returns the class of a share of n bytes: that of its body, where its size is known.
func (g *gate) classOf(s *share, n int64) int {
	if s.promised > 0 {
		n = s.promised
	}
	if n <= g.smallBody {
		return small
	}
	return large
}

// acquire admits one request with a body of promised bytes, of which it holds n to begin with, waiting for its turn if need be.
// Neither may exceed largest. It returns an overloadError when the turn does not come in time or before ctx's deadline, and
// ctx's error when ctx is canceled.
func (g *gate) acquire(ctx context.Context, promised, n int64) (*share, error) {
	s := &share{promised: promised}
	if err := g.change(ctx, s, n); err != nil {
		return nil, err
	}
	return s, nil
}

// grow changes an admitted request's share to n bytes in all. On an error it keeps what it has.
func (g *gate) grow(ctx context.Context, s *share, n int64) error { return g.change(ctx, s, n) }

// shrink makes a share n bytes where it is larger.
func (g *gate) shrink(s *share, n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n < s.bytes {
		g.grant(s, n)
		g.admitWaiting()
	}
}

// growNow adds n bytes to a share if it need not wait for them, and reports whether it did.
func (g *gate) growNow(s *share, n int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.fits(g.held, s, s.bytes+n) {
		return false
	}
	g.grant(s, s.bytes+n)
	return true
}

// answered ends an admitted request, whose bytes stay held.
func (g *gate) answered(s *share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop(s)
	g.held.requests -= s.requests
	s.requests = 0
	g.admitWaiting()
}

// release gives a request's share back.
func (g *gate) release(s *share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(s)
}

// drop does so. Callers hold mu.
func (g *gate) drop(s *share) {
	g.stop(s)
	g.held = g.held.without(s)
	s.requests, s.bytes = 0, 0
	g.admitWaiting()
}

// without returns h without what s holds.
func (h holdings) without(s *share) holdings {
	h.requests -= s.requests
	h.bytes[s.class] -= s.bytes
	return h
}

// grant makes the share of s n bytes. Callers hold mu.
func (g *gate) grant(s *share, n int64) {
	g.held = g.held.without(s)
	s.requests, s.bytes, s.class = 1, n, g.classOf(s, n)
	g.held.requests++
	g.held.bytes[s.class] += n
}

func (g *gate) change(ctx context.Context, s *share, n int64) error {
	g.mu.Lock()
	queue, growing := &g.queues[g.classOf(s, n)], s.requests > 0
	if !growing {
		g.arrival++
		s.arrival = g.arrival
	}
	if (queue.Len() == 0 || growing) && g.fits(g.held, s, n) {
		g.grant(s, n)
		if growing {
			g.admitWaiting() // it may have left the class of small bodies
		}
		g.mu.Unlock()
		return nil
	}
	w := &waiter{share: s, growing: growing, want: n, granted: make(chan struct{})}
	place := enqueue(queue, w)
	s.transfer.pause(time.Now())
	g.mu.Unlock()
	return g.await(ctx, queue, place, w)
}

// enqueue puts w behind the waiters whose requests came before: who holds memory already goes before who does not.
func enqueue(queue *list.List, w *waiter) *list.Element {
	for e := queue.Back(); e != nil; e = e.Prev() {
		if e.Value.(*waiter).share.arrival < w.share.arrival { //nolint:forcetypeassert // nothing else is ever put in
			return queue.InsertAfter(w, e)
		}
	}
	return queue.PushFront(w)
}

// pressureInterval is how often a request that waits looks for slow ones to give way.
const pressureInterval = 50 * time.Millisecond

// await returns when w was granted, has waited too long or is no longer wanted.
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

// press has slow requests give way to w, the first of its queue.
func (g *gate) press(queue *list.List, place *list.Element, w *waiter) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if queue.Front() == place {
		g.giveWay(w, time.Now())
		g.admitWaiting() // connections may have gone
	}
}

// giveUp ends the wait of w.
func (g *gate) giveUp(ctx context.Context, queue *list.List, place *list.Element, w *waiter) error {
	canceled := ctx.Err()
	if errors.Is(canceled, context.DeadlineExceeded) { // it has waited too long as well
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
	defer g.admitWaiting() // others may have waited behind this one only
	if canceled != nil {
		return canceled
	}
	return g.shortage(w)
}

// fits reports whether the share of s can be n bytes beside what is held. Callers hold mu.
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

// neededByTheOldest returns how many bytes the large body that came first still needs, unless it is that of s.
func (g *gate) neededByTheOldest(s *share) int64 {
	for e := g.transfers.Front(); e != nil; e = e.Next() {
		oldest := e.Value.(*share) //nolint:forcetypeassert // nothing else is ever put in
		if oldest.class != large || oldest.transfer.leaving || oldest.transfer.interrupted.Load() {
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

// shortage says what w waits for. Callers hold mu.
func (g *gate) shortage(w *waiter) error {
	if !w.growing && g.maxRequests > 0 && g.held.requests >= g.maxRequests {
		return overloadError(ShedRequests)
	}
	return overloadError(ShedBytes)
}

// admitWaiting grants what fits, the longest waiting first. Callers hold mu.
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
