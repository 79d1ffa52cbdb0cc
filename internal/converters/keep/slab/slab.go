// Package slab reuses the memory of many small values of one type.
package slab

// A Slab holds values that stay where they are: a full chunk is never moved (BenchmarkKinds in
// converters/rules).
type Slab[T any] struct{ chunk []T }

const leastChunk, mostChunk = 16, 1 << 8 // values

// Room returns an empty list with room for n values.
func (s *Slab[T]) Room(n int) []T {
	first := len(s.chunk)
	if first+n > cap(s.chunk) {
		first, s.chunk = 0, make([]T, 0, max(leastChunk, n, min(2*cap(s.chunk), mostChunk)))
	}
	s.chunk = s.chunk[:first+n]
	return s.chunk[first : first : first+n]
}

// Add adds a value, and returns its address.
func (s *Slab[T]) Add(value T) *T { return &append(s.Room(1), value)[0] }

// Reset drops all values, and keeps a chunk.
func (s *Slab[T]) Reset() {
	if clear(s.chunk); cap(s.chunk) > mostChunk {
		s.chunk = nil
	}
	s.chunk = s.chunk[:0]
}
