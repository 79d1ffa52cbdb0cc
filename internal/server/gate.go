package server

import (
	"container/list"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// A gate bounds the requests in progress and the bytes of their bodies.
//
// Bodies are of two classes, for almost all of kube-apiserver's calls carry one object of a few KB.
// Large ones leave a reserve of the budget alone. Small ones may take all that is free, but no more
// than the reserve while a large one waits, so neither class starves the other. Within a class it is
// first come, first served.
type gate struct {
	budget      int64 // bytes, for both classes together
	reserve     int64 // bytes of the budget that large bodies leave alone
	smallBody   int64 // size of the largest small body
	maxRequests int   // 0: no bound
	wait        time.Duration

	mu      sync.Mutex
	held    lease // the sum over all requests
	arrival uint64
	queues  [2]list.List // of *waiter, by class, in order of arrival
}

// A lease is what a request holds of the gate, or all requests together.
type lease struct {
	requests int
	bytes    [2]int64 // by class; one request's bytes are all in one class
}

const (
	small = 0
	large = 1
)

func (l lease) total() int64 { return l.bytes[small] + l.bytes[large] }

func (l lease) class() int {
	if l.bytes[large] > 0 {
		return large
	}
	return small
}

// replaced returns the sum l with one request's share changed from have to want.
func (l lease) replaced(have, want lease) lease {
	l.requests += want.requests - have.requests
	for class := range l.bytes {
		l.bytes[class] += want.bytes[class] - have.bytes[class]
	}
	return l
}

// A waiter is a request that waits to have its share changed.
type waiter struct {
	have, want lease
	arrival    uint64
	granted    chan struct{}
}

// An overloadError says what there was too little of: [ShedBytes] or [ShedRequests].
type overloadError string

func (overloadError) Error() string {
	return "webhookd is overloaded: requests in flight take all the room there is; try again"
}

// StatusCode returns the HTTP code to answer.
func (overloadError) StatusCode() int { return http.StatusTooManyRequests }

func newGate(l *Limits) *gate {
	reserve := l.InFlightBytes * int64(l.SmallBodyShare) / 100
	return &gate{
		budget:      l.InFlightBytes,
		reserve:     reserve,
		smallBody:   min(l.SmallBodyBytes, reserve),
		maxRequests: l.InFlightRequests,
		wait:        l.QueueWait,
	}
}

// largest returns the size of the largest body that can ever be admitted.
func (g *gate) largest() int64 { return g.budget - g.reserve }

// share returns the lease of one request with a body of n bytes.
func (g *gate) share(n int64) lease {
	l := lease{requests: 1}
	if n <= g.smallBody {
		l.bytes[small] = n
	} else {
		l.bytes[large] = n
	}
	return l
}

// acquire admits one request with a body of n bytes, which must not exceed largest, waiting for its
// turn if need be. It returns an overloadError when the turn does not come in time or before ctx's
// deadline, and ctx's error when ctx is canceled.
func (g *gate) acquire(ctx context.Context, n int64) (lease, error) {
	want := g.share(n)
	return want, g.change(ctx, lease{}, want)
}

// grow changes an admitted request's share to n bytes in all. On an error it keeps what it has.
func (g *gate) grow(ctx context.Context, have lease, n int64) (lease, error) {
	want := g.share(n)
	if err := g.change(ctx, have, want); err != nil {
		return have, err
	}
	return want, nil
}

// release gives a request's share back.
func (g *gate) release(have lease) {
	g.mu.Lock()
	g.held = g.held.replaced(have, lease{})
	g.admitWaiting()
	g.mu.Unlock()
}

// answered ends one of the admitted requests, whose bytes stay held.
func (g *gate) answered() {
	g.mu.Lock()
	g.held.requests--
	g.admitWaiting()
	g.mu.Unlock()
}

func (g *gate) change(ctx context.Context, have, want lease) error {
	growing := have.requests > 0
	queue := &g.queues[want.class()]
	g.mu.Lock()
	if (queue.Len() == 0 || growing) && g.fits(have, want) {
		g.held = g.held.replaced(have, want)
		if growing {
			g.admitWaiting() // it may have left the class of small bodies
		}
		g.mu.Unlock()
		return nil
	}
	g.arrival++
	w := &waiter{have: have, want: want, arrival: g.arrival, granted: make(chan struct{})}
	var place *list.Element
	if growing {
		// It holds memory already: the sooner it is through, the sooner that is free again.
		place = queue.PushFront(w)
	} else {
		place = queue.PushBack(w)
	}
	g.mu.Unlock()
	return g.await(ctx, queue, place, w)
}

// await returns when w was granted, has waited too long or is no longer wanted.
func (g *gate) await(ctx context.Context, queue *list.List, place *list.Element, w *waiter) error {
	timer := time.NewTimer(g.wait)
	defer timer.Stop()
	var gaveUp error
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		if err := ctx.Err(); !errors.Is(err, context.DeadlineExceeded) { // else it has waited too long as well
			gaveUp = err
		}
	case <-timer.C:
	}

	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-w.granted: // in the meantime
		if gaveUp == nil {
			return nil
		}
		g.held = g.held.replaced(w.want, w.have)
	default:
		if gaveUp == nil {
			gaveUp = g.shortage(w)
		}
		queue.Remove(place)
	}
	g.admitWaiting() // others may have waited behind this one only
	return gaveUp
}

// fits reports whether one request's share can change from have to want. Callers hold mu.
func (g *gate) fits(have, want lease) bool {
	after := g.held.replaced(have, want)
	switch {
	case g.crowded(after):
		return false
	case after.total() > g.budget, after.bytes[large] > g.largest():
		return false
	case want.class() == small && g.queues[large].Len() > 0:
		return after.bytes[small] <= g.reserve
	}
	return true
}

func (g *gate) crowded(after lease) bool {
	return g.maxRequests > 0 && after.requests > g.maxRequests
}

// shortage says what w waits for. Callers hold mu.
func (g *gate) shortage(w *waiter) error {
	if g.crowded(g.held.replaced(w.have, w.want)) {
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
	if a, b := head(first), head(second); a != nil && b != nil && b.arrival < a.arrival {
		first, second = second, first
	}
	return g.admitHead(first) || g.admitHead(second)
}

func (g *gate) admitHead(queue *list.List) bool {
	w := head(queue)
	if w == nil || !g.fits(w.have, w.want) {
		return false
	}
	queue.Remove(queue.Front())
	g.held = g.held.replaced(w.have, w.want)
	close(w.granted)
	return true
}

func head(queue *list.List) *waiter {
	if e := queue.Front(); e != nil {
		return e.Value.(*waiter) //nolint:forcetypeassert // nothing else is ever put in
	}
	return nil
}

// Stats is a snapshot of what is in progress.
type Stats struct {
	// Requests is the number of reviews in progress, Waiting of those among them that wait for their
	// share, or for a larger one.
	Requests, Waiting int
	// Bytes is the size of the bodies in flight, BytesLimit the budget for them.
	Bytes, BytesLimit int64
}

func (g *gate) stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Stats{Requests: g.held.requests, Bytes: g.held.total(), BytesLimit: g.budget}
	for class := range g.queues {
		for e := g.queues[class].Front(); e != nil; e = e.Next() {
			w := e.Value.(*waiter) //nolint:forcetypeassert // nothing else is ever put in
			s.Waiting++
			s.Requests += w.want.requests - w.have.requests // one that grows counts already
		}
	}
	return s
}
