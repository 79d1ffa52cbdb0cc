package crdschema

import (
	"slices"
	"strconv"
	"strings"
)

// A Difference has the places at which two schemas of a version differ in what matters to a conversion, as paths in the order of
// the schemas: .spec.ports[].name, .spec.labels{}.
type Difference struct {
	// First and Second are the fields that one of the schemas has alone, without what is below them.
	First, Second []string
	// Other are the places that both have, with another type, default, list type or treatment of null or unknown fields.
	Other []string
}

// Empty reports whether there is none.
func (d *Difference) Empty() bool { return len(d.First)+len(d.Second)+len(d.Other) == 0 }

// Compare returns the difference of two schemas, neither of which is nil. Validations and descriptions do not count.
func Compare(first, second *Node) Difference {
	var d Difference
	d.compare(".", first, second)
	return d
}

func (d *Difference) compare(path string, first, second *Node) {
	if first == nil || second == nil {
		return // of the elements or values of what has none
	}
	if !first.holdsSame(second) {
		d.Other = append(d.Other, path)
	}
	if first.kind != second.kind {
		return
	}
	below := strings.TrimSuffix(path, ".")
	names := slices.Concat(first.names, second.names)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		at := below + pathStep(name)
		switch a, b := first.Property(name), second.Property(name); {
		case a == nil:
			d.Second = append(d.Second, at)
		case b == nil:
			d.First = append(d.First, at)
		default:
			d.compare(at, a, b)
		}
	}
	d.compare(below+"[]", first.items, second.items)
	d.compare(below+"{}", first.values, second.values)
}

// holdsSame reports whether two places hold the same values, as far as they are not below them and validations do not count.
func (n *Node) holdsSame(m *Node) bool {
	return n.kind == m.kind && n.fallback == m.fallback && n.Nullable() == m.Nullable() &&
		n.PreservesUnknown() == m.PreservesUnknown() && n.Embedded() == m.Embedded() && n.ListType() == m.ListType() &&
		slices.Equal(slices.Sorted(slices.Values(n.ListMapKeys())), slices.Sorted(slices.Values(m.ListMapKeys())))
}

// pathStep writes a field of a path as rules do.
func pathStep(name string) string {
	odd := func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	}
	if name == "" || strings.ContainsFunc(name, odd) {
		return "[" + strconv.Quote(name) + "]"
	}
	return "." + name
}
