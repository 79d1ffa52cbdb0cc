package yamledit

import (
	"cmp"
	"slices"
	"strings"
)

// A Change is what happens to one member or element.
type Change struct {
	Verb string // add, remove, set, rename or move
	Path string // where it is in the new value, or was if it is removed
	From string // where it was before a rename or move
}

// String returns the change in words.
func (c Change) String() string {
	if c.From != "" {
		return c.Verb + " " + c.From + " to " + c.Path
	}
	return c.Verb + " " + c.Path
}

// An edit replaces a range of the text.
type edit struct {
	start, end int
	text       string
}

// A span is a range of the text.
type span struct{ start, end int }

// An editor finds the edits of one document.
type editor struct {
	text string
	json bool
	eol  string
	root *node

	step        int  // of an indentation
	seqIndented bool // lists are indented in the mapping around them

	sources map[string][]*entry // old entries that are gone from their place, by objectOf
	wanted  []*entry            // new entries that may have a source

	edits   []edit
	inner   []edit // within text that moves
	carried []span // text that moves
	changes []Change
	lost    []int
	refused []string
	// refusedLine is the line of a template, or 0.
	refusedLine int
}

func newEditor(f *File, root *node) *editor {
	e := &editor{text: f.text, json: f.json, eol: "\n", root: root, step: 2, sources: map[string][]*entry{}}
	if strings.HasSuffix(f.text[:nextLine(f.text, 0)], "\r\n") {
		e.eol = "\r\n"
	}
	e.learn(root, -1)
	return e
}

// learn finds the style of the document: how far it indents.
func (e *editor) learn(n *node, indent int) (found bool) {
	if n.flow || len(n.entries) == 0 || n.entries[0].merged {
		return false
	}
	at := indentOf(e.text, n.entries[0].start)
	if n.kind == sequence && indent >= 0 {
		e.seqIndented = at > indent
		return true
	}
	for _, entry := range n.entries {
		if entry.value.kind == mapping && !entry.merged && !entry.value.flow && n.kind == mapping && len(entry.value.entries) > 0 {
			if by := indentOf(e.text, entry.value.entries[0].start) - at; by > 0 {
				e.step = by
			}
		}
	}
	for _, entry := range n.entries {
		if !entry.merged && e.learn(entry.value, at) {
			return true
		}
	}
	return false
}

func (e *editor) refuse(problem string) { e.refused = append(e.refused, problem) }

// run finds the edits that give the document another value.
func (e *editor) run(before, after *node) error {
	after.setPaths("")
	old, changed := &entry{value: before}, &entry{value: after}
	e.compare(old, changed)
	if before.plan == nil && !equal(before, after) {
		e.refuse(errUneditable)
	}
	if len(e.refused) == 0 && before.plan != nil {
		e.match()
		e.value(old, changed)
		for i := range e.edits {
			e.edits[i].text = strings.ReplaceAll(e.edits[i].text, "\n", e.eol)
		}
		e.account()
	}
	if len(e.refused) == 0 {
		return nil
	}
	slices.Sort(e.refused)
	return &EditError{Line: e.refusedLine, Problem: strings.Join(slices.Compact(e.refused), "; ")}
}

func (e *editor) note(verb, path, from string) {
	e.changes = append(e.changes, Change{verb, path, from})
}

func (e *editor) replace(start, end int, text string) {
	if start != end || text != "" {
		e.edits = append(e.edits, edit{start, end, text})
	}
}

// moved returns the text of a range that moves elsewhere, after the edits that change makes,
// with LF as line ends.
func (e *editor) moved(start, end int, change func()) string {
	outside := e.edits
	e.edits = nil
	change()
	within := e.edits
	e.edits = outside
	e.inner = append(e.inner, within...)
	e.carried = append(e.carried, span{start, end})
	text, ok := spliced(e.text, start, end, within)
	if !ok {
		e.refuse(errUneditable)
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

// spliced returns a range of the text after the edits, which must be within it and not overlap.
func spliced(text string, start, end int, edits []edit) (string, bool) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b edit) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return min(a.end-a.start, 1) - min(b.end-b.start, 1) // insertions first
	})
	var out strings.Builder
	at := start
	for _, edit := range sorted {
		if edit.start < at || edit.end < edit.start || edit.end > end {
			return "", false
		}
		out.WriteString(text[at:edit.start])
		out.WriteString(edit.text)
		at = edit.end
	}
	out.WriteString(text[at:end])
	return out.String(), true
}

// account lists comments that are lost, and refuses a template that is not kept whole.
func (e *editor) account() {
	for _, comment := range e.comments() {
		if e.gone(comment) {
			e.lost = append(e.lost, 1+strings.Count(e.text[:comment.start], "\n"))
		}
	}
	e.root.scalars(func(n *node) {
		if strings.Contains(e.text[n.start:n.end], "{{") && e.gone(span{n.start, n.end}) {
			e.refusedLine = cmp.Or(e.refusedLine, 1+strings.Count(e.text[:n.start], "\n"))
			e.refuse("a template in a value that changes ({{): convert what it renders to, or change it by hand")
		}
	})
}

// gone reports whether a range of the old text is not in the new one: the smallest edit or move
// around it is an edit.
func (e *editor) gone(part span) bool {
	smallest, gone := len(e.text)+1, false
	around := func(start, end int, edit bool) {
		if start <= part.start && part.end <= end && end-start < smallest {
			smallest, gone = end-start, edit
		}
	}
	for _, move := range e.carried {
		around(move.start, move.end, false)
	}
	for _, list := range [][]edit{e.edits, e.inner} {
		for _, edit := range list {
			around(edit.start, edit.end, true)
		}
	}
	return gone
}

// scalars visits the scalars that have text.
func (n *node) scalars(visit func(*node)) {
	if n.kind == scalar && n.fixed == "" {
		visit(n)
	}
	if n.fixed != "" {
		return
	}
	for _, entry := range n.entries {
		if !entry.merged {
			entry.value.scalars(visit)
		}
	}
}

// comments returns where comments are in the document: in the text between keys and scalars.
func (e *editor) comments() []span {
	texts := e.root.texts(nil)
	end := e.root.end
	for end < len(e.text) { // comments behind the last value
		line := strings.TrimLeft(e.text[end:lineEnd(e.text, end)], " \t")
		if line != "" && line[0] != '#' {
			break
		}
		end = nextLine(e.text, end)
	}
	texts = append(texts, span{end, end})
	slices.SortFunc(texts, func(a, b span) int { return a.start - b.start })
	var found []span
	at := e.root.start
	for _, text := range texts {
		for at < text.start {
			hash := strings.IndexByte(e.text[at:text.start], '#')
			if hash < 0 {
				break
			}
			at += hash
			if at > 0 && !strings.ContainsRune(" \t\n", rune(e.text[at-1])) {
				at++
				continue
			}
			stop := lineEnd(e.text, at)
			found = append(found, span{at, stop})
			at = stop
		}
		at = max(at, text.end)
	}
	return found
}

// texts appends the ranges of keys and scalars.
func (n *node) texts(all []span) []span {
	if n.kind == scalar || n.fixed != "" {
		return append(all, span{n.start, n.end})
	}
	for _, entry := range n.entries {
		if !entry.merged {
			all = entry.value.texts(append(all, span{entry.start, entry.keyEnd}))
		}
	}
	return all
}
