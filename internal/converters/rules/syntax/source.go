package syntax

import (
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// A source is the text of a file with the start of each of its lines.
type source struct {
	name  string
	text  string
	lines []int         // the byte at which each line starts
	marks map[int][]int // by line: the bytes of each character of which a number of markEvery ones come before, from the first on
}

// markEvery is how many characters there are between two marks of a long line: a file may be a single line, with many findings.
const markEvery = 256

func newSource(name string, text []byte) *source {
	s := &source{name: name, text: string(text)}
	start := 0
	for _, line := range finding.SplitLines(s.text) {
		s.lines = append(s.lines, start)
		start += len(line)
		_, size := utf8.DecodeRuneInString(s.text[start:])
		start += size
		if strings.HasPrefix(s.text[start:], "\n") && s.text[start-1] == '\r' {
			start++
		}
	}
	for i := range s.lines {
		s.mark(i + 1)
	}
	return s
}

// offset returns the byte at a line and column, and -1 if there is none.
func (s *source) offset(line, column int) int {
	if line < 1 || line > len(s.lines) {
		return -1
	}
	at := s.lines[line-1]
	if line == 1 && strings.HasPrefix(s.text, "\ufeff") {
		at += len("\ufeff") // the YAML parser does not count a byte order mark
	}
	left := column - 1
	if marks := s.marks[line]; left/markEvery < len(marks) {
		at, left = marks[left/markEvery], left%markEvery
	} else if len(marks) > 0 {
		at, left = marks[len(marks)-1], left-(len(marks)-1)*markEvery
	}
	for range left {
		if at >= len(s.text) {
			return -1
		}
		_, size := utf8.DecodeRuneInString(s.text[at:])
		at += size
	}
	return at
}

// mark makes the marks of a line, if it is long.
func (s *source) mark(line int) {
	at, end := s.lines[line-1], len(s.text)
	if line < len(s.lines) {
		end = s.lines[line]
	}
	if end-at <= markEvery {
		return
	}
	if line == 1 && strings.HasPrefix(s.text, "\ufeff") {
		at += len("\ufeff")
	}
	var marks []int
	for n := 0; at < end; n++ {
		if n%markEvery == 0 {
			marks = append(marks, at)
		}
		_, size := utf8.DecodeRuneInString(s.text[at:])
		at += size
	}
	if s.marks == nil {
		s.marks = map[int][]int{}
	}
	s.marks[line] = marks
}

// position returns the position of a byte.
func (s *source) position(offset int) Position {
	line := sort.Search(len(s.lines), func(i int) bool { return s.lines[i] > offset })
	start := s.lines[line-1]
	if line == 1 && strings.HasPrefix(s.text, "\ufeff") {
		start += len("\ufeff")
	}
	before := 0
	marks := s.marks[line]
	if i := sort.Search(len(marks), func(i int) bool { return marks[i] > offset }); i > 0 {
		start, before = marks[i-1], (i-1)*markEvery
	}
	column := before + utf8.RuneCountInString(s.text[min(start, offset):offset]) + 1
	return Position{File: s.name, Line: line, Column: column}
}

// of returns the position at which a node starts.
func (s *source) of(n *yaml.Node) Position {
	return Position{File: s.name, Line: n.Line, Column: n.Column}
}

// An origin tells where the characters of a scalar stand in its file. The zero origin does not know.
type origin struct {
	source *source
	node   *yaml.Node
}

// at returns the position of a byte of the scalar's value, or of the scalar where that cannot be told.
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

// walk goes on to byte offset of the value. It is false where text and value do not run alike.
func (w *walker) walk(value string, offset int) bool {
	for i, r := range value {
		if !isSpace(r) {
			w.skipSpace()
		}
		if i >= offset {
			return true
		}
		got, size := w.next()
		switch {
		case got == r:
			w.at += size
		case isSpace(r) && isSpace(got):
			w.at += size
		default:
			return false
		}
	}
	return offset >= len(value)
}

func isSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' }

// skipSpace goes over white space, and in double quotes over the backslash that joins two lines.
func (w *walker) skipSpace() {
	for w.at < len(w.text) {
		rest := w.text[w.at:]
		if w.style&yaml.DoubleQuotedStyle != 0 && (strings.HasPrefix(rest, "\\\n") || strings.HasPrefix(rest, "\\\r")) {
			w.at++
			continue
		}
		if !isSpace(rune(rest[0])) {
			return
		}
		w.at++
	}
}

// next returns the character of the value that the text spells next, and how many bytes that takes.
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

// escape reads an escape of YAML's double quotes (YAML 1.2, section 5.7).
func escape(text string) (char rune, size int) {
	if len(text) < 2 {
		return utf8.RuneError, 0
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[text[1]]
	if digits == 0 {
		const names, chars = "0abtnvfre\"/\\N_LP ", "\x00\a\b\t\n\v\f\r\x1b\"/\\\u0085\u00a0\u2028\u2029 "
		if i := strings.IndexByte(names, text[1]); i >= 0 {
			return []rune(chars)[i], 2
		}
		return utf8.DecodeRuneInString(text[1:])
	}
	if len(text) < 2+digits {
		return utf8.RuneError, 0
	}
	code, err := strconv.ParseInt(text[2:2+digits], 16, 32)
	if err != nil {
		return utf8.RuneError, 0
	}
	return rune(code), 2 + digits
}
