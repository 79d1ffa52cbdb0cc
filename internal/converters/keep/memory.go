package keep

import "github.com/crdconvert/webhookd/internal/document/jsondoc"

// A Memory holds entries and what they are found with, for one object after the other. Everything
// in it is valid until Reset. The zero Memory is empty. It is not safe for concurrent use.
type Memory struct {
	reader   reader
	entries  slab[Entry]
	steps    slab[PathElement]
	branches slab[branch]
	children slab[*branch]
	nodes    slab[*jsondoc.Node]
	lists    slab[ListTrace]
	elements slab[elementTrace]
}

// Reset drops everything, and keeps some memory for the next object.
func (m *Memory) Reset() {
	m.reader.reset()
	m.entries.reset()
	m.steps.reset()
	m.branches.reset()
	m.children.reset()
	m.nodes.reset()
	m.lists.reset()
	m.elements.reset()
}

// Trace returns an empty trace in the memory.
func (m *Memory) Trace() *Trace { return &Trace{memory: m} }

// reading returns the reader of annotations, whose entries are in the memory.
func (m *Memory) reading() *reader {
	m.reader.Memory = m
	return &m.reader
}

// path returns a copy of a path.
func (m *Memory) path(p Path) Path { return append(m.steps.room(len(p)), p...) }

// A slab holds values that stay where they are: a full chunk is never moved (BenchmarkKinds in
// converters/rules).
type slab[T any] struct{ chunk []T }

const leastChunk, mostChunk = 16, 1 << 8 // values

// room returns an empty list with room for n values.
func (s *slab[T]) room(n int) []T {
	first := len(s.chunk)
	if first+n > cap(s.chunk) {
		first, s.chunk = 0, make([]T, 0, max(leastChunk, n, min(2*cap(s.chunk), mostChunk)))
	}
	s.chunk = s.chunk[:first+n]
	return s.chunk[first : first : first+n]
}

func (s *slab[T]) add(value T) *T { return &append(s.room(1), value)[0] }

func (s *slab[T]) reset() {
	if clear(s.chunk); cap(s.chunk) > mostChunk {
		s.chunk = nil
	}
	s.chunk = s.chunk[:0]
}
