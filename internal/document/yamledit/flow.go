package yamledit

import (
	"strings"
)

// A flowStyle is how a flow collection is written.
type flowStyle struct {
	quoted       bool // keys and strings, as in JSON
	colon, comma string
	broken       bool // entries have lines of their own
	prefix       string
	step         string // of an indentation
}

// styleOf finds the style of a flow collection, from its entries if it has some.
func (e *editor) styleOf(n *node) flowStyle {
	style := flowStyle{quoted: e.json, colon: ": ", comma: ", ", step: "  "}
	line := e.text[lineStart(e.text, n.start):]
	style.prefix = line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	model := n
	if len(n.entries) == 0 && e.json {
		model = e.root
	}
	if len(model.entries) == 0 {
		return style
	}
	first := model.entries[0]
	if model.kind == mapping {
		style.quoted = style.quoted || e.text[first.start] == '"'
		if gap := e.text[first.after:first.value.start]; strings.Trim(gap, " ") == "" && first.value.end > first.after {
			style.colon = ":" + gap
		}
	}
	if len(model.entries) > 1 {
		gap := e.text[first.end():model.entries[1].start]
		if comma := strings.TrimLeft(gap, " "); strings.HasPrefix(comma, ",") && strings.Trim(comma[1:], " ") == "" {
			style.comma = comma
		}
	} else if style.colon == ":" {
		style.comma = ","
	}
	begin := lineStart(e.text, first.start)
	outer := e.text[lineStart(e.text, model.start):]
	outer = outer[:len(outer)-len(strings.TrimLeft(outer, " \t"))]
	if indent := e.text[begin:first.start]; begin > model.start && strings.Trim(indent, " \t") == "" {
		style.broken = true
		if step, ok := strings.CutPrefix(indent, outer); ok && step != "" {
			style.step = step
		}
	}
	return style
}

// flow edits the entries of a flow collection.
func (e *editor) flow(old, changed *node) {
	p, style := old.plan, e.styleOf(old)
	if len(p.pairs) == 0 || old.entries[0].merged {
		for _, entry := range p.removed {
			e.noteRemoved(entry)
		}
		for _, entry := range p.added {
			if entry.source == nil {
				e.noteAdded(entry)
			}
		}
		e.replace(old.start, old.end, e.flowText(changed, style))
		return
	}
	var kept, first *entry // the last and the first one that stay
	for i, entry := range old.entries {
		match := p.pairs[entry]
		switch {
		case match != nil:
			e.keepFlow(entry, match)
			if first == nil {
				first = entry
			}
			kept = entry
		case kept != nil:
			e.noteRemoved(entry)
			e.replace(old.entries[i-1].end(), entry.end(), "")
		default:
			e.noteRemoved(entry)
			e.replace(entry.start, old.entries[i+1].start, "")
		}
	}
	for _, group := range p.insertions(changed) {
		var texts []string
		for _, added := range group.added {
			e.noteAdded(added)
			texts = append(texts, e.flowEntry(added, changed.kind, style.inner()))
		}
		gap := style.comma
		if style.broken {
			gap = ",\n" + style.prefix + style.step
		}
		text := strings.Join(texts, gap)
		if group.behind != nil {
			e.replace(group.behind.end(), group.behind.end(), gap+text)
		} else {
			e.replace(first.start, first.start, text+gap)
		}
	}
}

// keepFlow edits an entry of a flow collection that stays.
func (e *editor) keepFlow(old, match *entry) {
	if match.name != old.name {
		e.note("rename", match.path, old.path)
		e.replace(old.start, old.keyEnd, e.flowScalar(&node{raw: quoted(match.name)}, e.text[old.start] == '"'))
	}
	switch {
	case equal(old.value, match.value):
	case old.value.plan != nil:
		e.flow(old.value, match.value)
	default:
		e.note("set", match.path, "")
		text := e.flowText(match.value, e.styleOf(old.value))
		if old.empty() {
			text = " " + text
		}
		e.replace(old.value.start, old.value.end, text)
	}
}

// inner is the style of a collection in one of this style.
func (s flowStyle) inner() flowStyle {
	if s.broken {
		s.prefix += s.step
	}
	return s
}

// flowText returns the text of a value in a flow collection.
func (e *editor) flowText(n *node, style flowStyle) string {
	if n.kind == scalar {
		return e.flowScalar(n, style.quoted)
	}
	if len(n.entries) == 0 {
		return emptyText(n)
	}
	texts := make([]string, len(n.entries))
	for i, entry := range n.entries {
		if entry.source != nil && !entry.source.keyStays {
			e.noteAdded(entry)
		}
		texts[i] = e.flowEntry(entry, n.kind, style.inner())
	}
	begin, gap, end := "{", style.comma, "}"
	if n.kind == sequence {
		begin, end = "[", "]"
	}
	if style.broken {
		begin, gap, end = begin+"\n"+style.prefix+style.step, ",\n"+style.prefix+style.step, "\n"+style.prefix+end
	}
	return begin + strings.Join(texts, gap) + end
}

// flowEntry returns the text of an entry.
func (e *editor) flowEntry(added *entry, of kind, style flowStyle) string {
	text, ok := e.flowSource(added, style)
	if !ok {
		text = e.flowText(added.value, style)
	}
	if of == sequence {
		return text
	}
	return e.flowScalar(&node{raw: quoted(added.name)}, style.quoted) + style.colon + text
}

// flowSource takes the text of a value that moves here.
func (e *editor) flowSource(added *entry, style flowStyle) (string, bool) {
	source := added.source
	if source == nil || !equal(source.value, added.value) || source.empty() || !source.value.flow {
		return "", false
	}
	v := source.value
	text := e.text[v.start:v.end]
	line := e.text[lineStart(e.text, v.start):]
	prefix := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	switch broken := strings.Contains(text, "\n"); {
	case broken && !e.json, v.kind == scalar && v.quote != '"' && v.quote != '\'' && e.ownLines(source):
		return "", false
	case broken:
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n"+prefix, "\n"+style.prefix)
	}
	e.carried = append(e.carried, span{v.start, v.end})
	return text, true
}

// flowScalar returns the text of a scalar in a flow collection.
func (e *editor) flowScalar(n *node, quotedStrings bool) string {
	_, isString := n.str()
	if e.json || quotedStrings && isString {
		return n.raw
	}
	lines := e.scalar(n, 0)
	if len(lines) > 1 || strings.ContainsAny(lines[0], ",[]{}#:&*!|>%@`\\\"' ") && isString {
		return n.raw
	}
	return lines[0]
}
