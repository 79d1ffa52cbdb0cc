package yamledit

import (
	"slices"
	"strings"
	"unicode"

	"github.com/crdconvert/webhookd/internal/document/yamljson"
)

// entryLines returns the lines of a new entry of a block collection, with its indentation.
func (e *editor) entryLines(added *entry, of kind, indent int) []string {
	if lines, ok := e.carry(added, of, indent); ok {
		return lines
	}
	first, rest := e.render(added, indent, of == sequence, 0)
	head := spaces(indent) + "-"
	if of == mapping {
		head = spaces(indent) + e.key(added.name, 0) + ":"
	}
	if first == "" && of == sequence && len(rest) > 0 {
		first, rest = strings.TrimLeft(rest[0], " "), rest[1:]
	}
	if first != "" {
		head += " " + first
	}
	return append([]string{head}, rest...)
}

// carry returns the lines of an entry that moves here with its comments.
func (e *editor) carry(added *entry, of kind, indent int) ([]string, bool) {
	source := added.source
	if source == nil || source.keyStays || !e.ownLines(source) || source.item != (of == sequence) {
		return nil, false
	}
	start, end := e.region(source, e.endAbove(source))
	before := spaces(indentOf(e.text, source.start))
	if strings.TrimSpace(e.text[lineStart(e.text, source.start):source.start]) != "" {
		start = source.start
	} else {
		before = ""
	}
	text := before + e.moved(start, end, func() {
		if added.name != source.name {
			e.replace(source.start, source.keyEnd, e.key(added.name, e.text[source.start]))
		}
		e.value(source, added)
	})
	return reindented(strings.Split(text, "\n"), indent-indentOf(e.text, source.start)), true
}

// ownLines reports whether an entry is in a block collection, where entries have lines of their
// own.
func (e *editor) ownLines(source *entry) bool {
	siblings := e.root
	if source.parent != nil {
		siblings = source.parent.value
	}
	return !siblings.flow && !source.merged
}

// endAbove returns the end of the entry before one.
func (e *editor) endAbove(of *entry) int {
	siblings := e.root.entries
	if of.parent != nil {
		siblings = of.parent.value.entries
	}
	i := slices.Index(siblings, of)
	for i--; i >= 0; i-- {
		if !siblings[i].merged {
			return siblings[i].end()
		}
	}
	if of.parent != nil {
		return of.parent.after
	}
	return 0
}

// reindented moves lines to the right, or to the left as far as they go.
func reindented(lines []string, by int) []string {
	for i, line := range lines {
		switch text := strings.TrimLeft(line, " "); {
		case text == "":
		case by > 0:
			lines[i] = spaces(by) + line
		case by < 0:
			lines[i] = line[min(-by, len(line)-len(text)):]
		}
	}
	return lines
}

// render returns the text of a new value in a block collection at an indentation: first on the
// line of the key or dash, and rest on lines of its own. Quote is the style of the scalar at its
// place.
func (e *editor) render(added *entry, indent int, inSequence bool, quote byte) (first string, rest []string) {
	n := added.value
	below := indent + e.step
	if inSequence {
		below = indent + 2
	} else if n.kind == sequence && !e.seqIndented {
		below = indent
	}
	if source := added.source; source != nil && equal(source.value, n) && !source.empty() {
		if first, rest, ok := e.reuse(source, indent, below); ok {
			return first, rest
		}
	}
	switch {
	case n.kind == scalar:
		lines := e.scalar(n, quote)
		return lines[0], reindented(lines[1:], indent+e.step)
	case len(n.entries) == 0:
		return emptyText(n), nil
	}
	for _, entry := range n.entries {
		if entry.source != nil && !entry.source.keyStays {
			e.noteAdded(entry)
		}
		rest = append(rest, e.entryLines(entry, n.kind, below)...)
	}
	return "", rest
}

// reuse takes the text of a value that moves here without its key.
func (e *editor) reuse(source *entry, indent, below int) (first string, rest []string, ok bool) {
	v := source.value
	text := e.text[v.start:v.end]
	if v.flow {
		if v.quote == 0 && !e.ownLines(source) && strings.Contains(text, "\n") {
			return "", nil, false
		}
		lines := strings.Split(e.moved(v.start, v.end, func() {}), "\n")
		from := indentOf(e.text, source.start)
		if !e.ownLines(source) {
			line := e.text[lineStart(e.text, source.start):]
			from = len(line) - len(strings.TrimLeft(line, " "))
		}
		return lines[0], reindented(lines[1:], indent-from), true
	}
	if strings.HasPrefix(text, "&") || strings.HasPrefix(text, "!") {
		return "", nil, false
	}
	column := indentOf(e.text, v.start)
	lines := strings.Split(spaces(column)+e.moved(v.start, v.end, func() {}), "\n")
	return "", reindented(lines, below-column), true
}

func emptyText(n *node) string {
	if n.kind == sequence {
		return "[]"
	}
	return "{}"
}

// scalar returns the lines of a scalar in a block collection, the first one for the line of the
// key, the others not indented. Quote is the style to keep if possible.
func (e *editor) scalar(n *node, quote byte) []string {
	if s, ok := n.str(); ok {
		printable := !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
		switch {
		case quote == '"' && printable:
			return []string{quoted(s)}
		case quote == '\'' && printable:
			return []string{"'" + strings.ReplaceAll(s, "'", "''") + "'"}
		}
	}
	text, err := yamljson.FromJSON([]byte(n.raw))
	if err != nil {
		e.refuse(err.Error())
		return []string{""}
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(lines) > 1 {
		by := len(lines[1]) - len(strings.TrimLeft(lines[1], " "))
		reindented(lines[1:], -by)
	}
	return lines
}

// key returns the text of a key. Like is how the one at its place begins.
func (e *editor) key(name string, like byte) string {
	if e.json || like == '"' {
		return quoted(name)
	}
	lines := e.scalar(&node{raw: quoted(name)}, like)
	if len(lines) > 1 {
		return quoted(name)
	}
	return lines[0]
}
