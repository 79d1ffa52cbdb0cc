package celvalue

import (
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// Ordered returns v, and a map that iterates in the order of its keys where v is a map that does not: cel-go's own maps
// iterate as Go's do, each time in another order, and a conversion gives the same bytes every time.
func Ordered(v ref.Val) ref.Val {
	m, ok := v.(traits.Mapper)
	if _, ours := v.(*Object); ours || !ok {
		return v
	}
	return ordered{m}
}

// ordered must not be a traits.Foldable, which cel-go would prefer to the iterator.
type ordered struct{ traits.Mapper }

// Iterator implements traits.Iterable.
func (m ordered) Iterator() traits.Iterator {
	return types.NewRefValList(types.DefaultTypeAdapter, sortedKeys(m.Mapper)).Iterator()
}

// sortedKeys returns the keys of a map: bools, numbers, strings, each in their order.
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
