package gate

import (
	"context"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// A HeapWatch has the last word on memory, since converters take some that nothing has reserved. It
// compares the live heap, with stacks and the buffers of sockets, with the memory limit. While that
// is almost reached, no large body is admitted, and the largest requests are given up, one after
// the other.
type HeapWatch struct {
	limit   int64
	ledger  *Ledger
	cut     func()                              // closes a connection
	used    func() (bytes int64, cycles uint64) // at the end of so many collections
	collect func()

	cycles    uint64    // at the last look that acted
	collected time.Time // end of the last collection that the watch began
}

const (
	// Parts of the limit in percent: from where large bodies are not admitted, and from where
	// requests are given up.
	tightFrom, giveUpFrom = 75, 85
	// heapInterval is the time between two looks: the heap may grow by 10 MB meanwhile.
	heapInterval = 10 * time.Millisecond
	// collectInterval is the time between two collections that the watch begins.
	collectInterval = 100 * time.Millisecond
)

// NewHeapWatch returns a watch for the runtime's memory limit, or nil if there is none. Cut closes
// a connection, if there is no request to give up. Sockets returns how many bytes of the limit the
// kernel has for sockets.
func NewHeapWatch(l *Ledger, cut func(), sockets func() int64) *HeapWatch {
	limit := debug.SetMemoryLimit(-1)
	if limit == math.MaxInt64 {
		return nil
	}
	return &HeapWatch{limit: limit, ledger: l, cut: cut, used: liveMemory(sockets), collect: runtime.GC}
}

// liveMemory returns a function for HeapWatch.used.
func liveMemory(sockets func() int64) func() (int64, uint64) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	return func() (int64, uint64) {
		metrics.Read(sample)
		used := int64(sample[0].Value.Uint64() + sample[1].Value.Uint64()) //nolint:gosec // far below
		return used + sockets(), sample[2].Value.Uint64()
	}
}

// Run watches until ctx ends.
func (w *HeapWatch) Run(ctx context.Context) {
	for tick := time.Tick(heapInterval); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
			w.look()
		}
	}
}

// look reads the memory in use, and acts.
func (w *HeapWatch) look() {
	used, cycles := w.used()
	tight := used > w.limit/100*tightFrom
	w.ledger.setTight(tight)
	switch {
	case !tight:
	case cycles > w.cycles:
		w.cycles = cycles
		if (used > w.limit/100*giveUpFrom || w.ledger.stalled()) && !w.ledger.refuseLargest() {
			w.cut() // the kernel may have answers that are not read
		}
	case time.Since(w.collected) > collectInterval: // what has ended since is not collected yet
		w.collect()
		w.collected = time.Now()
	}
}
