package gate

import (
	"context"
	"errors"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// testLedger has 100 bytes, 8 turns and 100 bytes of large objects, and waits two seconds.
func testLedger() *Ledger {
	l := New(100, 2*time.Second, func() int64 { return 0 })
	l.limit.turns, l.limit.heavy = 8, 100
	return l
}

// flowOf returns the key of one of the flows of a source.
func flowOf(source byte, large bool) Key {
	return Key{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, 0, source}), 32), large}
}

// queued is a request that asked the ledger and may still wait.
type queued struct {
	Share

	of    *Ledger
	err   error
	after time.Duration // from the start of the wait
	done  bool
}

// join makes a request of a flow that holds nothing yet.
func join(ctx context.Context, l *Ledger, key Key) *queued {
	q := &queued{of: l}
	l.Join(ctx, &q.Share, key)
	return q
}

// ask asks for more on another goroutine and returns once it is granted or waits.
func (q *queued) ask(want amount) *queued {
	start := time.Now()
	q.done = false
	go func() {
		q.err = q.of.grow(&q.Share, want)
		q.after, q.done = time.Since(start), true
	}()
	synctest.Wait()
	return q
}

// ask makes a request of n bytes.
func ask(t *testing.T, l *Ledger, key Key, n int64) *queued {
	t.Helper()
	return join(t.Context(), l, key).ask(amount{requests: 1, bytes: n})
}

// turn makes a request that converts.
func turn(t *testing.T, l *Ledger, key Key) *queued {
	t.Helper()
	return join(t.Context(), l, key).ask(amount{requests: 1, turns: 1})
}

func wantGranted(t *testing.T, what string, all ...*queued) {
	t.Helper()
	synctest.Wait()
	for _, q := range all {
		if !q.done || q.err != nil {
			t.Errorf("%s: done %t, error %v; want it granted", what, q.done, q.err)
		}
	}
}

func wantWaiting(t *testing.T, what string, q *queued) {
	t.Helper()
	synctest.Wait()
	q.of.mu.Lock() // which it takes before it goes on
	defer q.of.mu.Unlock()
	if q.done {
		t.Errorf("%s: error %v; want it to wait", what, q.err)
	}
}

func wantShed(t *testing.T, what string, q *queued, reason OverloadError, after time.Duration) {
	t.Helper()
	synctest.Wait()
	if !q.done || !errors.Is(q.err, reason) || q.after != after {
		t.Errorf("%s: done %t, error %v after %s; want %q after %s", what, q.done, q.err, q.after, string(reason), after)
	}
}

// wantEmpty releases requests and checks that nothing is held then.
func wantEmpty(t *testing.T, l *Ledger, all ...*queued) {
	t.Helper()
	for _, q := range all {
		q.Release()
	}
	synctest.Wait()
	if diff := cmp.Diff(Use{BytesLimit: l.limit.bytes}, l.Use()); diff != "" || len(l.flows) > 0 || len(l.watched) > 0 {
		t.Errorf("what is held in the end, by %d flows (-want +got):\n%s", len(l.flows), diff)
	}
}

// A flow has at most three quarters, and the next one three quarters of what that leaves.
func TestFlowsLeaveRoomForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		a, b := flowOf(1, true), flowOf(2, true)
		first := ask(t, l, a, 75)
		wantGranted(t, "three quarters", first)
		more := ask(t, l, a, 1)
		wantWaiting(t, "one more byte for the same flow", more)
		small, other := ask(t, l, flowOf(1, false), 9), ask(t, l, b, 9)
		wantGranted(t, "a small body of the same source, and a large one of another", small, other)
		if diff := cmp.Diff(Use{Requests: 4, Waiting: 1, Bytes: 93, BytesLimit: 100}, l.Use()); diff != "" {
			t.Errorf("stats (-want +got):\n%s", diff)
		}
		wantEmpty(t, l, first, more, small, other)
	})
}

// Of those that wait, the flow that has the least goes first, and in a flow the first come.
func TestLeastGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		crowd := make([]*queued, 20)
		for i := range crowd {
			crowd[i] = turn(t, l, flowOf(1, false))
		}
		own := []*queued{turn(t, l, flowOf(2, false)), turn(t, l, flowOf(2, false))}
		wantGranted(t, "three quarters of the turns, and one of another source", append(crowd[:6:6], own[0])...)
		wantWaiting(t, "the seventh", crowd[6])
		wantWaiting(t, "the second of the other", own[1])
		crowd[0].Release()
		wantGranted(t, "that, before the crowd", own[1])
		crowd[1].Release()
		wantWaiting(t, "the seventh, as there is less for all", crowd[6])
		own[0].Release()
		own[1].Release()
		wantGranted(t, "the crowd in order", crowd[6:8]...)
		wantWaiting(t, "the next", crowd[8])
		wantEmpty(t, l, crowd[2:]...)
	})
}

// What is released goes to the flow that has the least, though another one waits for longer.
func TestLeastGetsMemoryFirst(t *testing.T) {
	t.Parallel()
	for range 40 { // a map has any order
		synctest.Test(t, func(t *testing.T) {
			l := testLedger()
			full, some := ask(t, l, flowOf(1, true), 60), ask(t, l, flowOf(2, true), 15)
			more, least, later := ask(t, l, flowOf(2, true), 60), ask(t, l, flowOf(3, true), 20), ask(t, l, flowOf(4, true), 50)
			full.Release()
			wantGranted(t, "the flow that has nothing", least)
			wantWaiting(t, "the one that has some", more)
			wantWaiting(t, "the one that came later", later)
			least.Release()
			wantGranted(t, "the one that came later, as it has less", later)
			wantEmpty(t, l, some, more, later)
		})
	}
}

// A crowd of one source does not slow another down, however many ask again at once.
func TestCrowdLeavesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var wg sync.WaitGroup
		convert := func(key Key) time.Duration {
			q, began := join(ctx, l, key), time.Now()
			defer q.Release()
			if l.grow(&q.Share, amount{requests: 1, turns: 1}) != nil {
				return 0
			}
			waited := time.Since(began)
			<-time.After(10 * time.Millisecond) // by the bubble's clock
			return waited
		}
		for range 900 {
			wg.Go(func() {
				for ctx.Err() == nil {
					convert(flowOf(1, false))
				}
			})
		}
		for range 1000 {
			if waited := convert(flowOf(2, false)); waited > 10*time.Millisecond {
				t.Fatalf("one call of another source waited for %s", waited)
			}
			<-time.After(20 * time.Millisecond)
		}
		cancel()
		wg.Wait()
		wantEmpty(t, l)
	})
}

func TestLedgerShedsAfterItsWait(t *testing.T) {
	t.Parallel()
	full := amount{requests: 1, turns: 6, bytes: 75, heavy: 100}
	for name, tt := range map[string]struct {
		want   amount
		within time.Duration // of its deadline
		after  time.Duration
		reason OverloadError
	}{
		"bytes":           {amount{requests: 1, bytes: 75}, time.Minute, 2 * time.Second, ShedBytes},
		"turns":           {amount{requests: 1, turns: 1}, time.Minute, turnWait, ShedTurns},
		"large objects":   {amount{requests: 1, heavy: 1}, time.Minute, turnWait, ShedTurns},
		"before its wait": {amount{requests: 1, bytes: 75}, time.Second, time.Second, ShedBytes},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := testLedger()
				first := join(t.Context(), l, flowOf(1, true)).ask(full)
				wantGranted(t, "the first", first)
				ctx, cancel := context.WithTimeout(t.Context(), tt.within)
				defer cancel()
				next := join(ctx, l, flowOf(1, true)).ask(tt.want)
				advance(turnWait)
				wantShed(t, "the next", next, tt.reason, tt.after)
				wantEmpty(t, l, first, next)
			})
		})
	}
}

// TestCanceledWaiterKeepsNothing cancels one just as it is granted what it waits for, and one
// before.
func TestCanceledWaiterKeepsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		for _, granted := range []bool{true, false} {
			full := ask(t, l, flowOf(1, true), 75)
			ctx, cancel := context.WithCancel(t.Context())
			gone := join(ctx, l, flowOf(1, true)).ask(amount{requests: 1, bytes: 75})
			behind := ask(t, l, flowOf(1, true), 1)
			if granted {
				full.Release()
			}
			cancel()
			synctest.Wait()
			if !errors.Is(gone.err, context.Canceled) {
				t.Errorf("granted %t: error %v, want %v", granted, gone.err, context.Canceled)
			}
			if gone.Release(); !granted {
				full.Release()
			}
			wantGranted(t, "the one behind it", behind)
			wantEmpty(t, l, behind)
		}
	})
}

// A request waits behind the first of its flow, though it would fit, and no longer than that.
func TestFlowKeepsItsOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		full := ask(t, l, flowOf(1, true), 40)
		ctx, cancel := context.WithCancel(t.Context())
		first, behind := join(ctx, l, flowOf(1, true)).ask(amount{requests: 1, bytes: 60}), ask(t, l, flowOf(1, true), 1)
		wantWaiting(t, "the one behind", behind)
		cancel()
		wantGranted(t, "it, at once when the first has gone", behind)
		next := ask(t, l, flowOf(1, true), 60)
		full.Settle(10)
		wantGranted(t, "the next, at once when another needs less", next)
		wantEmpty(t, l, full, first, behind, next)
	})
}

// What a request has already does not count against it if it asks for something else.
func TestOnlyMoreHasToFit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		open := int64(0)
		l.connections = func() int64 { return open }
		bytes, turns := ask(t, l, flowOf(1, true), 75), join(t.Context(), l, flowOf(2, true)).ask(amount{requests: 1, turns: 6})
		open = 20
		wantGranted(t, "a turn", bytes.ask(amount{requests: 1, bytes: 75, turns: 1}))
		bytes.ask(amount{requests: 1})
		other := turn(t, l, flowOf(3, true))
		wantGranted(t, "a byte", turns.ask(amount{requests: 1, bytes: 1, turns: 6}))
		wantEmpty(t, l, bytes, turns, other)
	})
}

// While it is converted, which ends by itself, a request may have more.
func TestConversionsMayHaveMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		q := ask(t, l, flowOf(1, true), 60)
		if q.Converts() {
			t.Error("it has a turn before it asks")
		}
		if err := errors.Join(q.Convert(), q.Reserve(85), q.Reserve(10)); err != nil || q.Bytes() != 85 || !q.Converts() {
			t.Errorf("%v, it has %d bytes", err, q.Bytes())
		}
		if q.ReserveNow(1) || !q.ReserveNow(0) || q.Bytes() != 85 {
			t.Errorf("a byte more than there is, without a wait: it has %d bytes", q.Bytes())
		}
		wantEmpty(t, l, q)
	})
}

func TestTurnsOfOneSource(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 9; n++ {
		synctest.Test(t, func(t *testing.T) {
			l := NewTurns(n)
			all := make([]*queued, 0, n+1)
			for range n {
				all = append(all, turn(t, l, flowOf(1, false)))
			}
			wantGranted(t, "all turns", all...)
			last := turn(t, l, flowOf(1, false))
			wantWaiting(t, "one more", last)
			wantEmpty(t, l, append(all, last)...)
		})
	}
}

// A request that holds something goes before those that hold nothing, and keeps it if there is no
// more.
func TestLedgerGrowth(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		growing, other := ask(t, l, flowOf(1, true), 30), ask(t, l, flowOf(1, true), 40)
		fresh := ask(t, l, flowOf(1, true), 50)
		growing.ask(amount{requests: 1, bytes: 60})
		wantWaiting(t, "growing", growing)
		other.Release()
		wantGranted(t, "growing", growing)
		wantWaiting(t, "the one that holds nothing", fresh)
		growing.ask(amount{requests: 1, bytes: 76})
		advance(2 * time.Second)
		wantShed(t, "growing", growing, ShedBytes, 2*time.Second)
		if growing.bytes != 60 {
			t.Errorf("it has %d bytes then, want 60", growing.bytes)
		}
		wantEmpty(t, l, growing, fresh)
	})
}

// A large object is converted alone if it is as large as all together may be.
func TestLargeObjectsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		heavy := func(n int64) *queued { return join(t.Context(), l, flowOf(1, true)).ask(amount{requests: 1, heavy: n}) }
		first, second, third := heavy(1000), heavy(60), heavy(60)
		wantGranted(t, "one of any size", first)
		if err := first.Reserve(1); err != nil {
			t.Errorf("memory for its request: %v", err)
		}
		wantWaiting(t, "the second", second)
		first.Release()
		wantGranted(t, "the second", second)
		wantWaiting(t, "the third", third)
		second.Release()
		wantGranted(t, "the third", third)
		fourth := heavy(41)
		wantWaiting(t, "the fourth", fourth)
		if err := third.Heavy(59); err != nil {
			t.Error(err)
		}
		wantGranted(t, "the fourth, as the next object of the third is smaller", fourth)
		larger := make(chan error, 1)
		go func() { larger <- third.Heavy(60) }()
		if synctest.Wait(); len(larger) > 0 {
			t.Error("a larger one again does not wait")
		}
		fourth.Release()
		if err := <-larger; err != nil {
			t.Error(err)
		}
		wantEmpty(t, l, third)
	})
}

// While the heap is almost full, no large body is admitted. Small ones are, and large ones go on.
func TestTightLedger(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		before := ask(t, l, flowOf(1, true), 10)
		l.setTight(true)
		large, small := ask(t, l, flowOf(1, true), 10), ask(t, l, flowOf(1, false), 10)
		wantWaiting(t, "a large body", large)
		wantGranted(t, "a small one, and one that is admitted", small, before.ask(amount{requests: 1, bytes: 20}))
		l.setTight(false)
		wantGranted(t, "the large body", large)
		wantEmpty(t, l, before, large, small)
	})
}

// TestConnectionsCountAgainstTheBudget checks that the memory of connections is not available to
// bodies.
func TestConnectionsCountAgainstTheBudget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, open := testLedger(), atomic.Int64{}
		l.connections = open.Load
		open.Store(50)
		q := ask(t, l, flowOf(1, true), 60)
		wantWaiting(t, "a body", q)
		open.Store(1)
		advance(pressInterval)
		wantGranted(t, "it, once they have gone", q)
		wantEmpty(t, l, q)
	})
}

// TestLedgerUnderRace lets many goroutines arrive, grow, wait and leave at once.
func TestLedgerUnderRace(t *testing.T) {
	t.Parallel()
	l := New(1000, time.Millisecond, func() int64 { return 0 })
	var wg sync.WaitGroup
	for worker := range 32 {
		wg.Go(func() {
			for i := range 300 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i%3)*time.Millisecond)
				s, n := &Share{}, int64((worker*37+i*101)%700)
				l.Join(ctx, s, flowOf(byte(worker%3), n > 500))
				if l.grow(s, amount{requests: 1, bytes: n}) == nil {
					_ = l.grow(s, amount{requests: 1, turns: 1, bytes: n + 40, heavy: n})
					if got := l.Use(); got.Bytes > got.BytesLimit {
						t.Errorf("the ledger holds too much: %+v", got)
					}
				}
				s.Release()
				cancel()
			}
		})
	}
	wg.Wait()
	if got := l.Use(); got != (Use{BytesLimit: 1000}) || len(l.flows) > 0 {
		t.Errorf("what is held in the end: %+v by %d flows", got, len(l.flows))
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"10.1.2.3": "10.1.2.3/32", "::ffff:10.1.2.3": "10.1.2.3/32", "fd00:1:2:3:4:5:6:7": "fd00:1:2:3::/64", "fe80::1%eth0": "fe80::/64",
	} {
		if got := SourceOf(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s is of %s, want %s", address, got, want)
		}
	}
	for body, large := range map[int64]bool{-1: true, 0: false, smallBody: false, smallBody + 1: true} {
		if got := KeyOf(netip.Prefix{}, body); got.Large != large {
			t.Errorf("a body of %d bytes is large: %t", body, got.Large)
		}
	}
}
