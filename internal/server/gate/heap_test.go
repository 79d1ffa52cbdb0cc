package gate

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestHeapWatch takes a watch through the filling of a heap of 100 bytes.
func TestHeapWatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		used, cycles, collections, cuts := int64(70), uint64(1), 0, 0
		w := &HeapWatch{
			limit: 100, ledger: l, cut: func() { cuts++ }, used: func() (int64, uint64) { return used, cycles }, collect: func() { collections++ },
		}
		small, large := come(t, l, 10, 10), come(t, l, 20, 20)
		// look lets the heap change, and looks.
		look := func(now int64, more uint64, tight bool, stopped ...*watched) {
			t.Helper()
			used, cycles = now, cycles+more
			w.look()
			synctest.Wait()
			l.mu.Lock()
			defer l.mu.Unlock()
			gone := 0
			for _, r := range []*watched{small, large} {
				if r.stopped != "" {
					gone++
				}
			}
			if l.tight != tight || gone != len(stopped) {
				t.Errorf("at %d: tight %t, want %t; %d given up, want %d", now, l.tight, tight, gone, len(stopped))
			}
		}
		look(75, 1, false)
		look(76, 1, true)
		look(85, 1, true)
		look(86, 0, true) // as of the collection before
		look(86, 1, true, large)
		look(86, 0, true, large)
		advance(2 * collectInterval)
		look(70, 0, false, large)
		advance(2 * collectInterval)
		look(76, 0, true, large)
		look(90, 1, true, large, small)
		look(90, 1, true, large, small)
		look(74, 1, false, large, small)
		if collections != 2 || cuts != 1 {
			t.Errorf("%d collections were begun, want 2: not all that soon after the first; %d connections cut, want 1", collections, cuts)
		}
		wantEmpty(t, l)
	})
}

// While the heap is almost full, bodies that wait for their turn are given up until one gets it.
func TestHeapWatchEndsAStall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := testLedger()
		cycles, used := uint64(0), int64(80)
		w := &HeapWatch{limit: 100, ledger: l, used: func() (int64, uint64) { cycles++; return used, cycles }}
		first, second, small := come(t, l, 10, 10), come(t, l, 20, 20), ask(t, l, flowOf(1, false), 1)
		if err := first.Convert(); err != nil {
			t.Fatal(err)
		}
		w.look()
		small.ask(amount{requests: 1, bytes: 1, turns: 1})
		second.ask(amount{requests: 1, bytes: 20, turns: 1})
		w.look()
		wantGranted(t, "a small body", small)
		wantWaiting(t, "one that waits while another is converted", second.queued)
		first.ask(amount{requests: 1, bytes: 10, turns: 1, heavy: 1})
		w.look()
		wantShed(t, "the largest, when that waits as well", second.queued, ShedMemory, 0)
		second.Release()
		used = 70
		w.look()
		wantGranted(t, "the other", first.queued)
		wantEmpty(t, l, first.queued, small)
	})
}

// The watch reads the runtime's memory and that of the kernel, and needs a limit.
func TestHeapWatchOfTheProcess(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	synctest.Test(t, func(t *testing.T) {
		var cuts, sockets atomic.Int64
		watch := func() *HeapWatch { return NewHeapWatch(testLedger(), func() { cuts.Add(1) }, sockets.Load) }
		if watch() != nil {
			t.Error("there is a watch without a limit")
		}
		const limit = 1 << 50
		debug.SetMemoryLimit(limit)
		sockets.Store(limit)
		w := watch()
		if used, _ := w.used(); used <= limit {
			t.Errorf("%d bytes are used, want more than those of the sockets", used)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		runtime.GC()
		go w.Run(ctx)
		if synctest.Wait(); cuts.Load() != 0 {
			t.Error("a connection is cut before its time")
		}
		if advance(heapInterval); cuts.Load() != 1 {
			t.Errorf("%d connections are cut, want 1", cuts.Load())
		}
	})
}
