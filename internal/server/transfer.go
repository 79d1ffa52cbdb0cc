package server

import (
	"cmp"
	"container/list"
	"slices"
	"sync/atomic"
	"time"
)

// A transfer is how fast a request's body comes, or its answer leaves. One that is slow holds its share for long, and gives way
// where another request waits: it is interrupted. Its client asks again, or is one that means to be slow.
type transfer struct {
	done        atomic.Int64 // bytes; the rest is the gate's
	size        int64        // of all of it
	began       time.Time    // later by its pauses
	paused      time.Time    // since when; zero: it is not
	leaving     bool         // it is an answer
	interrupted atomic.Bool
	interrupt   func(leaving bool)
	place       *list.Element // among the gate's transfers; nil: it is not tracked
}

const (
	// slowGrace is how long a transfer is not judged.
	slowGrace = 250 * time.Millisecond
	// slowest is how long a transfer may take for all of it where another request waits.
	slowest = 5 * time.Second
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
	s.transfer.size, s.transfer.began, s.transfer.interrupt = s.promised, now, interrupt
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
		t.leaving, t.began = true, time.Now()
		t.done.Store(0)
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
		t.began, t.paused = t.began.Add(now.Sub(t.paused)), time.Time{}
	}
}

// pace returns the bytes a second that there have been, and whether that is slow.
func (s *share) pace(now time.Time) (rate float64, slow bool) {
	t := &s.transfer
	took := now.Sub(t.began)
	if !t.paused.IsZero() || took < slowGrace {
		return 0, false
	}
	rate = float64(t.done.Load()) / took.Seconds()
	return rate, rate < float64(max(t.size, s.bytes))/slowest.Seconds()
}

// giveWay interrupts slow transfers, the slowest first, until w would fit without them. Callers hold mu.
func (g *gate) giveWay(w *waiter, now time.Time) {
	type candidate struct {
		share *share
		rate  float64
	}
	var slow []candidate
	held := g.held
	for e := g.transfers.Front(); e != nil; e = e.Next() {
		s := e.Value.(*share) //nolint:forcetypeassert // nothing else is ever put in
		if s.transfer.interrupted.Load() {
			held = held.without(s) // it is about to go
		} else if rate, isSlow := s.pace(now); isSlow && s != w.share {
			slow = append(slow, candidate{s, rate})
		}
	}
	slices.SortFunc(slow, func(a, b candidate) int { return cmp.Compare(a.rate, b.rate) })
	for _, c := range slow {
		if g.fits(held, w.share, w.want) {
			return
		}
		held = held.without(c.share)
		c.share.transfer.interrupted.Store(true)
		c.share.transfer.interrupt(c.share.transfer.leaving)
	}
}
