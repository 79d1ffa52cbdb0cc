package server

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// coming is an admitted body that arrives bit by bit.
type coming struct {
	*share

	gate        *gate
	interrupted bool
}

// come starts a body of promised bytes; n of them arrive at once.
func come(t *testing.T, g *gate, promised, n int64) *coming {
	t.Helper()
	s, err := acquire(t.Context(), g, promised, n)
	if err != nil {
		t.Fatal(err)
	}
	c := &coming{share: s, gate: g}
	g.bodyBegins(s, time.Now(), func(bool) { c.interrupted = true })
	s.transfer.done.Add(n)
	return c
}

// grow asks for more on another goroutine.
func (c *coming) grow(ctx context.Context, n int64) *queued {
	q, start := &queued{share: c.share}, time.Now()
	go func() {
		q.err = c.gate.grow(ctx, c.share, n)
		q.after, q.done = time.Since(start), true
	}()
	synctest.Wait()
	return q
}

// giveUp ends an interrupted body.
func (c *coming) giveUp() { c.gate.release(c.share) }

// largeGate has room for 75 MB of large bodies.
func largeGate() *gate {
	return newGate(&Limits{InFlightBytes: 100e6, SmallBodyBytes: 64e3, SmallBodyShare: 25, QueueWait: 2 * time.Second}, noConnections)
}

func TestSlowBodiesGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := largeGate()
		slow, quick := come(t, g, 40e6, 30e6), come(t, g, 40e6, 30e6)
		advance(time.Second)
		if slow.interrupted || quick.interrupted {
			t.Error("a body is interrupted although no request waits")
		}
		next := ask(t.Context(), g, 30e6)
		for range 10 {
			quick.transfer.done.Add(1e6)
			advance(50 * time.Millisecond)
		}
		if !slow.interrupted || quick.interrupted {
			t.Fatalf("the slow one is interrupted %t, the quick one %t; want true and false", slow.interrupted, quick.interrupted)
		}
		slow.giveUp()
		wantAdmitted(t, "the one that waited", next)
		g.release(next.share)
		g.release(quick.share)
		wantEmpty(t, g)
	})
}

func TestWaitingBodyIsNotSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := largeGate()
		full, waiting := come(t, g, 50e6, 50e6), come(t, g, 60e6, 20e6)
		q := waiting.grow(t.Context(), 60e6)
		other := ask(t.Context(), g, 30e6)
		for range 10 {
			full.transfer.done.Add(1e6)
			advance(100 * time.Millisecond)
		}
		if waiting.interrupted || full.interrupted {
			t.Errorf("interrupted: %t, %t; want neither", waiting.interrupted, full.interrupted)
		}
		g.release(full.share)
		wantAdmitted(t, "the one that came first", q)
		advance(2 * time.Second)
		for _, s := range []*share{waiting.share, other.share} {
			if s != nil {
				g.release(s)
			}
		}
		wantEmpty(t, g)
	})
}

func TestLargeBodiesNeverKeepSmallOnesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := largeGate()
		large := make([]*coming, 75)
		for i := range large {
			large[i] = come(t, g, 30e6, 1e6)
			large[i].transfer.interrupted.Store(true) // and so no room is left for the first one
		}
		for range 100 {
			q := ask(t.Context(), g, 60e3)
			wantAdmitted(t, "a small body", q)
			g.release(q.share)
		}
		for _, c := range large {
			g.release(c.share)
		}
		wantEmpty(t, g)
	})
}

// TestLargeBodiesDoNotDeadlock checks that of many bodies at the same pace, the first finds room
// for all of itself.
func TestLargeBodiesDoNotDeadlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := largeGate()
		first := come(t, g, 34e6, 4e3)
		others := []*coming{come(t, g, 34e6, 4e3), come(t, g, 34e6, 4e3)}
		for _, c := range others {
			c.grow(t.Context(), 34e6) // one of them has to wait
		}
		if q := first.grow(t.Context(), 34e6); !q.done || q.err != nil {
			t.Errorf("the first one waits: %t, %v", !q.done, q.err)
		}
		advance(3 * time.Second)
		for _, c := range append(others, first) {
			g.release(c.share)
		}
		wantEmpty(t, g)
	})
}

// TestFirstBodyInterruptsLaterOnes checks that a body that has waited for long interrupts later
// ones.
func TestFirstBodyInterruptsLaterOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := largeGate()
		first := come(t, g, 0, 30e6) // of unknown size, so no room was kept for it
		later := come(t, g, 0, 40e6)
		q := first.grow(t.Context(), 60e6)
		for range 30 {
			later.transfer.done.Add(20e6)
			advance(50 * time.Millisecond)
		}
		if !later.interrupted {
			t.Fatal("the later one is not interrupted")
		}
		later.giveUp()
		wantAdmitted(t, "the first one", q)
		g.release(first.share)
		wantEmpty(t, g)
	})
}

func TestUnreadAnswersGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := largeGate()
		c := come(t, g, 60e6, 60e6)
		g.bodyDone(c.share)
		advance(10 * time.Second)
		next := ask(t.Context(), g, 60e6)
		advance(time.Second)
		if c.interrupted {
			t.Error("it is interrupted while it is converted")
		}
		g.answerSent(c.share, 0)
		g.answerSent(c.share, 128<<10)
		advance(700 * time.Millisecond)
		if !c.interrupted {
			t.Error("an unread answer is not interrupted")
		}
		c.giveUp()
		wantAdmitted(t, "the one that waited", next)
		g.release(next.share)
		wantEmpty(t, g)
	})
}

// TestConnectionsCountAgainstTheBudget checks that the memory of connections is not available to
// bodies.
func TestConnectionsCountAgainstTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var open atomic.Int64
		open.Store(30e6)
		g := newGate(&Limits{InFlightBytes: 100e6, SmallBodyBytes: 64e3, SmallBodyShare: 25, QueueWait: 2 * time.Second},
			open.Load)
		q := ask(t.Context(), g, 50e6)
		wantStats(t, g, Stats{Requests: 1, Waiting: 1, BytesLimit: 100e6})
		open.Store(1e6)
		advance(time.Second)
		wantAdmitted(t, "it, once they have gone", q)
		g.release(q.share)
		wantEmpty(t, g)
	})
}
