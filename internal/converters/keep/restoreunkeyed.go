package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A matchedList is a list without keys whose elements are matched with those of a kept list.
type matchedList struct {
	at     []int // where each kept element is now, or -1
	parts  []*branch
	cursor cursor // of the elements
	list   cursor
	extra  bool // the elements that only this version had return
}

// list finds the elements that are still in a list, and decides which of their entries return.
func (r *restorer) list(entry *Entry, n *jsondoc.Node, c cursor) *matchedList {
	l := entry.list
	list, e := r.elementsAt(n, c)
	if r.err != nil || len(list) > maxElements {
		return nil
	}
	now := make([]stamp, len(list))
	for k := range list {
		now[k] = stampOf(digest(list[k]))
	}
	at, inPlace, err := matchElements(l.shown(now), now, r.deadline)
	if r.note(err); err != nil {
		return nil
	}
	is := slices.Repeat([]int{-1}, len(list)) // the kept element of each present one
	for j, k := range at {
		picked := j == 0 && k == 0 && c.place != nil && c.place.First
		if k >= 0 && (inPlace[j] || picked || l.isAlike(j, list[k], e(k))) {
			is[k] = j
		}
	}
	found := &matchedList{at: at, cursor: e(-1), list: c, extra: !c.hasUnit() || r.shows(entry, nil, c)}
	for k, j := range is {
		if j < 0 {
			continue
		}
		if p := l.part(j); len(p.kept) > 0 && !r.stopped() {
			found.parts = append(found.parts, r.part(p.kept, list[k], e(k)))
		}
	}
	return found
}

// applyList restores entries in the elements that are still there, and extra elements behind them.
func (r *restorer) applyList(found *matchedList, l *listEntry, n *jsondoc.Node) {
	if found == nil {
		return
	}
	for _, t := range found.parts {
		if !t.valid || t.entry.kind != isAbsent {
			r.apply(t, t.node, 0)
		}
	}
	if n.Kind() == jsondoc.Array && found.extra {
		r.extra(l, n, found)
	}
}

// shown returns the kept digests of the elements: of two digests, the one that an element has now.
func (l *listEntry) shown(now []stamp) []stamp {
	was := make([]stamp, len(l.was))
	var is map[stamp]bool
	for i, all := range l.was {
		if was[i] = all.first; !all.two {
			continue
		}
		if is == nil {
			is = make(map[stamp]bool, len(now))
			for _, s := range now {
				is[s] = true
			}
		}
		if !is[all.first] {
			was[i] = all.second
		}
	}
	return was
}

// isAlike reports whether an edited element is still the kept one: half of its leaves are the same.
func (l *listEntry) isAlike(j int, n *jsondoc.Node, c cursor) bool {
	was := slices.Clone(l.part(j).alike)
	total, found := len(was), 0
	for _, field := range likeness(n, c) {
		if i := slices.Index(was, field); i >= 0 {
			was = slices.Delete(was, i, i+1)
			found++
		}
	}
	return total > 0 && 2*found >= total
}

// part decides which entries of an element return.
func (r *restorer) part(kept []*Entry, n *jsondoc.Node, c cursor) *branch {
	sub := &restorer{walker: r.startingAt(n), forest: r.forest, done: r.done}
	t := r.forest.tree(kept)
	sub.visit(t, n, c)
	r.note(sub.err)
	return t
}

// extra inserts the elements that only this version had behind the ones they followed, as far as
// those are left.
func (r *restorer) extra(l *listEntry, n *jsondoc.Node, found *matchedList) {
	list := r.elements(n)
	d := newDistinct(found.list.schema, list)
	follow := map[int][][]byte{} // by present index
	for _, e := range l.extra {
		if !found.cursor.fits(e.value) || !d.addText(e.value) {
			continue
		}
		k := -1
		for j := min(e.after, len(found.at)-1); j >= 0 && k < 0; j-- {
			k = found.at[j]
		}
		follow[k] = append(follow[k], e.value)
	}
	if len(follow) == 0 {
		return
	}
	texts := slices.Clone(follow[-1])
	for k, e := range list {
		texts = append(append(texts, e.Text()), follow[k]...)
	}
	r.replace(n, arrayOf(texts))
}

// matchElements returns the present index of each kept element, or -1, and whether its digest is
// the same. Equal elements match first in their order, then anywhere. Edited elements match between
// two matches if both lists have as many of them there.
func matchElements(was, now []stamp, d *deadline) (at []int, same []bool, err error) {
	at, same = slices.Repeat([]int{-1}, len(was)), make([]bool, len(was))
	from := slices.Repeat([]int{-1}, len(now))
	join := func(i, j int) { at[i], from[j], same[i] = j, i, was[i] == now[j] }
	inOrder, err := commonSubsequence(was, now, d)
	if err != nil {
		return nil, nil, err
	}
	for _, pair := range inOrder {
		join(pair[0], pair[1])
	}
	if len(inOrder) == len(was) || len(inOrder) == len(now) {
		return at, same, nil
	}
	free := map[stamp][]int{}
	for j, s := range now {
		if from[j] < 0 {
			free[s] = append(free[s], j)
		}
	}
	for i, s := range was {
		if places := free[s]; at[i] < 0 && len(places) > 0 {
			join(i, places[0])
			free[s] = places[1:]
		}
	}
	i, j := 0, 0
	for _, pair := range append(inOrder, [2]int{len(was), len(now)}) {
		a, b := without(at, i, pair[0]), without(from, j, pair[1])
		if len(a) == len(b) {
			for k := range a {
				join(a[k], b[k])
			}
		}
		i, j = pair[0]+1, pair[1]+1
	}
	return at, same, nil
}

// without returns the indexes from i to end that have no match.
func without(places []int, i, end int) []int {
	var list []int
	for ; i < end; i++ {
		if places[i] < 0 {
			list = append(list, i)
		}
	}
	return list
}

// commonSubsequence returns the index pairs of a longest common subsequence.
func commonSubsequence(x, y []stamp, d *deadline) (same [][2]int, err error) {
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

func longest(x, y []stamp, d *deadline) ([][2]int, error) {
	if len(x) == 0 || len(y) == 0 || len(x)*len(y) > maxCompared {
		return nil, nil
	}
	length, all := make([][]uint16, len(x)+1), make([]uint16, (len(x)+1)*(len(y)+1)) // of the subsequences of the rests
	for i := range length {
		length[i], all = all[:len(y)+1], all[len(y)+1:]
	}
	for i, one := range slices.Backward(x) {
		if err := d.passed(len(y)); err != nil {
			return nil, err
		}
		for j, other := range slices.Backward(y) {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); one == other {
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
