package keep

import (
	"slices"
	"strconv"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A list may have several elements with the same keys, though a rule that picks one by its keys
// takes the first, and a map has room for only one. The other version shows the first, and what was
// kept of it belongs to its keys. The others are its namesakes, which are kept as extra elements. A
// namesake returns behind an element with its keys or not at all: otherwise it would be the first,
// and would hide that someone has removed the first.

// A namedList is the elements of a list that keys identify, and the other elements of the list:
// those without keys or with the ones of an earlier element.
type namedList struct {
	elements []*jsondoc.Node
	keys     [][]Key
	extra    []extra
}

// byKeys returns two lists with the keys of their elements, and whether these identify them. Only
// was may have extra elements.
func byKeys(was, now []*jsondoc.Node, c cursor) (x, g namedList, ok bool) {
	fields := common(c.keys(), was, now)
	x = namedList{elements: was, keys: distinctKeys(was, fields, nil)}
	g = namedList{elements: now, keys: distinctKeys(now, fields, x.keys)}
	if len(fields) > 0 && x.keys != nil && g.keys != nil {
		return x, g, true
	}
	if !c.mayRepeat() {
		return x, g, false
	}
	fields = c.keys()
	x, g.keys = firsts(was, fields), distinctKeys(now, fields, nil)
	return x, g, len(x.keys) > 0 && g.keys != nil
}

// firsts returns the first elements with their keys, and the others as extra elements.
func firsts(list []*jsondoc.Node, fields []string) namedList {
	var l namedList
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		keys, ok := keysOf(e, fields)
		if !ok || seen[index(keys)] {
			l.extra = append(l.extra, extra{len(l.keys) - 1, e.Text()})
			continue
		}
		seen[index(keys)] = true
		l.elements, l.keys = append(l.elements, e), append(l.keys, keys)
	}
	return l
}

// mayRepeat reports whether a rule identifies elements of the list by keys that the schema does not
// require to differ. If the other version has a list as well, that shows all elements.
func (c cursor) mayRepeat() bool {
	return c.place != nil && len(c.place.Keys) > 0 && !c.place.First && !c.place.Element &&
		len(c.schema.ListMapKeys()) == 0 && c.other.Kind() != crdschema.Array
}

// withExtra inserts the extra elements of a list behind the ones that they followed, as far as
// those are left, and namesakes behind the one with their keys.
func (b *branch) withExtra(items []item) []item {
	if b.order == nil || !b.extra {
		return items
	}
	fields, _ := fieldsOf(b.order.order[0])
	present := make(map[string]int, len(items))
	for i := range slices.Backward(items) {
		present[index(items[i].keys)] = i
	}
	last, at := -1, make([]int, 0, len(b.order.order)) // the last one of the kept order that is left, for each
	for _, keys := range b.order.order {
		if i, found := present[index(keys)]; found {
			last = i
		}
		at = append(at, last)
	}
	element, follow := b.cursor.element(0, nil, false), map[int][]item{}
	for _, e := range b.order.extra {
		i := -1
		if j := min(e.after, len(at)-1); j >= 0 {
			i = at[j]
		}
		n, err := parsed(e.value)
		if err != nil || !element.fits(e.value) {
			continue
		}
		keys, ok := keysOf(n, fields)
		if ok {
			first, found := present[index(keys)]
			if !found {
				continue
			}
			i = max(i, first)
		}
		follow[i] = append(follow[i], item{keys, e.value})
	}
	all := slices.Clone(follow[-1])
	for i, one := range items {
		all = append(append(all, one), follow[i]...)
	}
	return all
}

func appendExtra(dst []byte, all []extra) []byte {
	if len(all) == 0 {
		return dst
	}
	return appendArray(append(dst, `,"extra":`...), all, func(dst []byte, e extra) []byte {
		dst = strconv.AppendInt(append(dst, `{"after":`...), int64(e.after), 10)
		return append(append(append(dst, `,"value":`...), e.value...), '}')
	})
}
