package reference_test

import (
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// known reports whether a difference is known: the order of elements that rules pick. A walk ends
// where it finds one.
func known(want, got map[string]any) bool { return cmp.Equal(unordered(want), unordered(got)) }

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
