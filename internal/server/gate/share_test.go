package gate

import (
	"context"
	"errors"
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
	w.Done(n)
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
	for range 40 { // a map has any order
		synctest.Test(t, testSlowBodies)
	}
}

func testSlowBodies(t *testing.T) {
	l := testLedger()
	small := []*watched{come(t, l, 40, 1), come(t, l, 40, 1), come(t, l, 40, 1)}
	slow, quick := come(t, l, 80, 20), come(t, l, 80, 50)
	turns := join(t.Context(), l, flowOf(1, true)).ask(amount{requests: 1, turns: 6})
	turn := turn(t, l, flowOf(1, true))
	advance(turnWait - time.Second)
	wantStopped(t, "one while another waits for a turn", slow, "")
	wantWaiting(t, "the other", turn)
	next := ask(t, l, flowOf(1, true), 20)
	advance(pressInterval)
	wantStopped(t, "the slow one", slow, "receiving")
	wantStopped(t, "the quick one", quick, "")
	wantGranted(t, "the one that waited", next)
	for _, s := range small {
		wantStopped(t, "a smaller one", s, "")
		s.Release()
	}
	wantEmpty(t, l, quick.queued, next, turns, turn)
}

func TestWaitingBodyIsNotSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
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
	for range 40 { // a map has any order
		synctest.Test(t, testLargeBodies)
	}
}

func testLargeBodies(t *testing.T) {
	l := testLedger()
	early := come(t, l, 1, 1)
	bodies := []*watched{come(t, l, 60, 24), come(t, l, 60, 24), come(t, l, 60, 24)}
	other := ask(t, l, flowOf(2, true), 3)
	other.Watch(3, time.Now(), nil)
	other.Done(1000)
	for i := range bodies {
		b := bodies[2-i]
		b.Done(1000) // none is slow
		b.ask(amount{requests: 1, bytes: 60})
		advance(300 * time.Millisecond)
	}
	if diff := cmp.Diff(Use{Requests: 5, Waiting: 3, Bytes: 76, BytesLimit: 100}, l.Use()); diff != "" {
		t.Errorf("use (-want +got):\n%s", diff)
	}
	advance(l.wait / 4) // the others have waited for long, the first has not
	for _, b := range bodies {
		wantWaiting(t, "all", b.queued)
	}
	advance(200*time.Millisecond + pressInterval)
	wantShed(t, "the latest", bodies[2].queued, ShedSlow, bodies[2].after)
	wantWaiting(t, "the one before", bodies[1].queued)
	bodies[2].Release()
	advance(pressInterval)
	wantShed(t, "that, as well", bodies[1].queued, ShedSlow, bodies[1].after)
	advance(pressInterval)
	wantWaiting(t, "the first, still", bodies[0].queued)
	wantStopped(t, "the one that came before", early, "")
	early.Release()
	bodies[1].Release()
	wantGranted(t, "the first", bodies[0].queued)
	wantEmpty(t, l, bodies[0].queued, other)
}

// One that holds nothing yet gives no other up.
func TestFreshRequestsOnlyWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		full, fresh, later := ask(t, l, flowOf(1, true), 60), ask(t, l, flowOf(1, true), 60), come(t, l, 20, 20)
		advance(l.wait - pressInterval)
		wantWaiting(t, "a later one", later.queued)
		wantEmpty(t, l, full, fresh, later.queued)
	})
}

func TestUnreadAnswersGiveWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
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
		l.mu.Lock()
		w.stop = func(Stage) { w.stopped += "once" }
		l.mu.Unlock()
		advance(100*time.Millisecond + 2*pressInterval)
		wantStopped(t, "an unread answer", w, "once")
		w.Release()
		wantGranted(t, "the one that waited", next)
		wantEmpty(t, l, next)
	})
}

// The time that a request waited before its answer does not excuse a client that reads slowly.
func TestWaitsBeforeTheAnswerDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
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
	for range 40 { // a map has any order
		synctest.Test(t, testLargest)
	}
}

func testLargest(t *testing.T) {
	l := testLedger()
	if l.refuseLargest() {
		t.Error("one is given up of none")
	}
	small, large, answered := come(t, l, 10, 10), come(t, l, 20, 20), come(t, l, 30, 30)
	if err := large.Convert(); err != nil {
		t.Fatal(err)
	}
	answered.Answer(30)
	large.stop = func(Stage) { large.stopped += "held" }
	for range 2 {
		if !l.refuseLargest() {
			t.Error("none is given up")
		}
	}
	wantStopped(t, "the largest", large, "held")
	if reason := large.Refused(); !errors.Is(reason, OverloadError(ShedMemory)) || small.Refused() != nil {
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
	early, late := come(t, l, 5, 5), come(t, l, 5, 5)
	l.refuseLargest()
	wantStopped(t, "the later one of two", late, "receiving")
	wantStopped(t, "the earlier one", early, "")
	early.Hold()
	l.refuseLargest()
	wantStopped(t, "that, as there is no other", answered, "answering")
	if l.refuseLargest() {
		t.Error("one is given up although none is left")
	}
	wantEmpty(t, l, early.queued)
}
