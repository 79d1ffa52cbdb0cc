package review

import "sync"

// buffers is one free list for the bodies of requests. Unlike a sync.Pool, which keeps a body of each size for every
// processor, it is bounded in bytes, so that a burst of large lists does not stay resident.
type buffers struct {
	mu   sync.Mutex
	free [][]byte
	held int
}

const (
	heldBuffers = 64       // at most this many are kept
	heldBytes   = 32 << 20 // of at most this size together
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
		b.mu.Unlock()
		return make([]byte, size, (size+bufferUnit)/bufferUnit*bufferUnit)
	}
	found := b.free[best]
	last := len(b.free) - 1
	b.free[best], b.free[last] = b.free[last], nil
	b.free = b.free[:last]
	b.held -= cap(found)
	b.mu.Unlock()
	return found[:size]
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
