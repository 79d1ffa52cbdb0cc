package review

import "sync"

// buffers is a free list for request bodies. A sync.Pool keeps a body of each size for every
// processor. This list is bounded in bytes, and drops buffers of sizes that are no longer asked
// for: buffers in use and free ones together take about as much as were ever in use at once
// (TestR1FloodOfLargeBodies in test/oracle/faults).
type buffers struct {
	mu     sync.Mutex
	free   [][]byte
	held   int
	missed int // bytes that were asked for but not free, and for which nothing was dropped yet
}

const (
	heldBuffers = 64       // free buffers, at most
	heldBytes   = 64 << 20 // free bytes, at most
	bufferUnit  = 4 << 10  // sizes are multiples of it
)

// get returns a buffer of the given length. It may contain bytes of another body.
func (b *buffers) get(size int) []byte {
	b.mu.Lock()
	best := -1
	for i, f := range b.free {
		if cap(f) >= size && cap(f)/4 <= size+bufferUnit && (best < 0 || cap(f) < cap(b.free[best])) {
			best = i
		}
	}
	if best < 0 {
		b.miss(size)
		b.mu.Unlock()
		return make([]byte, size, (size+bufferUnit)/bufferUnit*bufferUnit)
	}
	found := b.take(best)
	b.mu.Unlock()
	return found[:size]
}

// take removes a buffer from the list. Callers hold mu.
func (b *buffers) take(i int) []byte {
	found, last := b.free[i], len(b.free)-1
	b.free[i], b.free[last] = b.free[last], nil
	b.free = b.free[:last]
	b.held -= cap(found)
	return found
}

// miss drops the largest free buffers once the misses add up to their size. Callers hold mu.
func (b *buffers) miss(size int) {
	for b.missed += size; len(b.free) > 0; {
		largest := 0
		for i, f := range b.free {
			if cap(f) > cap(b.free[largest]) {
				largest = i
			}
		}
		if cap(b.free[largest]) > b.missed {
			return
		}
		b.missed -= cap(b.take(largest))
	}
	b.missed = 0
}

// put returns a buffer to the list. The caller must not use it afterwards.
func (b *buffers) put(buffer []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) < heldBuffers && b.held+cap(buffer) <= heldBytes {
		b.free = append(b.free, buffer)
		b.held += cap(buffer)
	}
}
