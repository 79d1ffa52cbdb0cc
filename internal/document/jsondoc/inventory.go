package jsondoc

import (
	"cmp"
	"slices"
)

// An inventory has the positions of all members of arrays and objects of the text. The first look
// into a value lists everything in it. Otherwise a text would be read once for each level above it,
// and again for each copy of the object (BenchmarkKinds in converters/rules).
type inventory struct {
	lists  []listing // by start
	fields []field   // of all lists
	open   []field   // of lists that are being read
	full   bool      // further values are read on demand
}

// A listing has the fields of one array or object.
type listing struct {
	start  uint32
	known  bool // false if it has too many fields or a duplicate name: Node.scan reads it
	fields Span
}

func (v *inventory) empty() {
	v.lists, v.fields, v.full = emptied(v.lists, keepFields), emptied(v.fields, keepFields), false
	v.open = emptied(v.open, keepFields)
}

// find returns the listing that starts at a position, or nil.
func (v *inventory) find(start uint32) *listing {
	i, found := slices.BinarySearchFunc(v.lists, start, func(l listing, start uint32) int { return cmp.Compare(l.start, start) })
	if !found {
		return nil
	}
	return &v.lists[i]
}

// fieldsAt returns the fields of an array or object, and whether they are listed.
func (d *Document) fieldsAt(at piece) (fields []field, known bool) {
	if at.added {
		return nil, false
	}
	v := &d.inventory
	l := v.find(at.Start)
	if l == nil && !v.full {
		d.takeInventory(at.Start)
		l = v.find(at.Start)
	}
	if l == nil || !l.known {
		return nil, false
	}
	return v.fields[l.fields.Start:l.fields.End], true
}

// takeInventory lists the members of the array or object at start and of all values in it. The text
// is known to be valid.
func (d *Document) takeInventory(start uint32) {
	v := &d.inventory
	first := len(v.lists)
	d.inside = Scanner{text: d.text, maxDepth: scanDepth, names: d.inside.names[:0]}
	d.inside.pos = int(start)
	d.listNext(&d.inside)
	_ = d.use((len(v.lists) - first) * fieldSize) // a later call fails
	if first > 0 && v.lists[first].start < v.lists[first-1].start {
		slices.SortFunc(v.lists, func(a, b listing) int { return cmp.Compare(a.start, b.start) })
	}
}

// listNext lists the array or object at the scanner, and moves the scanner behind it.
func (d *Document) listNext(s *Scanner) {
	v := &d.inventory
	slot, first, seen := len(v.lists), len(v.open), nameSet{before: len(s.names)}
	v.lists = append(v.lists, listing{start: offset(s.pos)})
	object, known, start := s.at(s.pos) == '{', true, s.pos
	for more := s.Enter(); more; more = s.Next(object) {
		f := field{start: offset(start), value: offset(s.pos)}
		if object {
			name := s.Name()
			f.name, f.escaped = s.nameAt, s.escapes
			known = known && len(s.names)-seen.before < fewMembers && seen.add(s, name, false) && !seen.repeated
		}
		if c := s.at(s.pos); (c == '{' || c == '[') && !v.full {
			d.listNext(s)
		} else {
			_, _ = s.Skip()
		}
		f.valueEnd, start = offset(s.pos), s.space(s.pos)
		f.end = offset(start)
		v.full = v.full || len(v.lists)+len(v.fields)+len(v.open) >= 2<<10+len(d.text)/64 // less than half the size of the text
		if known = known && !v.full; known {
			v.open = append(v.open, f)
		}
	}
	if known {
		from := len(v.fields)
		v.fields = append(v.fields, v.open[first:]...)
		v.lists[slot].known, v.lists[slot].fields = true, span(from, len(v.fields))
	}
	s.names, v.open = s.names[:seen.before], v.open[:first]
}
