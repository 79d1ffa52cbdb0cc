package yamledit

import (
	"strings"
)

// value edits the value of an entry in place.
func (e *editor) value(old, changed *entry) {
	switch p := old.value.plan; {
	case equal(old.value, changed.value):
	case p == nil:
		e.set(old, changed)
	case old.value.flow:
		e.flow(old.value, changed.value)
	default:
		if old.value.kind == mapping {
			p.assignSlots()
		}
		if len(p.pairs) == 0 && len(p.slots) == 0 {
			e.set(old, changed)
			return
		}
		e.block(old.value, changed.value)
	}
}

// set replaces the value of an entry as a whole.
func (e *editor) set(old, changed *entry) {
	e.note("set", changed.path, "")
	if old.value.flow && old.value.kind != scalar && changed.value.kind == old.value.kind && len(changed.value.entries) == 0 {
		e.replace(old.value.start, old.value.end, emptyText(changed.value))
		return
	}
	first, rest := e.render(changed, indentOf(e.text, old.start), old.item, old.value.quote)
	e.place(old, first, rest)
}

// place puts a value where that of an entry is: first on the line of the key or dash, and rest
// on lines of its own. A comment on that line stays there.
func (e *editor) place(old *entry, first string, rest []string) {
	v, end := old.value, old.value.end
	if v.kind != scalar && !v.flow { // the comment of its last line goes along
		end = lineEnd(e.text, v.end)
	}
	switch below := strings.Contains(e.text[old.after:max(old.after, v.start)], "\n"); {
	case below:
		if first != "" {
			e.replace(old.after, old.after, " "+first)
		}
		e.replace(lineEnd(e.text, old.after), end, broken(rest))
		return
	case old.item && first == "" && len(rest) > 0: // an element that is a collection
		first, rest = strings.TrimLeft(rest[0], " "), rest[1:]
		if old.empty() {
			first = " " + first
		}
		e.replace(v.start, end, first)
	case old.empty():
		if first != "" {
			e.replace(old.after, old.after, " "+first)
		}
	case first == "":
		e.replace(old.after, end, "")
	default:
		e.replace(v.start, end, first)
	}
	at := lineEnd(e.text, old.end())
	e.replace(at, at, broken(rest))
}

// broken returns lines, each behind a line break.
func broken(lines []string) string {
	var out strings.Builder
	for _, line := range lines {
		out.WriteString("\n" + line)
	}
	return out.String()
}

// block edits the entries of a block collection.
func (e *editor) block(old, changed *node) {
	p := old.plan
	var own []*entry
	for _, child := range old.entries {
		if !child.merged {
			own = append(own, child)
		}
	}
	inline := strings.TrimSpace(e.text[lineStart(e.text, own[0].start):own[0].start]) != ""
	var first *entry
	firstInline := false
	for i, child := range own {
		previous := 0
		if i > 0 {
			previous = own[i-1].end()
		}
		match, slot := p.pairs[child], p.slots[child]
		if match != nil || slot != nil {
			if first == nil {
				first, firstInline = child, inline
			}
			inline = false
			e.keep(child, match, slot)
			continue
		}
		e.noteRemoved(child)
		var next *entry
		if i+1 < len(own) {
			next = own[i+1]
		}
		inline = e.remove(child, next, previous, inline)
	}
	for _, group := range p.insertions(changed) {
		e.insert(own, old.kind, group, first, firstInline)
	}
}

// keep edits an entry that stays, or that others take the place of.
func (e *editor) keep(old, match *entry, slot []*entry) {
	if match != nil {
		if match.name != old.name {
			e.note("rename", match.path, old.path)
			e.replace(old.start, old.keyEnd, e.key(match.name, e.text[old.start]))
		}
		e.value(old, match)
		return
	}
	e.noteRemoved(old)
	indent := indentOf(e.text, old.start)
	e.noteAdded(slot[0])
	e.replace(old.start, old.keyEnd, e.key(slot[0].name, e.text[old.start]))
	first, rest := e.render(slot[0], indent, false, old.value.quote)
	for _, more := range slot[1:] {
		e.noteAdded(more)
		rest = append(rest, e.entryLines(more, mapping, indent)...)
	}
	e.place(old, first, rest)
}

func (e *editor) noteRemoved(old *entry) {
	if !old.used {
		e.note("remove", old.path, "")
	}
}

func (e *editor) noteAdded(added *entry) {
	if added.source != nil && !added.source.keyStays {
		e.note("move", added.path, added.source.path)
		return
	}
	e.note("add", added.path, "")
}

// remove removes an entry with its comments. Inline says that it shares its line with a dash
// before it, and the result that the next entry does so then.
func (e *editor) remove(entry, next *entry, previous int, inline bool) bool {
	if !inline {
		start, end := e.region(entry, previous)
		if start == 0 {
			e.replace(0, nextLine(e.text, end), "")
		} else {
			e.replace(lineEnd(e.text, start-1-crlf(e.text, start)), end, "")
		}
		return false
	}
	end := lineEnd(e.text, entry.end())
	if next != nil && strings.TrimSpace(e.text[end:next.start]) == "" {
		e.replace(entry.start, next.start, "")
		return true
	}
	e.replace(entry.start, end, "")
	return false
}

// crlf is 1 if the line before start ends with CRLF.
func crlf(text string, start int) int {
	if strings.HasSuffix(text[:start], "\r\n") {
		return 1
	}
	return 0
}

// region returns where an entry of a block collection begins and ends with its comments: those
// right above it at its indentation, and those below it that are indented deeper. It begins at
// the start of a line, unless the entry shares the line, and ends before a line break. The entry
// before it ends at previous.
func (e *editor) region(entry *entry, previous int) (start, end int) {
	column := indentOf(e.text, entry.start)
	start = lineStart(e.text, entry.start)
	for start > 0 {
		above := lineStart(e.text, start-1)
		if above < previous || !isComment(e.text[above:start], column, column) {
			break
		}
		start = above
	}
	end = lineEnd(e.text, entry.end())
	for line := nextLine(e.text, end); line < len(e.text); line = nextLine(e.text, line) {
		stop := lineEnd(e.text, line)
		text := e.text[line:stop]
		if isComment(text, column+1, len(text)) {
			end = stop
		} else if strings.TrimSpace(text) != "" {
			break
		}
	}
	return start, end
}

// isComment reports whether a line is a comment, indented at least and at most so far.
func isComment(line string, least, most int) bool {
	text := strings.TrimLeft(line, " ")
	indent := len(line) - len(text)
	return strings.HasPrefix(text, "#") && least <= indent && indent <= most
}

// An insertion is new entries behind an old one, or before all if it is nil.
type insertion struct {
	behind *entry
	added  []*entry
}

// insertions groups the new entries without a slot.
func (p *plan) insertions(changed *node) []insertion {
	slotted := map[*entry]bool{}
	for _, slot := range p.slots {
		for _, added := range slot {
			slotted[added] = true
		}
	}
	var all []insertion
	var behind *entry
	for _, child := range changed.entries {
		switch old := p.olds[child]; {
		case old != nil && !old.merged:
			behind = old
		case old != nil || slotted[child]:
		case len(all) > 0 && all[len(all)-1].behind == behind:
			all[len(all)-1].added = append(all[len(all)-1].added, child)
		default:
			all = append(all, insertion{behind, []*entry{child}})
		}
	}
	return all
}

// insert inserts new entries. First is the first entry that stays.
func (e *editor) insert(own []*entry, of kind, group insertion, first *entry, inline bool) {
	indent := indentOf(e.text, own[0].start)
	lines := make([]string, 0, len(group.added))
	for _, added := range group.added {
		e.noteAdded(added)
		lines = append(lines, e.entryLines(added, of, indent)...)
	}
	if group.behind != nil {
		_, end := e.region(group.behind, 0)
		e.replace(end, end, broken(lines))
		return
	}
	text := strings.Join(lines, "\n") + "\n"
	if inline {
		e.replace(first.start, first.start, strings.TrimLeft(text, " ")+spaces(indent))
		return
	}
	previous := 0
	for i, entry := range own {
		if entry == first && i > 0 {
			previous = own[i-1].end()
		}
	}
	start, _ := e.region(first, previous)
	if first.parent == nil { // a comment there is about the document
		start = lineStart(e.text, first.start)
	}
	e.replace(start, start, text)
}

func spaces(n int) string { return strings.Repeat(" ", n) }
