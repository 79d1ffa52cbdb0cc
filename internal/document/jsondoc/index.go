package jsondoc

// An index finds members of a large object by name, so that the time for all lookups is linear
// (BenchmarkBigMap in converters/rules).
type index struct {
	next   int // where the next lookup is likely to find its member
	misses int // lookups that found it elsewhere
	at     map[string]int
}

const (
	// manyMembers is the largest number of members that are searched without an index.
	manyMembers = 64
	// fewMisses is how many misses cost as much as a map of the names.
	fewMisses = 16
)

// lookup returns the index of the member of a large object, or -1.
func (n *Node) lookup(name string) int {
	x := n.doc.indexes[n]
	if x == nil {
		if n.doc.indexes == nil {
			n.doc.indexes = make(map[*Node]*index)
		}
		x = &index{}
		n.doc.indexes[n] = x
	}
	if i := x.next; i < len(n.members) && isNamed(&n.members[i], n.doc, name) {
		x.next++
		return i
	}
	if x.at == nil {
		if x.misses++; x.misses <= fewMisses {
			i := search(n, name)
			x.next = i + 1
			return i
		}
		x.at = make(map[string]int, len(n.members))
		for i := range n.members {
			x.at[string(n.nameOf(i))] = i
		}
	}
	i, found := x.at[name]
	if !found {
		return -1
	}
	x.next = i + 1
	return i
}

// forget drops the index, before members move.
func (n *Node) forget() {
	if len(n.members) > manyMembers {
		delete(n.doc.indexes, n)
	}
}
