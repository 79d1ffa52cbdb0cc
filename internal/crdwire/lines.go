package crdwire

import (
	"bytes"
	"unicode/utf8"
)

// A source is a text with an index of its lines, which count from 1 and end where the YAML parser
// ends them.
type source struct {
	text  []byte
	start []int // of each line, and of the one behind the last
}

func newSource(text []byte) *source {
	s := &source{text: text, start: []int{0}}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		i += size
		switch r {
		case '\r':
			if i < len(text) && text[i] == '\n' {
				i++
			}
			s.start = append(s.start, i)
		case '\n', '\u0085', '\u2028', '\u2029':
			s.start = append(s.start, i)
		}
	}
	if s.start[len(s.start)-1] != len(text) {
		s.start = append(s.start, len(text))
	}
	return s
}

func (s *source) lines() int { return len(s.start) - 1 }

// line returns a line without its end.
func (s *source) line(n int) []byte {
	return bytes.TrimRight(s.text[s.start[n-1]:s.start[n]], "\r\n\u0085\u2028\u2029")
}

// end returns the offset of a line's end.
func (s *source) end(n int) int { return s.start[n-1] + len(s.line(n)) }

// offset returns the offset of a line and column of the parser; columns count characters from 1.
func (s *source) offset(line, column int) int {
	at := s.start[line-1]
	for range column - 1 {
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at
}

// eol returns the line end of the text.
func (s *source) eol() string {
	if bytes.Contains(s.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// tokenEnd returns the offset after the quoted text, the object or the list that begins at an
// offset, or -1.
func (s *source) tokenEnd(at int) int {
	depth := 0
	for i := at; i < len(s.text); i++ {
		switch c := s.text[i]; c {
		case '"', '\'':
			if i = s.quoteEnd(i); i < 0 {
				return -1
			}
			i--
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '#':
			if i > at && (s.text[i-1] == ' ' || s.text[i-1] == '\t' || s.text[i-1] == '\n') {
				next := bytes.IndexByte(s.text[i:], '\n')
				if next < 0 {
					return -1
				}
				i += next
			}
		default:
			if depth == 0 {
				return -1
			}
		}
		if depth == 0 {
			return i + 1
		}
	}
	return -1
}

// quoteEnd returns the offset after the quoted text that begins at an offset, or -1.
func (s *source) quoteEnd(at int) int {
	quote := s.text[at]
	for i := at + 1; i < len(s.text); i++ {
		switch {
		case s.text[i] == '\\' && quote == '"':
			i++
		case s.text[i] == quote && quote == '\'' && i+1 < len(s.text) && s.text[i+1] == quote:
			i++
		case s.text[i] == quote:
			return i + 1
		}
	}
	return -1
}
