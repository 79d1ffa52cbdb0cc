package jsondoc

import "strings"

// An index finds members of a large object by their names, so that as many lookups as there are members take time in proportion to
// them (BenchmarkBigMap in converters/rules).
type index struct {
	next   int // where the member of the next lookup mostly is
	misses int // lookups of other members
	at     map[string]int
}

const (
	// manyMembers is how many members an object has that is searched from its first member on each time.
	manyMembers = 64
	// fewMisses is how many lookups out of turn cost as much as a map of the names does.
	fewMisses = 16
)

// lookup returns where the member of a name is in a large object, or -1.
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

// indexed tells the index of a member that was added behind the others.
func (n *Node) indexed(name string) {
	if len(n.members) <= manyMembers {
		return
	}
	if x := n.doc.indexes[n]; x != nil && x.at != nil {
		x.at[strings.Clone(name)] = len(n.members) - 1 // or else all names would be allocated
	}
}

// forget drops the index, before the members are no longer where it says.
func (n *Node) forget() {
	if len(n.members) > manyMembers {
		delete(n.doc.indexes, n)
	}
}
