package syntax

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// A source is the text of a file, indexed to turn positions into bytes and back.
type source struct {
	name  string
	text  string
	lines []int // the byte at which each line starts
	marks []int // the byte of every markEvery-th character: a file may be a single line with many findings
}

const markEvery = 256

func newSource(name string, text []byte) *source {
	s := &source{name: name, text: string(text), lines: finding.LineStarts(string(text)), marks: []int{0}}
	if strings.HasPrefix(s.text, "\ufeff") {
		s.lines[0] = len("\ufeff") // the YAML parser does not count a byte order mark
	}
	count := 0
	for at := range s.text {
		if count > 0 && count%markEvery == 0 {
			s.marks = append(s.marks, at)
		}
		count++
	}
	return s
}

// offset returns the byte at a line and column, or -1 if the text has no such place.
func (s *source) offset(line, column int) int {
	if line < 1 || line > len(s.lines) {
		return -1
	}
	count := s.charactersBefore(s.lines[line-1]) + column - 1
	if count/markEvery >= len(s.marks) {
		return -1
	}
	at := s.marks[count/markEvery]
	for range count % markEvery {
		if at >= len(s.text) {
			return -1
		}
		_, size := utf8.DecodeRuneInString(s.text[at:])
		at += size
	}
	return at
}

// position returns the position of a byte.
func (s *source) position(offset int) Position {
	line := sort.SearchInts(s.lines, offset+1)
	column := s.charactersBefore(offset) - s.charactersBefore(s.lines[line-1]) + 1
	return Position{File: s.name, Line: line, Column: column}
}

func (s *source) charactersBefore(offset int) int {
	mark := sort.SearchInts(s.marks, offset+1) - 1
	return mark*markEvery + utf8.RuneCountInString(s.text[s.marks[mark]:offset])
}

// of returns the position at which a node starts.
func (s *source) of(n *yaml.Node) Position {
	return Position{File: s.name, Line: n.Line, Column: n.Column}
}

// An origin finds the characters of a scalar in its file. The zero origin finds nothing.
type origin struct {
	source *source
	node   *yaml.Node
}

// at returns the position of a byte of the scalar's value, or that of the scalar if the byte cannot
// be found.
func (o origin) at(offset int) Position {
	if o.node == nil {
		return Position{}
	}
	start := o.source.of(o.node)
	raw := o.source.offset(o.node.Line, o.node.Column)
	if raw < 0 || raw >= len(o.source.text) {
		return start
	}
	w := walker{text: o.source.text, at: raw, style: o.node.Style}
	if !w.enter() || !w.walk(o.node.Value, offset) {
		return start
	}
	return o.source.position(w.at)
}

// span returns the position of byte from, and the column of byte to if it is in the same line, else
// 0.
func (o origin) span(from, to int) (start Position, endColumn int) {
	start = o.at(from)
	if end := o.at(to); end.Line == start.Line && end.Column > start.Column {
		endColumn = end.Column
	}
	return start, endColumn
}

// A walker goes through the text of a scalar and its value side by side.
type walker struct {
	text  string
	at    int
	style yaml.Style
}

// enter goes to the first character of the value.
func (w *walker) enter() bool {
	switch {
	case w.style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0:
		w.at++
	case w.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		line := strings.IndexByte(w.text[w.at:], '\n')
		if line < 0 {
			return false
		}
		w.at += line + 1
		w.at += len(w.text[w.at:]) - len(strings.TrimLeft(w.text[w.at:], " "))
	}
	return true
}

// walk goes on to byte offset of the value. It is false if the text and the value do not match.
func (w *walker) walk(value string, offset int) bool {
	for i, r := range value {
		if !isSpace(r) {
			w.skipSpace()
		}
		if i >= offset {
			return true
		}
		got, size := w.next()
		if got != r && (!isSpace(r) || !isSpace(got)) {
			return false
		}
		w.at += size
	}
	return offset >= len(value)
}

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' }

// skipSpace skips white space and, in double quotes, the backslash that joins two lines.
func (w *walker) skipSpace() {
	for ; w.at < len(w.text); w.at++ {
		rest := w.text[w.at:]
		joins := w.style&yaml.DoubleQuotedStyle != 0 && (strings.HasPrefix(rest, "\\\n") || strings.HasPrefix(rest, "\\\r"))
		if !joins && !isSpace(rune(rest[0])) {
			return
		}
	}
}

// next returns the next character of the value, and how many bytes of the text spell it.
func (w *walker) next() (char rune, size int) {
	rest := w.text[w.at:]
	switch {
	case w.style&yaml.SingleQuotedStyle != 0 && strings.HasPrefix(rest, "''"):
		return '\'', 2
	case w.style&yaml.DoubleQuotedStyle != 0 && strings.HasPrefix(rest, `\`):
		return escape(rest)
	}
	return utf8.DecodeRuneInString(rest)
}

// escape reads an escape of YAML's double quotes (YAML 1.2, section 5.7). Go lacks a few of them.
func escape(text string) (char rune, size int) {
	const names, chars = "0e/N_LP \t", "\x00\x1b/\u0085\u00a0\u2028\u2029 \t"
	if len(text) > 1 {
		if i := strings.IndexByte(names, text[1]); i >= 0 {
			return []rune(chars)[i], 2
		}
	}
	char, _, tail, err := strconv.UnquoteChar(text, '"')
	if err != nil {
		return utf8.RuneError, 0
	}
	return char, len(text) - len(tail)
}
