package celvalue

import (
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Ordered returns v, or a map that iterates in the order of its keys if v is one of cel-go's own
// maps. Those iterate in random order as Go's do, and a conversion must give the same bytes every
// time.
func Ordered(v ref.Val) ref.Val {
	m, ok := v.(traits.Mapper)
	if _, ours := v.(*object); ours || !ok {
		return v
	}
	return ordered{m}
}

// ordered must not implement traits.Foldable, which cel-go would prefer to the iterator.
type ordered struct{ traits.Mapper }

// Iterator implements traits.Iterable.
func (m ordered) Iterator() traits.Iterator {
	return types.NewRefValList(types.DefaultTypeAdapter, sortedKeys(m.Mapper)).Iterator()
}

// sortedKeys returns the keys of a map in order: bools, then numbers, then strings.
func sortedKeys(m traits.Mapper) []ref.Val {
	var keys []ref.Val
	for it := m.Iterator(); it.HasNext() == types.True; {
		keys = append(keys, it.Next())
	}
	slices.SortFunc(keys, func(a, b ref.Val) int {
		if x, y := rank(a), rank(b); x != y {
			return x - y
		}
		if c, ok := a.(traits.Comparer); ok {
			if order, ok := c.Compare(b).(types.Int); ok {
				return int(order)
			}
		}
		return 0
	})
	return keys
}

func rank(key ref.Val) int {
	switch key.(type) {
	case types.Bool:
		return 0
	case types.Int, types.Uint, types.Double:
		return 1
	}
	return 2
}
