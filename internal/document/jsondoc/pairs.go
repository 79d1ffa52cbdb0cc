package jsondoc

import "bytes"

// Pairs calls visit for each name of two objects' members, or each index of two arrays of one
// length, until visit returns false. The order is that of a, then that of b for members that only b
// has. An absent value is nil, and either object may be nil. Unless all is set, pairs with the same
// text are left out. Pairs takes linear time, and fails as Member does.
func Pairs(a, b *Node, all bool, visit func(name []byte, a, b *Node) bool) error {
	if err := a.look(); err != nil {
		return err
	}
	if err := b.look(); err != nil {
		return err
	}
	matched, next := 0, 0
	for i := range a.count() {
		name := a.nameOf(i)
		j := b.near(next, name)
		if j < 0 {
			if !visit(name, a.member(i), nil) {
				return nil
			}
			continue
		}
		matched, next = matched+1, j+1
		if (all || !a.sameMember(i, b, j)) && !visit(name, a.member(i), b.member(j)) {
			return nil
		}
	}
	for j := 0; j < b.count() && matched < b.count(); j++ {
		if name := b.nameOf(j); a.near(j, name) < 0 && !visit(name, nil, b.member(j)) {
			return nil
		}
	}
	return nil
}

func (n *Node) count() int {
	if n == nil {
		return 0
	}
	return len(n.members)
}

// sameMember is SameText for two members.
func (n *Node) sameMember(i int, other *Node, j int) bool {
	a, b := &n.members[i], &other.members[j]
	if a.value != nil && a.value.changed || b.value != nil && b.value.changed {
		return false
	}
	return bytes.Equal(n.textOf(a), other.textOf(b))
}

func (n *Node) textOf(m *member) []byte {
	if m.value != nil {
		return n.doc.bytes(m.value.at)
	}
	return n.doc.bytes(m.piece())
}

// near returns the index of the member of a name, most likely next, or -1.
func (n *Node) near(next int, name []byte) int {
	if next < n.count() && bytes.Equal(n.nameOf(next), name) {
		return next
	}
	switch {
	case n == nil || n.names&bitOf(name) == 0:
		return -1
	case len(n.members) > manyMembers:
		return n.lookup(string(name))
	}
	return search(n, name)
}
