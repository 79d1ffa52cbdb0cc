package server

import (
	"container/list"
	"sync/atomic"
	"time"
)

// A transfer is the arrival of a request's body or the departure of its answer. A slow one holds
// its share for long, so it is interrupted if another request waits. Its client tries again, or is
// slow on purpose.
type transfer struct {
	done        atomic.Int64 // bytes; the other fields are the gate's
	size        int64        // total
	measured    time.Time    // last measurement, plus its pauses
	doneBefore  int64
	slow        bool      // result of that measurement
	paused      time.Time // start of the pause; zero: not paused
	sending     bool      // an answer, not a body
	interrupted atomic.Bool
	interrupt   func(sending bool)
	place       *list.Element // among the gate's transfers; nil: not tracked
}

const (
	// paceInterval is the time between two measurements of a transfer.
	paceInterval = 250 * time.Millisecond
	// maxTransferTime is how long a whole transfer may take at its pace while another request
	// waits.
	maxTransferTime = 20 * time.Second
	// minTracked is the size of the smallest body that is worth watching.
	minTracked = 4 << 10
)

// watches reports whether the body of s is worth watching.
func (g *gate) watches(s *share) bool {
	return s.promised > minTracked || s.promised == 0 || g.maxRequests > 0
}

// bodyBegins starts to watch the body of s. interrupt ends reading (sending false) or writing at
// once; it must not call the gate.
func (g *gate) bodyBegins(s *share, now time.Time, interrupt func(sending bool)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.transfer.size, s.transfer.measured, s.transfer.interrupt = s.promised, now, interrupt
	s.transfer.place = g.track(s)
}

// track adds s to the transfers, in order of arrival. Callers hold mu.
func (g *gate) track(s *share) *list.Element {
	for e := g.transfers.Back(); e != nil; e = e.Prev() {
		if e.Value.(*share).arrival < s.arrival { //nolint:forcetypeassert // nothing else is ever put in
			return g.transfers.InsertAfter(s, e)
		}
	}
	return g.transfers.PushFront(s)
}

// bodyDone stops watching the body of s, which has arrived.
func (g *gate) bodyDone(s *share) {
	if s.transfer.interrupt == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop(s)
	s.transfer.interrupted.Store(false) // too late
	g.admitWaiting()                    // it needs no more room
}

// answerSent counts n sent bytes of the answer of s. The first call starts to watch the answer,
// which is about as large as the body.
func (g *gate) answerSent(s *share, n int) {
	t := &s.transfer
	if t.interrupt == nil {
		return
	}
	if t.done.Add(int64(n)); n > 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.place == nil && !t.sending {
		t.sending, t.measured = true, time.Now()
		t.doneBefore, t.slow = t.done.Load(), false
		t.place = g.track(s)
	}
}

// stop stops watching s. Callers hold mu.
func (g *gate) stop(s *share) {
	if s.transfer.place != nil {
		g.transfers.Remove(s.transfer.place)
		s.transfer.place = nil
	}
}

// pause and resume exclude a time in which the server did not read. Callers hold the gate's mu.
func (t *transfer) pause(now time.Time) { t.paused = now }

func (t *transfer) resume(now time.Time) {
	if !t.paused.IsZero() {
		t.measured, t.paused = t.measured.Add(now.Sub(t.paused)), time.Time{}
	}
}

// isSlow reports whether the transfer of s is slow, and measures it if that is due.
func (s *share) isSlow(now time.Time) bool {
	t := &s.transfer
	if took := now.Sub(t.measured); t.paused.IsZero() && took >= paceInterval {
		done := t.done.Load()
		pace := float64(done-t.doneBefore) / took.Seconds()
		t.slow = pace < float64(max(t.size, s.bytes))/maxTransferTime.Seconds()
		t.measured, t.doneBefore = now, done
	}
	return t.slow && t.paused.IsZero()
}

// giveWay interrupts transfers until w would fit without them, the latest first: slow ones, and if
// w has waited for long, large ones that arrived after it. Callers hold mu.
func (g *gate) giveWay(w *waiter, now time.Time) {
	held := g.held
	for e := g.transfers.Front(); e != nil; e = e.Next() {
		if s := e.Value.(*share); s.transfer.interrupted.Load() { //nolint:forcetypeassert // nothing else is ever put in
			held = held.without(s) // it is about to end
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
			s.transfer.interrupt(s.transfer.sending)
		}
	}
}
