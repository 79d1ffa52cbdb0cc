package server

import (
	"container/list"
	"sync/atomic"
	"time"
)

// A transfer is how fast a request's body comes, or its answer leaves. One that is slow holds its share for long, and gives way
// where another request waits: it is interrupted. Its client asks again, or is one that means to be slow.
type transfer struct {
	done        atomic.Int64 // bytes; the rest is the gate's
	size        int64        // of all of it
	looked      time.Time    // when its pace was taken last, later by its pauses
	doneThen    int64
	slow        bool      // it was then
	paused      time.Time // since when; zero: it is not
	leaving     bool      // it is an answer
	interrupted atomic.Bool
	interrupt   func(leaving bool)
	place       *list.Element // among the gate's transfers; nil: it is not tracked
}

const (
	// paceInterval is the time over which the pace of a transfer is taken.
	paceInterval = 250 * time.Millisecond
	// slowest is how long a transfer may take for all of it, at its pace, where another request waits.
	slowest = 20 * time.Second
	// tracked is the size of the smallest body that is worth watching.
	tracked = 4 << 10
)

// arrive begins to watch the body of s. interrupt ends reading (leaving false) or writing at once; it must not call the gate.
func (g *gate) arrive(s *share, now time.Time, interrupt func(leaving bool)) {
	if s.promised <= tracked && s.promised > 0 && g.maxRequests == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s.transfer.size, s.transfer.looked, s.transfer.interrupt = s.promised, now, interrupt
	s.transfer.place = g.track(s)
}

// track puts s among the transfers, in order of arrival. Callers hold mu.
func (g *gate) track(s *share) *list.Element {
	for e := g.transfers.Back(); e != nil; e = e.Prev() {
		if e.Value.(*share).arrival < s.arrival { //nolint:forcetypeassert // nothing else is ever put in
			return g.transfers.InsertAfter(s, e)
		}
	}
	return g.transfers.PushFront(s)
}

// arrived ends watching the body of s: all of it has come.
func (g *gate) arrived(s *share) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop(s)
	s.transfer.interrupted.Store(false) // too late
	g.admitWaiting()                    // it needs no more
}

// left counts n bytes of the answer of s as sent. The answer is watched from the first call on: it is about as large as the body.
func (g *gate) left(s *share, n int) {
	t := &s.transfer
	if t.interrupt == nil {
		return
	}
	if t.done.Add(int64(n)); n > 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.place == nil && !t.leaving {
		t.leaving, t.looked = true, time.Now()
		t.doneThen, t.slow = t.done.Load(), false
		t.place = g.track(s)
	}
}

// stop ends watching s. Callers hold mu.
func (g *gate) stop(s *share) {
	if s.transfer.place != nil {
		g.transfers.Remove(s.transfer.place)
		s.transfer.place = nil
	}
}

// pause and resume leave a time out in which the server did not want more. Callers hold the gate's mu.
func (t *transfer) pause(now time.Time) { t.paused = now }

func (t *transfer) resume(now time.Time) {
	if !t.paused.IsZero() {
		t.looked, t.paused = t.looked.Add(now.Sub(t.paused)), time.Time{}
	}
}

// isSlow reports whether the transfer of s was slow when its pace was taken last. It may be taken now.
func (s *share) isSlow(now time.Time) bool {
	t := &s.transfer
	if took := now.Sub(t.looked); t.paused.IsZero() && took >= paceInterval {
		done := t.done.Load()
		pace := float64(done-t.doneThen) / took.Seconds()
		t.slow = pace < float64(max(t.size, s.bytes))/slowest.Seconds()
		t.looked, t.doneThen = now, done
	}
	return t.slow && t.paused.IsZero()
}

// giveWay interrupts transfers until w would fit without them: slow ones, and where w has waited for long, those that came after it.
// The last one that came goes first. Callers hold mu.
func (g *gate) giveWay(w *waiter, now time.Time) {
	held := g.held
	for e := g.transfers.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*share); s.transfer.interrupted.Load() { //nolint:forcetypeassert // nothing else is ever put in
			held = held.without(s) // it is about to go
		}
	}
	long := w.growing && now.Sub(w.share.transfer.paused) > g.wait/2
	for e := g.transfers.Back(); e != nil && !g.fits(held, w.share, w.want); e = e.Prev() {
		s := e.Value.(*share) //nolint:forcetypeassert // nothing else is ever put in
		if s == w.share || s.transfer.interrupted.Load() {
			continue
		}
		if s.isSlow(now) || long && s.arrival > w.share.arrival && s.class == large {
			held = held.without(s)
			s.transfer.interrupted.Store(true)
			s.transfer.interrupt(s.transfer.leaving)
		}
	}
}
