package keep

import "github.com/crdconvert/webhookd/internal/jsondoc"

// A memo remembers what places of units hold. Of all that is kept below one place of a unit, each looks at the others of them,
// which may be large (BenchmarkBigUnit in converters/rules). It is small: units are, too. Nobody edits the objects meanwhile,
// or what they were before counts.
type memo struct {
	sums  [memos]memoSum
	found [memos]memoFound
	sum   int // which is written next
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

// worth is how long a text is in bytes whose digest is remembered.
const worth = 64

// digest is the function of this name.
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

// at returns what the path of a member of a unit leads to, or nil.
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

// hasTags reports whether there is a label or an annotation that expressions see: they see no empty objects of these, and none of
// webhookd's annotations.
func hasTags(n *jsondoc.Node) bool {
	has := false
	return n.Kind() == jsondoc.Map && n.Filter(func(name []byte, _ jsondoc.Member) bool {
		has = has || !IsOwn(string(name))
		return true
	}) == nil && has
}
