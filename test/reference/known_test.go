package reference_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// known reports whether a difference is known: webhookd does something else, and loses nothing. A
// walk ends where it finds one.
func known(subject string, want, got map[string]any) bool {
	if cmp.Equal(unordered(want), unordered(got)) {
		return true // the order of elements that rules pick
	}
	return false
}

// unordered returns a value whose lists are sorted.
func unordered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, e := range v {
			out[k] = unordered(e)
		}
		return out
	case []any:
		var out []any
		for _, e := range v {
			out = append(out, unordered(e))
		}
		slices.SortFunc(out, func(a, b any) int { return strings.Compare(text(a), text(b)) })
		return out
	}
	return v
}

// differing returns the paths where two values differ.
func differing(at string, a, b any) []string {
	x, xok := a.(map[string]any)
	y, yok := b.(map[string]any)
	if xok && yok {
		var out []string
		for k := range x {
			out = append(out, differing(at+"."+k, x[k], y[k])...)
		}
		for k := range y {
			if _, ok := x[k]; !ok {
				out = append(out, differing(at+"."+k, nil, y[k])...)
			}
		}
		return out
	}
	l, lok := a.([]any)
	m, mok := b.([]any)
	if lok && mok && len(l) == len(m) {
		var out []string
		for i := range l {
			out = append(out, differing(fmt.Sprintf("%s[%d]", at, i), l[i], m[i])...)
		}
		return out
	}
	if cmp.Equal(a, b) {
		return nil
	}
	return []string{strings.TrimPrefix(at, ".")}
}
