package converters

import (
	"bytes"
	"reflect"
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// matchElements returns, for each element of now, the index of an equal element of old, or -1. Each
// element is matched once, preferably with the one at its own index.
func matchElements(old, now []any) (from []int, used []bool) {
	from, used = make([]int, len(now)), make([]bool, len(old))
	left := 0
	for i := range now {
		if from[i] = -1; i < len(old) && reflect.DeepEqual(old[i], now[i]) {
			from[i], used[i] = i, true
		} else {
			left++
		}
	}
	if left == 0 {
		return from, used
	}
	free := make(map[string][]int)
	for j := range old {
		if text, err := encode(old[j]); err == nil && !used[j] {
			free[string(text)] = append(free[string(text)], j)
		}
	}
	for i := range now {
		if from[i] >= 0 {
			continue
		}
		text, err := encode(now[i])
		if js := free[string(text)]; err == nil && len(js) > 0 {
			from[i], free[string(text)] = js[0], js[1:]
			used[js[0]] = true
		}
	}
	return from, used
}

// replaceElements sets n to the array of the texts.
func replaceElements(n *jsondoc.Node, texts [][]byte) error {
	v, err := jsondoc.RawValue(slices.Concat([]byte{'['}, bytes.Join(texts, []byte{','}), []byte{']'}))
	if err == nil {
		n.Replace(v)
	}
	return err
}
