package gate

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// watched is a request that can be given up. What it is doing then fails, and the request ends.
type watched struct {
	*queued

	stopped string // the stage that failed
}

// come makes a request with a body of size bytes, n of which have arrived.
func come(t *testing.T, l *Ledger, size, n int64) *watched {
	t.Helper()
	w := &watched{queued: ask(t, l, flowOf(1, true), n)}
	w.Watch(size, time.Now(), func(s Stage) {
		w.stopped = [...]string{"receiving", "converting", "answering"}[s]
		go w.Release()
	})
	w.Share.done.Add(n)
	return w
}

func wantStopped(t *testing.T, what string, w *watched, want string) {
	t.Helper()
	synctest.Wait()
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.stopped != want {
		t.Errorf("%s was stopped %q, want %q", what, w.stopped, want)
	}
}

// The largest of the slow bodies gives way, but none without need, and none that the server has
// kept waiting.
func TestSlowBodiesGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger(0)
		small, slow, quick := come(t, l, 40, 5), come(t, l, 80, 20), come(t, l, 80, 50)
		small.Share.done.Add(35)
		advance(10 * time.Second)
		wantStopped(t, "one without another that waits", slow, "")
		next := ask(t, l, flowOf(1, true), 20)
		advance(pressInterval)
		wantStopped(t, "the slow one", slow, "receiving")
		wantStopped(t, "the quick one", quick, "")
		wantGranted(t, "the one that waited", next)
		wantEmpty(t, l, small.queued, quick.queued, next)
	})
}

func TestWaitingBodyIsNotSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger(0)
		l.wait = time.Minute
		full, waiting := come(t, l, 50, 50), come(t, l, 60, 20)
		if err := full.Convert(); err != nil {
			t.Fatal(err)
		}
		waiting.ask(amount{requests: 1, bytes: 60})
		ctx, cancel := context.WithCancel(t.Context())
		other := join(ctx, l, flowOf(2, true)).ask(amount{requests: 1, bytes: 60})
		advance(25 * time.Second) // longer than it may take at its pace
		cancel()
		synctest.Wait()
		full.Release()
		wantGranted(t, "the one that waited", waiting.queued)
		next := ask(t, l, flowOf(1, true), 60)
		advance(pressInterval)
		wantStopped(t, "one that has waited for the server", waiting, "")
		wantEmpty(t, l, waiting.queued, next, other)
	})
}

// TestLargeBodiesDoNotDeadlock checks that of many bodies that come at the same pace and do not fit
// together, the later ones give way.
func TestLargeBodiesDoNotDeadlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger(0)
		bodies := []*watched{come(t, l, 60, 25), come(t, l, 60, 25), come(t, l, 60, 25)}
		for _, b := range bodies {
			b.Share.done.Add(1000) // none is slow
			b.ask(amount{requests: 1, bytes: 60})
		}
		advance(time.Second)
		wantWaiting(t, "the first", bodies[0].queued)
		advance(pressInterval * 2)
		for _, b := range bodies[1:] {
			wantShed(t, "a later one", b.queued, ShedSlow, b.after)
			b.Release()
		}
		wantGranted(t, "the first", bodies[0].queued)
		wantEmpty(t, l, bodies[0].queued)
	})
}

func TestUnreadAnswersGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger(0)
		l.wait = time.Minute
		w := come(t, l, 60, 60)
		if err := w.Convert(); err != nil || l.held.turns != 1 {
			t.Fatalf("%d turns: %v", l.held.turns, err)
		}
		next := ask(t, l, flowOf(1, true), 60)
		advance(30 * time.Second)
		wantStopped(t, "it, while it is converted,", w, "")
		w.Answer(60)
		if diff := cmp.Diff(Use{Requests: 2, Waiting: 1, Bytes: 60, BytesLimit: 100}, l.Use()); diff != "" || l.held.turns > 0 {
			t.Errorf("with %d turns (-want +got):\n%s", l.held.turns, diff)
		}
		advance(200 * time.Millisecond)
		wantStopped(t, "an answer that has just begun", w, "")
		advance(100 * time.Millisecond)
		wantStopped(t, "an unread answer", w, "answering")
		wantGranted(t, "the one that waited", next)
		wantEmpty(t, l, next)
	})
}

// The time that a request waited before its answer does not excuse a client that reads slowly.
func TestWaitsBeforeTheAnswerDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger(0)
		l.wait = time.Minute
		full, w := come(t, l, 50, 50), come(t, l, 60, 20)
		w.ask(amount{requests: 1, bytes: 60})
		advance(10 * time.Second)
		wantWaiting(t, "its body", w.queued)
		full.Release()
		wantGranted(t, "its body", w.queued)
		w.Answer(60)
		next := ask(t, l, flowOf(1, true), 60)
		advance(slowGrace + 2*pressInterval)
		wantStopped(t, "an unread answer", w, "answering")
		wantGranted(t, "the one that waited", next)
		wantEmpty(t, l, next)
	})
}

// The heap watch gives up the largest request without an answer, none before that has ended, and
// then answers.
func TestLargestIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger(0)
		if l.refuseLargest() {
			t.Error("one is given up of none")
		}
		small, large, answered := come(t, l, 10, 10), come(t, l, 20, 20), come(t, l, 30, 30)
		if err := large.Convert(); err != nil {
			t.Fatal(err)
		}
		answered.Answer(30)
		stop := large.stop
		large.stop = func(s Stage) { large.stopped = "held"; _ = stop }
		for range 2 {
			if !l.refuseLargest() {
				t.Error("none is given up")
			}
		}
		wantStopped(t, "the largest", large, "held")
		if reason := large.refused.Load(); reason == nil || *reason != ShedMemory {
			t.Errorf("given up for %v, want %q", reason, ShedMemory)
		}
		if err := l.grow(&large.Share, large.amount); err == nil {
			t.Error("it may still grow")
		}
		large.Release()
		if !l.refuseLargest() {
			t.Error("want the next one to be given up")
		}
		wantStopped(t, "the small one", small, "receiving")
		wantStopped(t, "the one with an answer", answered, "")
		l.refuseLargest()
		wantStopped(t, "that, as there is no other", answered, "answering")
		if l.refuseLargest() {
			t.Error("one is given up although none is left")
		}
		wantEmpty(t, l)
	})
}
