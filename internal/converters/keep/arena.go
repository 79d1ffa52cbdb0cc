package keep

// An arena holds entries and the steps of their paths, which stay where they are: a full chunk is
// never moved (BenchmarkKinds in converters/rules).
type arena struct {
	entries []Entry
	steps   []Step
}

// Limits of a chunk.
const (
	leastEntries, mostEntries = 8, 1 << 8
	leastSteps                = 32
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
		a.steps = make([]Step, 0, max(leastSteps, len(p), min(2*cap(a.steps), mostEntries)))
	}
	first := len(a.steps)
	a.steps = append(a.steps, p...)
	return a.steps[first:len(a.steps):len(a.steps)]
}

// reset drops everything, and keeps the last chunks for the next object.
func (a *arena) reset() {
	clear(a.entries)
	clear(a.steps)
	a.entries, a.steps = a.entries[:0], a.steps[:0]
}
