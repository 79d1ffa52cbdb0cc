package review

import (
	"math/bits"
	"sync"
)

// buffers are pools of buffers of 4 to 64 KiB, for bodies and answers. Larger ones are garbage
// after use: what is kept is memory that no request has reserved.
type buffers [5]sync.Pool

const leastBuffer = 4 << 10

// class returns the index of the pool for buffers of a size, or one that is too large.
func class(size int) int { return bits.Len(uint(max(size-1, 0) / leastBuffer)) }

// get returns a buffer of the given length. It may contain bytes of another body.
func (b *buffers) get(size int) []byte {
	i := class(size)
	if i >= len(b) {
		return make([]byte, size)
	}
	if found, ok := b[i].Get().(*[]byte); ok {
		return (*found)[:size]
	}
	return make([]byte, size, leastBuffer<<i)
}

// put returns a buffer to its pool. The caller must not use it afterwards.
func (b *buffers) put(buffer []byte) {
	if i := class(cap(buffer)); i < len(b) && cap(buffer) == leastBuffer<<i {
		b[i].Put(&buffer)
	}
}
