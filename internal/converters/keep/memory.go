package keep

// A Memory holds entries and what they are found with, for one object after the other. Everything
// in it is valid until Reset. The zero Memory is empty. It is not safe for concurrent use.
type Memory struct {
	reader reader
	arena  arena
	trie   trie
}

// Reset drops everything, and keeps some memory for the next object.
func (m *Memory) Reset() {
	m.reader.reset()
	m.arena.reset()
	m.trie.reset()
}

// reading returns the reader of annotations, whose entries are in the memory.
func (m *Memory) reading() *reader {
	m.reader.arena = &m.arena
	return &m.reader
}

// An arena holds entries and the steps of their paths, which stay where they are: a full chunk is
// never moved (BenchmarkKinds in converters/rules).
type arena struct {
	entries []Entry
	steps   []PathElement
}

// Limits of a chunk.
const (
	leastEntries, mostEntries   = 8, 1 << 7
	leastSteps, mostSteps       = 32, 1 << 9
	leastBranches, mostBranches = 16, 1 << 7
)

func (a *arena) entry(e Entry) *Entry {
	if len(a.entries) == cap(a.entries) {
		a.entries = make([]Entry, 0, max(leastEntries, min(2*cap(a.entries), mostEntries)))
	}
	a.entries = append(a.entries, e)
	return &a.entries[len(a.entries)-1]
}

// path returns a copy of a path.
func (a *arena) path(p Path) Path {
	if len(a.steps)+len(p) > cap(a.steps) {
		a.steps = make([]PathElement, 0, max(leastSteps, len(p), min(2*cap(a.steps), mostSteps)))
	}
	first := len(a.steps)
	a.steps = append(a.steps, p...)
	return a.steps[first:len(a.steps):len(a.steps)]
}

func (a *arena) reset() {
	clear(a.entries)
	clear(a.steps)
	a.entries, a.steps = a.entries[:0], a.steps[:0]
}
