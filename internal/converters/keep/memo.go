package keep

import "github.com/crdconvert/webhookd/internal/jsondoc"

// A memo remembers digests and places of units. All entries below one place of a unit look at the
// unit's other places, which may be large (BenchmarkBigUnit in converters/rules). Units are small,
// so the memo is. The objects must not be edited meanwhile.
type memo struct {
	sums  [memos]memoSum
	found [memos]memoFound
	sum   int // the next to replace
	find  int
}

const memos = 8

type memoSum struct {
	of  *jsondoc.Node
	sum uint64
}

type memoFound struct {
	from *jsondoc.Node
	of   *Member
	node *jsondoc.Node
}

// worth is how many bytes a string must have for its digest to be remembered.
const worth = 64

// digest is digest, remembered.
func (m *memo) digest(n *jsondoc.Node) uint64 {
	if kind := n.Kind(); kind != jsondoc.Map && kind != jsondoc.Array && (kind != jsondoc.String || len(n.Text()) < worth) {
		return digest(n)
	}
	for i := range m.sums {
		if m.sums[i].of == n {
			return m.sums[i].sum
		}
	}
	s := memoSum{n, digest(n)}
	m.sums[m.sum%memos] = s
	m.sum++
	return s.sum
}

// at returns the value at a place of a unit, or nil.
func (m *memo) at(from *jsondoc.Node, of *Member) (*jsondoc.Node, error) {
	switch {
	case of.tags:
		n, err := find(from, of.Path)
		if err != nil || !hasTags(n) {
			return nil, err
		}
		return n, nil
	case !of.keyed:
		return find(from, of.Path)
	}
	for i := range m.found {
		if f := &m.found[i]; f.of == of && f.from == from {
			return f.node, nil
		}
	}
	n, err := find(from, of.Path)
	if err == nil {
		m.found[m.find%memos] = memoFound{from, of, n}
		m.find++
	}
	return n, err
}

// hasTags reports whether there is a label or an annotation that expressions see. They see neither
// webhookd's own nor an empty object.
func hasTags(n *jsondoc.Node) bool {
	has := false
	return n.Kind() == jsondoc.Map && n.Filter(func(name []byte, _ jsondoc.Member) bool {
		has = has || !IsOwn(name)
		return true
	}) == nil && has
}
