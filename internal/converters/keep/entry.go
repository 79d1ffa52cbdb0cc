package keep

import (
	"slices"
	"strconv"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// An Entry is one kept value: what a version had at a path, where the way back does not give that.
type Entry struct {
	path Path
	kind entryKind
	// value is the JSON of a value.
	value []byte
	// list is what was kept of the elements of a list without keys, order the keys of one that has some.
	list  *listEntry
	order [][]Key
	// lone are the places in the order of elements that the way back did not give.
	lone []int
	// base has digests of what the way back gave, "" for nothing: of what it gave at once, and after a slash of what it gave once the
	// API server had filled in its defaults, where that is something else.
	base string
	// shown has digests of what the other version itself showed of the unit, like base, and that version before a colon.
	shown string
	// in is how many steps of the path have to be there for the value to return; the others are made.
	in int
	// twoSided says that the other version may have a counterpart. It is not in the annotation.
	twoSided bool
}

// TwoSided reports whether of any of the entries the other version may show something.
func TwoSided(entries []*Entry) bool {
	return slices.ContainsFunc(entries, func(e *Entry) bool { return e.twoSided })
}

type entryKind int

const (
	isValue entryKind = iota
	isAbsent
	isList
	isOrder
)

// The names of the members of an annotation.
const (
	memberValue  = "value"
	memberAbsent = "absent"
	memberList   = "list"
	memberOrder  = "order"
	memberLone   = "lone"
	memberParts  = "parts"
	memberBase   = "base"
	memberShown  = "shown"
	memberIn     = "in"
	memberPath   = "path"
)

// usualIn is what in is of most entries: all but the last step of the path.
func usualIn(path Path) int { return max(len(path)-1, 0) }

// appendJSON appends the entry as an annotation has it, with its path if the name of the annotation does not say it: behind the
// steps that are said elsewhere.
func (e *Entry) appendJSON(dst []byte, withPath bool, behind int) []byte {
	switch e.kind {
	case isValue:
		dst = append(dst, `{"value":`...)
		dst = append(dst, e.value...)
	case isAbsent:
		dst = append(dst, `{"absent":true`...)
	case isList:
		dst = append(dst, `{"list":`...)
		dst = e.list.appendJSON(dst)
	case isOrder:
		dst = append(dst, `{"order":[`...)
		for i, keys := range e.order {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendKeys(dst, keys)
		}
		dst = append(dst, ']')
		for i, place := range e.lone {
			dst = append(dst, []string{`,"lone":[`, ","}[min(i, 1)]...)
			dst = strconv.AppendInt(dst, int64(place), 10)
		}
		if len(e.lone) > 0 {
			dst = append(dst, ']')
		}
	}
	if e.base != "" {
		dst = appendString(append(dst, `,"base":`...), e.base)
	}
	if e.shown != "" {
		dst = appendString(append(dst, `,"shown":`...), e.shown)
	}
	if e.in != usualIn(e.path) {
		dst = strconv.AppendInt(append(dst, `,"in":`...), int64(e.in), 10)
	}
	if withPath {
		dst = e.path[behind:].appendJSON(append(dst, `,"path":`...))
	}
	return append(dst, '}')
}

// parseEntry reads what appendJSON wrote, for a path that is said elsewhere, as a whole or its beginning. It reports whether it
// is that and nothing else: what other versions of webhookd write passes. Within is how many lists without keys it is in.
func parseEntry(n *jsondoc.Node, path Path, whole bool, within int) (*Entry, bool) {
	if n.Kind() != jsondoc.Map {
		return nil, false
	}
	e, kinds, in, said, ok := &Entry{path: path}, 0, -1, whole, true
	is := func(kind entryKind, good bool) {
		e.kind, ok = kind, ok && good
		kinds++
	}
	err := n.Each(func(name string, v *jsondoc.Node) bool {
		switch name {
		case memberValue:
			e.value = v.Text()
			is(isValue, true)
		case memberAbsent:
			is(isAbsent, string(v.Text()) == "true")
		case memberList:
			var good bool
			e.list, good = parseList(v, within)
			is(isList, good)
		case memberOrder:
			var good bool
			e.order, good = parseOrder(v)
			is(isOrder, good)
		case memberLone:
			var good bool
			e.lone, good = parseInts(v)
			ok = ok && good
		case memberBase:
			var text bool
			e.base, text = v.Str()
			ok = ok && text
		case memberShown:
			var text bool
			e.shown, text = v.Str()
			ok = ok && text
		case memberIn:
			i, err := strconv.Atoi(string(v.Text()))
			in, ok = i, ok && err == nil && i >= 0
		case memberPath:
			rest, good := parsePath(v)
			e.path, ok, said = slices.Concat(path, rest), ok && good && !said, true
		default:
			ok = false
		}
		return ok
	})
	if err != nil || !ok || kinds != 1 || !said || in > len(e.path) || len(e.path) > maxSteps {
		return nil, false
	}
	if e.in = in; in < 0 {
		e.in = usualIn(e.path)
	}
	return e, true
}

func parseInts(n *jsondoc.Node) ([]int, bool) {
	var all []int
	ok := n.Kind() == jsondoc.Array
	err := n.Each(func(_ string, v *jsondoc.Node) bool {
		i, err := strconv.Atoi(string(v.Text()))
		all, ok = append(all, i), ok && err == nil
		return ok
	})
	return all, ok && err == nil
}

func parseOrder(n *jsondoc.Node) ([][]Key, bool) {
	var order [][]Key
	ok := n.Kind() == jsondoc.Array
	err := n.Each(func(_ string, e *jsondoc.Node) bool {
		keys, good := parseKeys(e)
		order, ok = append(order, keys), ok && good
		return ok
	})
	return order, ok && err == nil && len(order) > 0
}

// parseEntries reads a list of entries whose paths begin with a path.
func parseEntries(n *jsondoc.Node, path Path, within int) ([]*Entry, bool) {
	var all []*Entry
	ok := n.Kind() == jsondoc.Array
	err := n.Each(func(_ string, v *jsondoc.Node) bool {
		e, good := parseEntry(v, path, false, within)
		all, ok = append(all, e), ok && good
		return ok
	})
	return all, ok && err == nil
}

// appendEntries is the inverse of parseEntries.
func appendEntries(dst []byte, all []*Entry, behind int) []byte {
	dst = append(dst, '[')
	for i, e := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.appendJSON(dst, true, behind)
	}
	return append(dst, ']')
}
