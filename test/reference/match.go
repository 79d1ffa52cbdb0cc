package reference

import (
	"fmt"
	"slices"
)

// match finds elements without keys: equal ones, and between those in order ones that are alike,
// where none has gone. Kept says of which something is kept.
func match(was, is []any, nowOf []int, kept func(i int) bool) {
	anchors := common(was, is)
	var inPlace [][2]int
	for i := range min(len(was), len(is)) {
		if len(was) == len(is) && equal(was[i], is[i]) {
			inPlace = append(inPlace, [2]int{i, i})
		}
	}
	if len(inPlace) >= len(anchors) {
		anchors = inPlace
	}
	for _, a := range anchors {
		nowOf[a[0]] = a[1]
	}
	matchIf := func(i, j int, same func(a, b any) bool) {
		if nowOf[i] < 0 && !slices.Contains(nowOf, j) && same(was[i], is[j]) {
			nowOf[i] = j
		}
	}
	for i := range was {
		for j := range is {
			matchIf(i, j, equal)
		}
	}
	if len(was) == len(is) {
		for i := range was {
			matchIf(i, i, alike)
		}
		return
	}
	anchors = slices.DeleteFunc(anchors, func(a [2]int) bool { return !kept(a[0]) })
	from := [2]int{}
	for _, to := range append(anchors, [2]int{len(was), len(is)}) {
		grown := to[1] - from[1] - (to[0] - from[0])
		for i := from[0]; i < to[0] && grown >= 0; i++ {
			matchIf(i, from[1]+i-from[0], alike)
			matchIf(i, from[1]+i-from[0]+grown, alike)
		}
		from = [2]int{to[0] + 1, to[1] + 1}
	}
}

// common returns a longest common subsequence as pairs of indexes.
func common(was, is []any) [][2]int {
	best := make([][][][2]int, len(was)+1)
	for i := range best {
		best[i] = make([][][2]int, len(is)+1)
	}
	for i, a := range slices.Backward(was) {
		for j := len(is) - 1; j >= 0; j-- {
			best[i][j] = best[i+1][j]
			if len(best[i][j+1]) > len(best[i][j]) {
				best[i][j] = best[i][j+1]
			}
			if next := best[i+1][j+1]; len(next) >= len(best[i][j]) && equal(a, is[j]) {
				best[i][j] = append([][2]int{{i, j}}, next...)
			}
		}
	}
	return best[0][0]
}

// alike reports whether half of the leaves of a value are in another, wherever in its lists.
func alike(was, is any) bool {
	total, same := 0, 0
	before, now := map[string]int{}, map[string]int{}
	leaves(was, "", before)
	leaves(is, "", now)
	for leaf, n := range before {
		total, same = total+n, same+min(n, now[leaf])
	}
	return 2*same >= total
}

// leaves counts the leaves of a value, which differ by their place without indexes.
func leaves(v any, at string, out map[string]int) {
	m, isObject := object(v)
	for k, e := range m {
		leaves(e, at+"/"+escape(k), out)
	}
	l, isList := list(v)
	for _, e := range l {
		leaves(e, at+"/[]", out)
	}
	if !isObject && !isList {
		out[fmt.Sprintf("%s %T %v", at, v, v)]++
	}
}
