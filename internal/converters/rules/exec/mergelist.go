package exec

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// match returns for each element of the base where it stands among the kept ones and among those of now, or -1. It returns
// nil where nothing says which is which. What was kept and is there now, but not in the base, joins that without a value.
func (m *merger) match(base, kept, now []entry, keys []string) (all []entry, inKept, inNow []int) {
	keys = m.r.common(keys, base, kept, now)
	b, k, n := m.r.distinctKeys(base, keys), m.r.distinctKeys(kept, keys), m.r.distinctKeys(now, keys)
	if b == nil || k == nil || n == nil {
		return base, m.inOrder(base, kept), moved(m.r.digests(base, binding.Place{}), m.r.digests(now, binding.Place{}))
	}
	inBase, inNow := places(k, b), places(k, n)
	for i, key := range k {
		if inBase[i] < 0 && inNow[i] >= 0 {
			base, b = append(base, entry{}), append(b, key)
		}
	}
	return base, places(b, k), places(b, n)
}

// places returns where each of some keys is among others, or -1.
func places(keys, among []string) []int {
	at, places := make(map[string]int, len(among)), make([]int, len(keys))
	for i, key := range among {
		at[key] = i + 1
	}
	for i, key := range keys {
		places[i] = at[key] - 1
	}
	return places
}

// inOrder matches what the way back gave with what was kept: it leaves elements and parts of them out.
func (m *merger) inOrder(base, kept []entry) []int {
	at, i := make([]int, len(base)), 0
	for j := range base {
		for len(base) != len(kept) && i < len(kept) && !m.covers(kept[i].value, base[j].value) {
			i++
		}
		if i == len(kept) {
			return nil
		}
		at[j] = i
		i++
	}
	return at
}

// covers reports whether all of a value is in another, elements of a list in their order.
func (m *merger) covers(all, part *jsondoc.Node) bool {
	switch {
	case all.Kind() == jsondoc.Map && part.Kind() == jsondoc.Map:
		for _, e := range m.r.entries(part) {
			if other := m.r.member(all, e.name); other == nil || !m.covers(other, e.value) {
				return false
			}
		}
		return true
	case all.Kind() == jsondoc.Array && part.Kind() == jsondoc.Array:
		return m.inOrder(m.r.entries(part), m.r.entries(all)) != nil
	}
	return m.r.equal(all, part)
}

// maxCompared bounds how many pairs of elements are compared to find the same ones.
const maxCompared = 1 << 20

// sameElements returns the places of a longest common subsequence of two lists, of those that differ beyond what they begin and
// end with; of that none where the lists are too long.
func sameElements(x, y []string) [][2]int {
	first, last := 0, 0
	for first < min(len(x), len(y)) && x[first] == y[first] {
		first++
	}
	for last < min(len(x), len(y))-first && x[len(x)-1-last] == y[len(y)-1-last] {
		last++
	}
	var same [][2]int
	for i := range first {
		same = append(same, [2]int{i, i})
	}
	for _, pair := range longestCommon(x[first:len(x)-last], y[first:len(y)-last]) {
		same = append(same, [2]int{first + pair[0], first + pair[1]})
	}
	for i := last; i > 0; i-- {
		same = append(same, [2]int{len(x) - i, len(y) - i})
	}
	return same
}

func longestCommon(x, y []string) [][2]int {
	if len(x) == 0 || len(y) == 0 || len(x)*len(y) > maxCompared {
		return nil
	}
	length := make([][]int, len(x)+1) // of that of the rests
	length[len(x)] = make([]int, len(y)+1)
	for i, text := range slices.Backward(x) {
		length[i] = make([]int, len(y)+1)
		for j, other := range slices.Backward(y) {
			if length[i][j] = max(length[i+1][j], length[i][j+1]); text == other {
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
	return same
}

// A slot is an element of a merged list: where it stands in the three lists, or -1.
type slot struct{ base, kept, now int }

// order returns the elements of a merged list. Those of now are in their order, but where the edit left the order alone in that
// of the kept ones. What only was kept stands behind the one that it stood behind.
func order(inKept, inNow []int, kept, now int) []slot {
	ofKept, ofNow := inverse(inKept, kept), inverse(inNow, now)
	lead := make([][]slot, 1, len(inKept)+1) // what follows none, then each element of now that is of the base, and what follows it
	at := map[int]int{-1: 0}                 // of an element of the base: where it is in lead
	add := func(base int) {
		at[base] = len(lead)
		lead = append(lead, []slot{{base, inKept[base], inNow[base]}})
	}
	if increasing(inNow) {
		for _, base := range ofKept {
			if base >= 0 && inNow[base] >= 0 {
				add(base)
			}
		}
	}
	for _, base := range ofNow {
		if _, is := at[base]; !is {
			add(base)
		}
	}
	behind := -1
	for i, base := range ofKept {
		switch {
		case base < 0:
			lead[at[behind]] = append(lead[at[behind]], slot{-1, i, -1})
		case inNow[base] >= 0:
			behind = base
		}
	}
	behind = -1
	for i, base := range ofNow {
		if base < 0 {
			lead[at[behind]] = append(lead[at[behind]], slot{-1, -1, i})
		} else {
			behind = base
		}
	}
	return slices.Concat(lead...)
}

// inverse returns for each of n places which element stands there, or -1.
func inverse(places []int, n int) []int {
	elements := slices.Repeat([]int{-1}, n)
	for element, place := range places {
		if place >= 0 {
			elements[place] = element
		}
	}
	return elements
}

// increasing reports whether the places are in order, but for those of elements that have none.
func increasing(places []int) bool {
	last := -1
	for _, p := range places {
		if p >= 0 && p < last {
			return false
		}
		last = max(last, p)
	}
	return true
}
