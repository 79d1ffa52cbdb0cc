package yamledit

import "strings"

// match finds the text for new entries: an old entry that is gone from its place.
func (e *editor) match() {
	for i := 0; i < len(e.wanted); i++ { // which grows
		entry := e.wanted[i]
		source := e.find(entry)
		if source == nil {
			e.wanted = append(e.wanted, entry.value.entries...)
			continue
		}
		entry.source = source
		source.use()
		if !equal(source.value, entry.value) {
			source.value.withdraw()
			e.compare(source, entry) // which offers what it removes
		}
	}
}

// use marks an entry, so that no text is used twice.
func (e *entry) use() {
	e.used = true
	for up := e.parent; up != nil; up = up.parent {
		up.partly = true
	}
}

// withdraw takes back the offer of what is below a value.
func (n *node) withdraw() {
	for _, entry := range n.entries {
		entry.offered = false
		entry.value.withdraw()
	}
}

// free reports whether the text of an entry can be used.
func (e *entry) free() bool {
	for up := e.parent; up != nil; up = up.parent {
		if up.used && up.value.plan == nil {
			return false
		}
	}
	return e.offered && !e.used && !e.partly && e.value.fixed == ""
}

// find returns the best source of a new entry, or nil.
func (e *editor) find(wanted *entry) *entry {
	var equals, similars []*entry
	var best *entry // of the same name
	nearest := -1
	for _, source := range e.sources[objectOf(wanted.path)] {
		switch {
		case !source.free():
		case equal(source.value, wanted.value):
			if source.name == wanted.name && !source.item {
				if near := commonLength(source.path, wanted.path); near > nearest {
					best, nearest = source, near
				}
				continue
			}
			if !source.value.trivial() {
				equals = append(equals, source)
			}
		case source.name == wanted.name && !source.item && !source.value.flow && !source.keyStays && source.value.plan == nil &&
			similar(source.value, wanted.value):
			similars = append(similars, source)
		}
	}
	if best != nil {
		return best
	}
	if len(equals) == 1 {
		return equals[0]
	}
	if len(equals) == 0 && len(similars) == 1 {
		return similars[0]
	}
	return nil
}

// objectOf returns the item of a List that a path is in, or "": no text moves between objects.
func objectOf(path string) string {
	rest, inList := strings.CutPrefix(path, ".items[")
	end := strings.IndexByte(rest, ']')
	if !inList || end < 0 {
		return ""
	}
	return path[:len(".items[")+end]
}

// commonLength returns how long the common beginning of two paths is.
func commonLength(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
