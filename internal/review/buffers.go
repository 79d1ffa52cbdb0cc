package review

import "sync"

// buffers is one free list for the bodies of requests. Unlike a sync.Pool, which keeps a body of each size for every
// processor, it is bounded in bytes, and lets go of what the bodies that come now have no use for: what is held and what is
// in use are together about as much as there ever was in use at once (TestR1FloodOfLargeBodies in test/oracle/faults).
type buffers struct {
	mu     sync.Mutex
	free   [][]byte
	held   int
	missed int // bytes that were asked for and not held, for which nothing was let go yet
}

const (
	heldBuffers = 64       // at most this many are kept
	heldBytes   = 64 << 20 // of at most this size together
	bufferUnit  = 4 << 10  // sizes are multiples of it
)

// get returns a buffer of the given length. What it holds is left over from another body.
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

// miss lets go of the largest buffers, once as many bytes as they have were asked for in vain. Callers hold mu.
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

// put gives a buffer back. Nobody may refer to it any more.
func (b *buffers) put(buffer []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) < heldBuffers && b.held+cap(buffer) <= heldBytes {
		b.free = append(b.free, buffer)
		b.held += cap(buffer)
	}
}
