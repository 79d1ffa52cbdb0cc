package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/keep/hash"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An elementMatch says where the kept elements of a list without keys are now, and which of them
// entries return to.
type elementMatch struct {
	at   []int // the present index of each kept element, or -1
	from []int // of each present element, the kept one, or -1
}

// matchElements finds kept elements in a list. Equal ones come first: at their places, if the list
// has its length and that explains as many as their order does, otherwise by their order, and then
// anywhere. What is left is at its place, or at that between two others, if it is like it. Like
// reports whether an edited element may be a kept one.
func matchElements(l *annotation.ListEntry, now []annotation.Digest, like func(k, i int) bool, d *deadline) (elementMatch, error) {
	was := make([]annotation.Digest, len(l.Elements))
	for k, e := range l.Elements {
		was[k] = e.Was
	}
	m := newElementMatch(len(was), len(now))
	m.inPlace(l, len(now), func(k, i int) bool { return was[k] == now[i] })
	if m.count() == len(was) {
		return m, nil
	}
	inOrder, err := commonSubsequence(was, now, d)
	if err != nil {
		return elementMatch{}, err
	}
	if m.count() < len(inOrder) {
		m = newElementMatch(len(was), len(now))
		for _, pair := range inOrder {
			m.join(pair[0], pair[1])
		}
	}
	m.anywhere(was, now)
	if m.inPlace(l, len(now), like); len(now) != l.Length {
		m.between(l, inOrder, len(now), like)
	}
	return m, nil
}

func newElementMatch(was, now int) elementMatch {
	m := elementMatch{make([]int, was), make([]int, now)}
	for k := range m.at {
		m.at[k] = -1
	}
	for i := range m.from {
		m.from[i] = -1
	}
	return m
}

func (m *elementMatch) join(k, i int) { m.at[k], m.from[i] = i, k }

func (m *elementMatch) count() (count int) {
	for _, i := range m.at {
		if i >= 0 {
			count++
		}
	}
	return count
}

// inPlace matches elements at their places, if the list has its length.
func (m *elementMatch) inPlace(l *annotation.ListEntry, length int, like func(k, i int) bool) {
	for k, e := range l.Elements {
		if i := e.Index; length == l.Length && i < length && m.at[k] < 0 && m.from[i] < 0 && like(k, i) {
			m.join(k, i)
		}
	}
}

// anywhere matches equal elements out of order.
func (m *elementMatch) anywhere(was, now []annotation.Digest) {
	free := map[annotation.Digest][]int{}
	for i, s := range now {
		if m.from[i] < 0 {
			free[s] = append(free[s], i)
		}
	}
	for k, s := range was {
		if places := free[s]; m.at[k] < 0 && len(places) > 0 {
			m.join(k, places[0])
			free[s] = places[1:]
		}
	}
}

// between matches edited elements at their places between two matches that have as many elements
// between them as there were. If there are more, the others may be behind them or before them.
func (m *elementMatch) between(l *annotation.ListEntry, inOrder [][2]int, length int, like func(k, i int) bool) {
	first, was, now := 0, -1, -1
	for _, pair := range append(inOrder, [2]int{len(l.Elements), length}) {
		end := l.Length
		if pair[0] < len(l.Elements) {
			end = l.Elements[pair[0]].Index
		}
		for k := first; k < pair[0]; k++ {
			grown, place := pair[1]-now-(end-was), now+l.Elements[k].Index-was
			for _, i := range [2]int{place, place + grown} {
				if grown >= 0 && m.at[k] < 0 && i < length && m.from[i] < 0 && like(k, i) {
					m.join(k, i)
				}
			}
		}
		first, was, now = pair[0]+1, end, pair[1]
	}
}

// commonSubsequence returns the index pairs of a longest common subsequence.
func commonSubsequence(x, y []annotation.Digest, d *deadline) (same [][2]int, err error) {
	first, last := 0, 0
	for ; first < min(len(x), len(y)) && x[first] == y[first]; first++ {
		same = append(same, [2]int{first, first})
	}
	for last < min(len(x), len(y))-first && x[len(x)-1-last] == y[len(y)-1-last] {
		last++
	}
	between, err := longest(x[first:len(x)-last], y[first:len(y)-last], d)
	for _, pair := range between {
		same = append(same, [2]int{first + pair[0], first + pair[1]})
	}
	for ; last > 0; last-- {
		same = append(same, [2]int{len(x) - last, len(y) - last})
	}
	return same, err
}

// maxCompared limits the pairs of elements that are compared.
const maxCompared = 1 << 20

func longest(x, y []annotation.Digest, d *deadline) ([][2]int, error) {
	if len(x) == 0 || len(y) == 0 || len(x)*len(y) > maxCompared {
		return nil, nil
	}
	length, all := make([][]uint16, len(x)+1), make([]uint16, (len(x)+1)*(len(y)+1)) // of the subsequences of the rests
	for i := range length {
		length[i], all = all[:len(y)+1], all[len(y)+1:]
	}
	for i := range slices.Backward(x) {
		if err := d.passed(len(y)); err != nil {
			return nil, err
		}
		for j := len(y) - 1; j >= 0; j-- {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); x[i] == y[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	var same [][2]int
	for i, j := 0, 0; i < len(x) && j < len(y); {
		switch {
		case x[i] == y[j]:
			same = append(same, [2]int{i, j})
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return same, nil
}

// keptElement returns the element at an index, where the conversion back gives g.
func keptElement(index int, g *jsondoc.Node, c cursor, kept []*annotation.Entry) *annotation.Element {
	n, s := c.visible(g)
	return &annotation.Element{Index: index, Was: annotation.DigestOf(effective(n, s)), Kept: kept, Alike: leavesOf(n, c)}
}

// visible returns what the other version shows of an element, or else what the conversion back
// gives.
func (c cursor) visible(g *jsondoc.Node) (*jsondoc.Node, *crdschema.Node) {
	if c.there != nil && !c.layout.Opaque {
		return c.there, c.other
	}
	return g, c.schema
}

// maxAlike limits the short digests of an element.
const maxAlike = 64

// leavesOf returns the marks of an element's leaves, or of its keys if the other version has some.
func leavesOf(n *jsondoc.Node, c cursor) []annotation.Leaf {
	if c.place != nil && len(c.place.Keys) > 0 {
		all := make([]annotation.Leaf, 0, len(c.place.Keys))
		for _, field := range c.place.Keys {
			if value, err := n.Member(field); err == nil && value != nil {
				all = append(all, leafMark(hash.Begin(hash.Offset, field), value))
			}
		}
		if len(all) == len(c.place.Keys) {
			return all
		}
	}
	const usual = 8
	return leaves(make([]annotation.Leaf, 0, usual), hash.Offset, n)
}

// leaves appends the marks of all leaves of a value. Name is the beginning of a hash of its name.
func leaves(all []annotation.Leaf, name uint64, n *jsondoc.Node) []annotation.Leaf {
	if !isContainer(n) {
		return append(all, leafMark(name, n))
	}
	_ = n.Filter(func(member []byte, m jsondoc.Member) bool {
		if len(all) < maxAlike {
			all = leaves(all, hash.Begin(hash.Begin(name, "."), member), m.Node())
		}
		return true
	})
	return all
}

func leafMark(name uint64, n *jsondoc.Node) annotation.Leaf {
	var room [16]byte
	return annotation.LeafOf(hash.Add(hash.End(name), annotation.DigestOf(digest(n)).AppendTo(room[:0])))
}

// isLike reports whether an edited element is still the kept one: half of its leaves are the same.
func (c cursor) isLike(k *annotation.Element, n *jsondoc.Node) bool {
	was := slices.Clone(k.Alike)
	total, found := len(was), 0
	for _, field := range leavesOf(n, c) {
		if i := slices.Index(was, field); i >= 0 {
			was = slices.Delete(was, i, i+1)
			found++
		}
	}
	return total > 0 && 2*found >= total
}
