package yamledit

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/document/yamljson"
)

// A builder makes the tree of a YAML document. The parser says where a value begins; where it
// ends follows from its children and its style.
type builder struct {
	document yamljson.Document
	text     string
	lines    []int
}

func (b *builder) fail(line int, problem string) error {
	return &EditError{Line: line, Problem: problem}
}

// offset returns the offset of a node's text.
func (b *builder) offset(n *yaml.Node) (int, error) {
	if n.Line < 1 || n.Line > len(b.lines) {
		return 0, b.fail(n.Line, errUneditable)
	}
	at := b.lines[n.Line-1]
	for range n.Column - 1 {
		if at >= len(b.text) {
			return 0, b.fail(n.Line, errUneditable)
		}
		_, size := utf8.DecodeRuneInString(b.text[at:])
		at += size
	}
	return at, nil
}

// indentOf returns how far an offset is from the start of its line.
func indentOf(text string, at int) int { return at - lineStart(text, at) }

// node builds a value. Indent is that of the collection around it, or -1.
func (b *builder) node(n *yaml.Node, indent int) (*node, error) {
	start, err := b.offset(n)
	if err != nil {
		return nil, err
	}
	target := n
	if n.Kind == yaml.AliasNode {
		target = n.Alias
	}
	if n.Kind == yaml.AliasNode || target.Kind == yaml.ScalarNode {
		value, err := b.resolved(n)
		if err != nil {
			return nil, err
		}
		value.start, value.end = start, b.scalarEnd(n, start, indent)
		if n.Kind == yaml.AliasNode {
			value.fixed = errAnchor
			return value, nil
		}
		value.flow = true
		value.quote = quoteOf(n)
		return value, nil
	}
	made := &node{start: start, flow: n.Style&yaml.FlowStyle != 0}
	if n.Kind == yaml.SequenceNode {
		made.kind = sequence
		err = b.sequence(made, n, indent)
	} else {
		made.kind = mapping
		err = b.mapping(made, n, indent)
	}
	if err != nil {
		return nil, err
	}
	made.end = start
	for _, e := range made.entries {
		if !e.merged {
			made.end = max(made.end, e.end())
		}
	}
	if made.flow {
		return made, b.closeFlow(made, n)
	}
	return made, nil
}

// resolved returns the value of a scalar, an alias or a merged member, which has no text of its
// own.
func (b *builder) resolved(n *yaml.Node) (*node, error) {
	raw, err := b.document.JSON(n, maxDepth)
	if err != nil {
		return nil, err
	}
	if n.Kind == yaml.ScalarNode {
		return &node{raw: string(raw)}, nil
	}
	value, err := parseValue(raw)
	if err == nil {
		value.clearText()
	}
	return value, err
}

// clearText removes positions that are not those of the file.
func (n *node) clearText() {
	n.start, n.end, n.flow, n.quote = 0, 0, false, 0
	for _, e := range n.entries {
		e.start, e.keyEnd, e.after = 0, 0, 0
		e.value.clearText()
	}
}

func quoteOf(n *yaml.Node) byte {
	switch n.Style &^ yaml.TaggedStyle { //nolint:exhaustive // the others are plain
	case yaml.DoubleQuotedStyle:
		return '"'
	case yaml.SingleQuotedStyle:
		return '\''
	case yaml.LiteralStyle:
		return '|'
	case yaml.FoldedStyle:
		return '>'
	}
	return 0
}

func (b *builder) mapping(made *node, n *yaml.Node, indent int) error {
	members, err := yamljson.Members(n)
	if err != nil {
		return err
	}
	own := make(map[*yaml.Node]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		own[n.Content[i]] = true
	}
	column := -1
	for _, m := range members {
		e := &entry{name: m.Name, merged: !own[m.Key]}
		made.entries = append(made.entries, e)
		if e.merged {
			if e.value, err = b.resolved(m.Value); err != nil {
				return err
			}
			e.value.fixed = errAnchor
			continue
		}
		if e.start, err = b.offset(m.Key); err != nil {
			return err
		}
		e.keyEnd = b.scalarEnd(m.Key, e.start, indent)
		if e.after, err = b.colon(e, m.Key, made.flow); err != nil {
			return err
		}
		if !made.flow {
			if at := indentOf(b.text, e.start); column < 0 {
				column = at
			} else if at != column {
				return b.fail(m.Key.Line, errUneditable)
			}
		}
		if err := b.value(e, m.Value, column); err != nil {
			return err
		}
	}
	return nil
}

// colon returns the offset behind the colon after a key.
func (b *builder) colon(e *entry, key *yaml.Node, flow bool) (int, error) {
	at := skipBlanks(b.text, e.keyEnd)
	switch {
	case at < len(b.text) && b.text[at] == ':':
		return at + 1, nil
	case flow: // a key without a value
		return 0, b.fail(key.Line, "a key without a colon, write KEY: VALUE")
	}
	return 0, b.fail(key.Line, "a key behind a question mark, write KEY: VALUE")
}

func skipBlanks(text string, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// value builds the value of an entry. The parser gives values without text no useful position.
func (b *builder) value(e *entry, n *yaml.Node, indent int) (err error) {
	if n.Kind == yaml.ScalarNode && n.Value == "" && n.Style == 0 && n.Anchor == "" {
		e.value = &node{raw: "null", start: e.after, end: e.after, flow: true}
		return nil
	}
	e.value, err = b.node(n, indent)
	return err
}

func (b *builder) sequence(made *node, n *yaml.Node, indent int) error {
	for _, child := range n.Content {
		start, err := b.offset(child)
		if err != nil {
			return err
		}
		e := &entry{start: start, after: start}
		made.entries = append(made.entries, e)
		if !made.flow {
			dash, ok := b.dash(start)
			if !ok {
				return b.fail(child.Line, errUneditable)
			}
			e.start, e.after = dash, dash+1
			indent = indentOf(b.text, dash)
		}
		e.keyEnd = e.after
		if err := b.value(e, child, indent); err != nil {
			return err
		}
	}
	return nil
}

// dash finds the dash before an element.
func (b *builder) dash(at int) (int, bool) {
	for {
		begin := lineStart(b.text, at)
		before := b.text[begin:at]
		if at < len(b.text) && strings.HasPrefix(strings.TrimLeft(before, " \t"), "#") {
			before = ""
		} else if hash := strings.Index(before, " #"); hash >= 0 {
			before = before[:hash]
		}
		if before = strings.TrimRight(before, " \t\r"); strings.HasSuffix(before, "-") {
			return begin + len(before) - 1, true
		}
		if before != "" || begin == 0 {
			return 0, false
		}
		at = begin - 1
	}
}

func lineStart(text string, at int) int { return strings.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd returns the offset of the end of a line, before LF or CRLF.
func lineEnd(text string, at int) int {
	end := strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return len(text)
	}
	if end > 0 && text[at+end-1] == '\r' {
		end--
	}
	return at + end
}

// nextLine returns the offset of the next line.
func nextLine(text string, at int) int {
	end := strings.IndexByte(text[at:], '\n')
	if end < 0 {
		return len(text)
	}
	return at + end + 1
}

// closeFlow finds the end of a flow collection, behind its last child.
func (b *builder) closeFlow(made *node, n *yaml.Node) error {
	at := b.skipProperties(n, made.start)
	if at >= len(b.text) || b.text[at] != '{' && b.text[at] != '[' { // a pair in a flow sequence
		made.fixed = errUneditable
		return nil
	}
	end := max(made.end, at+1)
	for i := len(n.Content) - 1; i >= 0 && n.Kind == yaml.MappingNode; i-- { // merge keys
		if n.Content[i].Kind == yaml.AliasNode {
			if start, err := b.offset(n.Content[i]); err == nil {
				end = max(end, b.scalarEnd(n.Content[i], start, 0))
			}
		}
	}
	for end < len(b.text) {
		switch b.text[end] {
		case '}', ']':
			made.end = end + 1
			return nil
		case '#':
			end = lineEnd(b.text, end)
		case ' ', '\t', '\n', '\r', ',':
			end++
		default:
			return b.fail(n.Line, errUneditable)
		}
	}
	return b.fail(n.Line, errUneditable)
}
