package server

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testGate has a budget of 100 bytes, 25 of them for bodies up to 10, and waits two seconds.
func testGate(maxRequests int) *gate {
	return newGate(&Limits{
		InFlightBytes: 100, SmallBodyBytes: 10, SmallBodyShare: 25,
		InFlightRequests: maxRequests, QueueWait: 2 * time.Second,
	}, noConnections)
}

func noConnections() int64 { return 0 }

// acquire admits a request with a body of promised bytes, n of which come first.
func acquire(ctx context.Context, g *gate, promised, n int64) (*share, error) {
	s := &share{promised: promised}
	return s, g.grow(ctx, s, n)
}

// queued is a request that asked the gate and may still wait.
type queued struct {
	share *share
	err   error
	after time.Duration // from the start of the wait
	done  bool
}

// ask starts a request of n bytes on another goroutine and returns once it is admitted or waits.
func ask(ctx context.Context, g *gate, n int64) *queued {
	q, start := new(queued), time.Now()
	go func() {
		q.share, q.err = acquire(ctx, g, n, n)
		q.after, q.done = time.Since(start), true
	}()
	synctest.Wait()
	return q
}

func wantAdmitted(t *testing.T, what string, q *queued) {
	t.Helper()
	synctest.Wait()
	if !q.done || q.err != nil {
		t.Errorf("%s: done %t, error %v; want it admitted", what, q.done, q.err)
	}
}

func wantWaiting(t *testing.T, what string, q *queued) {
	t.Helper()
	synctest.Wait()
	if q.done {
		t.Errorf("%s: error %v; want it to wait", what, q.err)
	}
}

func wantEmpty(t *testing.T, g *gate) {
	t.Helper()
	wantStats(t, g, Stats{BytesLimit: g.budget})
}

func wantStats(t *testing.T, g *gate, want Stats) {
	t.Helper()
	if diff := cmp.Diff(want, g.stats()); diff != "" {
		t.Errorf("what the gate holds (-want +got):\n%s", diff)
	}
}

func TestGateShares(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(0)
		a := ask(t.Context(), g, 75)
		wantAdmitted(t, "the largest body", a)
		b := ask(t.Context(), g, 11)
		wantWaiting(t, "a large body, with the reserve free", b)
		c, d := ask(t.Context(), g, 10), ask(t.Context(), g, 10)
		wantAdmitted(t, "a small body", c)
		wantAdmitted(t, "another small body", d)
		e := ask(t.Context(), g, 10)
		wantWaiting(t, "a small body beyond the budget", e)
		f := ask(t.Context(), g, 0)
		wantWaiting(t, "an empty body behind it", f)
		wantStats(t, g, Stats{Requests: 6, Waiting: 3, Bytes: 95, BytesLimit: 100})
		g.release(c.share)
		wantAdmitted(t, "the small body that waited", e)
		wantAdmitted(t, "the empty body that waited", f)
		wantWaiting(t, "the large body", b)
		g.release(a.share)
		wantAdmitted(t, "the large body", b)
		for _, q := range []*queued{b, d, e, f} {
			g.release(q.share)
		}
		wantEmpty(t, g)
	})
}

func TestGateShedsAfterItsWait(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		maxRequests int
		first, next int64
		within      time.Duration // of its deadline
		after       time.Duration
		want        error
	}{
		"bytes":           {0, 75, 75, time.Minute, 2 * time.Second, overloadError(ShedBytes)},
		"requests":        {1, 1, 1, time.Minute, 2 * time.Second, overloadError(ShedRequests)},
		"before its wait": {1, 1, 1, time.Second, time.Second, overloadError(ShedRequests)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				g := testGate(tt.maxRequests)
				first := ask(t.Context(), g, tt.first)
				wantAdmitted(t, "the first", first)
				ctx, cancel := context.WithTimeout(t.Context(), tt.within)
				defer cancel()
				next := ask(ctx, g, tt.next)
				advance(3 * time.Second)
				if !next.done || !errors.Is(next.err, tt.want) || next.after != tt.after {
					t.Errorf("got done %t, error %v after %s; want %v after %s", next.done, next.err, next.after, tt.want, tt.after)
				}
				g.release(first.share)
				wantEmpty(t, g)
			})
		})
	}
}

func TestGateIsFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(0)
		full := ask(t.Context(), g, 75)
		first := ask(t.Context(), g, 60) // needs almost all that full has
		second := ask(t.Context(), g, 11)
		g.release(full.share)
		wantAdmitted(t, "the first that waited", first)
		wantAdmitted(t, "the second", second)
		third := ask(t.Context(), g, 75)
		g.release(second.share)
		fourth := ask(t.Context(), g, 11)
		wantWaiting(t, "the largest", third)
		wantWaiting(t, "one behind it that would fit", fourth)
		g.release(first.share)
		wantAdmitted(t, "the largest", third)
		g.release(third.share)
		wantAdmitted(t, "the one behind it", fourth)
		g.release(fourth.share)
		wantEmpty(t, g)
	})
}

// TestGateStarvesNeitherClass overloads the gate with both classes and checks that each gets
// through.
func TestGateStarvesNeitherClass(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		var mu sync.Mutex
		served, shed, longest := map[int64]int{}, map[int64]int{}, map[int64]time.Duration{}
		client := func(n int64, work time.Duration) {
			for ctx.Err() == nil {
				start := time.Now()
				share, err := acquire(ctx, g, n, n)
				mu.Lock()
				if err == nil {
					served[n]++
					longest[n] = max(longest[n], time.Since(start))
				} else if ctx.Err() == nil {
					shed[n]++
				}
				mu.Unlock()
				if err == nil {
					<-time.After(work) // by the bubble's clock
					g.release(share)
				}
			}
		}
		for range 20 { // at most 10 at once next to a large one
			wg.Go(func() { client(9, 100*time.Millisecond) })
		}
		for range 2 { // one at a time
			wg.Go(func() { client(70, 500*time.Millisecond) })
		}
		wg.Wait()
		if shed[9] > 0 || longest[9] > time.Second || served[9] < 1000 {
			t.Errorf("small: %d served, %d shed, waited up to %s", served[9], shed[9], longest[9])
		}
		if shed[70] > 0 || served[70] < 60 {
			t.Errorf("large: %d served, %d shed, waited up to %s", served[70], shed[70], longest[70])
		}
		wantEmpty(t, g)
	})
}

// TestGateBoundsRequests checks that the cap on requests is applied in order of arrival, across
// classes.
func TestGateBoundsRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(1)
		first := ask(t.Context(), g, 1)
		queue := []*queued{ask(t.Context(), g, 50), ask(t.Context(), g, 1), ask(t.Context(), g, 60), ask(t.Context(), g, 2)}
		g.release(first.share)
		for i, q := range queue {
			wantAdmitted(t, "the next", q)
			for _, later := range queue[i+1:] {
				wantWaiting(t, "one after it", later)
			}
			g.release(q.share)
		}
		wantEmpty(t, g)
	})
}

func TestGateCancellation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(0)
		full := ask(t.Context(), g, 70)
		ctx, cancel := context.WithCancel(t.Context())
		gone := ask(ctx, g, 75)
		behind := ask(t.Context(), g, 5)
		large := ask(t.Context(), g, 25)
		wantAdmitted(t, "a small one", behind)
		wantWaiting(t, "a large one", large)
		g.release(full.share)
		wantAdmitted(t, "the one that then leaves", gone)
		cancel()
		g.release(gone.share)
		wantAdmitted(t, "the one behind it", large)

		ctx, cancel = context.WithCancel(t.Context())
		gone = ask(ctx, g, 75)
		last := ask(t.Context(), g, 40)
		wantWaiting(t, "one that would fit, behind one that does not", last)
		cancel()
		synctest.Wait()
		if !errors.Is(gone.err, context.Canceled) {
			t.Errorf("error %v, want %v", gone.err, context.Canceled)
		}
		wantAdmitted(t, "the one behind, once that has gone", last)
		for _, q := range []*queued{behind, large, last} {
			g.release(q.share)
		}
		wantEmpty(t, g)
	})
}

// TestGateGrowth checks that a body of unknown length changes class as it grows, goes before new
// requests, and keeps its share if there is no more.
func TestGateGrowth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(0)
		share, err := acquire(t.Context(), g, 0, 8)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.grow(t.Context(), share, 30); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(holdings{requests: 1, bytes: [2]int64{large: 30}}, g.held, cmp.AllowUnexported(holdings{})); diff != "" {
			t.Errorf("what is held (-want +got):\n%s", diff)
		}
		other := ask(t.Context(), g, 40)
		waiting := ask(t.Context(), g, 20)
		growing := make(chan error, 1)
		go func() {
			growing <- g.grow(t.Context(), share, 60)
		}()
		synctest.Wait()
		g.release(other.share)
		if err := <-growing; err != nil {
			t.Errorf("growing: %v", err)
		}
		wantWaiting(t, "one that came before but holds nothing", waiting)
		advance(time.Second)
		if err := g.grow(t.Context(), share, 76); !errors.Is(err, overloadError(ShedBytes)) {
			t.Errorf("error %v, want %v", err, overloadError(ShedBytes))
		}
		g.release(share)
		synctest.Wait()
		if !errors.Is(waiting.err, overloadError(ShedBytes)) {
			t.Errorf("error %v, want %v", waiting.err, overloadError(ShedBytes))
		}
		wantEmpty(t, g)
	})
}

// TestGateStats checks that each request in progress is counted once, whether it waits or not.
func TestGateStats(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := testGate(0)
		first := ask(t.Context(), g, 60)
		others := []*queued{ask(t.Context(), g, 40), ask(t.Context(), g, 50)}
		wantStats(t, g, Stats{Requests: 3, Waiting: 2, Bytes: 60, BytesLimit: 100})
		go func() { first.err = g.grow(t.Context(), first.share, 76) }()
		synctest.Wait()
		wantStats(t, g, Stats{Requests: 3, Waiting: 3, Bytes: 60, BytesLimit: 100})

		advance(3 * time.Second) // more than they wait
		wantStats(t, g, Stats{Requests: 1, Bytes: 60, BytesLimit: 100})
		for _, q := range append(others, first) {
			if !errors.Is(q.err, overloadError(ShedBytes)) {
				t.Errorf("error %v, want %v", q.err, overloadError(ShedBytes))
			}
		}
		g.release(first.share)
		wantEmpty(t, g)
	})
}

// TestGateUnderRace lets many goroutines arrive, grow, wait and leave at once.
func TestGateUnderRace(t *testing.T) {
	t.Parallel()
	g := newGate(&Limits{
		InFlightBytes: 1000, SmallBodyBytes: 50, SmallBodyShare: 25,
		InFlightRequests: 20, QueueWait: time.Millisecond,
	}, noConnections)
	var wg sync.WaitGroup
	for worker := range 32 {
		wg.Go(func() {
			for i := range 300 {
				n := int64((worker*37 + i*101) % 700)
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%3)*time.Millisecond)
				if share, err := acquire(ctx, g, 0, n); err == nil {
					_ = g.grow(ctx, share, n+40)
					if s := g.stats(); s.Bytes > s.BytesLimit || s.Requests-s.Waiting > 20 {
						t.Errorf("the gate holds too much: %+v", s)
					}
					g.release(share)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	wantEmpty(t, g)
}
