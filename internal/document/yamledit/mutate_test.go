package yamledit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// mutate changes a value in a few places, as conversions do: it removes, renames, sets, adds,
// moves, wraps and splits.
func mutate(rng *rand.Rand, root *node) {
	for range 1 + rng.IntN(4) {
		var collections []*node
		root.collections(&collections)
		if len(collections) == 0 {
			return
		}
		n := collections[rng.IntN(len(collections))]
		n.mutate(rng, rng.IntN(len(n.entries)), collections, n == root)
	}
	root.canon = ""
}

func (n *node) mutate(rng *rand.Rand, i int, all []*node, root bool) {
	old := n.entries[i]
	switch rng.IntN(7) {
	case 0:
		if !root || i > 0 {
			n.take(i)
		}
	case 1:
		if n.kind == mapping {
			n.entries[i] = &entry{name: old.name + "X", value: old.value}
		}
	case 2:
		if old.value.kind == scalar {
			texts := []string{`"new: text"`, "17", "true", `"two\nlines\n"`, `"x"`, "null", `"a # b, c"`, `""`, `"it's"`, `"- é"`}
			n.entries[i] = &entry{name: old.name, value: &node{raw: texts[rng.IntN(len(texts))]}}
		}
	case 3:
		added := &node{raw: `"v"`}
		if rng.IntN(2) == 0 {
			added = &node{kind: mapping, entries: []*entry{
				{name: "p", value: &node{raw: "1"}},
				{name: "q", value: &node{kind: sequence, entries: []*entry{{value: &node{raw: "2"}}}}},
			}}
		}
		n.add(i, fmt.Sprint("added", rng.IntN(100)), added)
	case 4:
		to := all[rng.IntN(len(all))]
		var below []*node
		old.value.collections(&below)
		if slices.Contains(below, to) {
			return
		}
		if name := "moved" + old.name; to.kind == mapping && to.get(name) == nil && !root {
			if to.get(old.name) == nil && old.name != "" {
				name = old.name
			}
			n.take(i)
			to.add(len(to.entries), name, old.value)
		}
	case 5:
		n.entries[i] = &entry{name: old.name, value: &node{kind: mapping, entries: []*entry{{name: "inner", value: old.value}}}}
	case 6:
		if n.kind == mapping && old.value.kind == scalar {
			n.entries[i] = &entry{name: old.name + "A", value: old.value}
			n.add(len(n.entries), old.name+"B", &node{raw: `"b"`})
		}
	}
}

func (n *node) take(i int) { n.entries = append(n.entries[:i:i], n.entries[i+1:]...) }

func (n *node) add(i int, name string, value *node) {
	if n.kind == mapping && n.get(name) != nil {
		return
	}
	n.entries = append(n.entries[:i:i], append([]*entry{{name: name, value: value}}, n.entries[i:]...)...)
}

// collections lists all collections with entries.
func (n *node) collections(all *[]*node) {
	if n.kind != scalar && len(n.entries) > 0 {
		*all = append(*all, n)
	}
	for _, entry := range n.entries {
		entry.value.collections(all)
	}
}

func (n *node) json() string {
	texts := make([]string, len(n.entries))
	for i, entry := range n.entries {
		texts[i] = entry.value.json()
		if n.kind == mapping {
			texts[i] = quoted(entry.name) + ":" + texts[i]
		}
	}
	switch n.kind { //nolint:exhaustive // a scalar is below
	case mapping:
		return "{" + strings.Join(texts, ",") + "}"
	case sequence:
		return "[" + strings.Join(texts, ",") + "]"
	}
	return n.raw
}
