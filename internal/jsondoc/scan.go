package jsondoc

import (
	"bytes"
	"math"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of arrays and objects that one Kubernetes object may have; the object itself is the
// first level. The API server's own decoder stops at 10000; real objects stay below 100.
const MaxDepth = 512

const (
	stackWords = 16      // bounds the depth of any scan: a bit a level tells an object from an array
	maxMembers = 1 << 18 // bounds the members whose names are compared, and so the memory that they cost
	fewMembers = 32      // up to which names are compared with each other and not kept in a map
)

// A Span is a piece of a document: the bytes from Start up to, not including, End.
type Span struct{ Start, End uint32 }

// A Scanner reads JSON text (RFC 8259) from front to back, validates it and says where its values stand. It does not
// recurse, so hostile nesting costs no stack.
type Scanner struct {
	text            []byte
	pos             int
	depth, maxDepth int
	nameAt          Span     // the name that Members read last, escapes and all
	names           [][]byte // of the objects that Members has open, one behind the other
}

// NewScanner returns a scanner at the start of text that allows maxDepth levels of nesting, at most 1024. It fails on
// text that is not UTF-8 or has 2 GiB. The text must not change while anything made from it is in use.
func NewScanner(text []byte, maxDepth int) (Scanner, error) {
	s := Scanner{text: text, maxDepth: min(maxDepth, stackWords*64)}
	if len(text) > math.MaxInt32 {
		return s, &SyntaxError{math.MaxInt32, "text of 2 GiB or more"}
	}
	if !utf8.Valid(text) {
		return s, &SyntaxError{firstInvalidUTF8(text), "invalid UTF-8"}
	}
	s.pos = s.space(0)
	return s, nil
}

// Text returns the bytes of a span.
func (s *Scanner) Text(at Span) []byte { return s.text[at.Start:at.End:at.End] }

// Kind tells what the value at the scanner's place is, by its first byte.
func (s *Scanner) Kind() Kind { return kindOf(s.at(s.pos)) }

// Skip validates the value at the scanner's place, moves behind it and returns where it stands.
func (s *Scanner) Skip() (Span, error) {
	start, err := s.pos, error(nil)
	s.pos, err = s.value(start)
	return span(start, s.pos), err
}

// End fails unless nothing but white space is left.
func (s *Scanner) End() error {
	if i := s.space(s.pos); i != len(s.text) {
		return &SyntaxError{i, "data after the end of the document"}
	}
	return nil
}

// Members reads the object at the scanner's place and calls visit for each member with the scanner at its value, which
// visit must move the scanner over. The unescaped name is good until visit returns. A repeated name is an error.
func (s *Scanner) Members(visit func(name []byte) error) error { return s.each('{', '}', visit) }

// Elements reads the array at the scanner's place and calls visit for each element with the scanner at it; visit must
// move the scanner over it.
func (s *Scanner) Elements(visit func() error) error {
	return s.each('[', ']', func([]byte) error { return visit() })
}

func (s *Scanner) each(opening, closing byte, visit func(name []byte) error) error {
	if s.at(s.pos) != opening {
		return s.unexpected(s.pos)
	}
	if s.depth++; s.depth > s.maxDepth {
		return s.tooDeep(s.pos)
	}
	seen := nameSet{}
	first := len(s.names)
	i := s.space(s.pos + 1)
	for more := s.at(i) != closing; more; {
		var name []byte
		s.pos = i
		if opening == '{' {
			end, value, err := s.name(i)
			if err != nil {
				return err
			}
			s.pos, s.nameAt = value, span(i+1, end-1)
			name = unescaped(s.Text(s.nameAt))
			if len(s.names)-first == maxMembers {
				return &SyntaxError{i, "too many members in one object"}
			}
			if seen.repeats(name, s.names[first:]) {
				return &SyntaxError{i, "duplicate name"}
			}
			s.names = append(s.names, name)
		}
		if err := visit(name); err != nil {
			return err
		}
		i = s.space(s.pos)
		if more = s.at(i) == ','; more {
			i = s.space(i + 1)
		} else if s.at(i) != closing {
			return s.unexpected(i)
		}
	}
	s.names, s.pos = s.names[:first], i+1
	s.depth--
	return nil
}

// value validates the value at i and returns the place behind it. The kinds of the open containers are a bit stack: no
// recursion for hostile nesting to exhaust (the class of CVE-2019-11253), and fast (BenchmarkScan).
func (s *Scanner) value(i int) (int, error) {
	var inObject [stackWords]uint64
	open := uint(0)
	for {
		var err error
		switch c := s.at(i); c {
		case '"':
			i, err = s.str(i)
		case '{', '[':
			if s.depth+int(open) >= s.maxDepth { //nolint:gosec // open is at most maxDepth
				return i, s.tooDeep(i)
			}
			bit := uint64(c&0x20) >> 5 // '{' is 0x7b, '[' is 0x5b
			word := &inObject[open/64%stackWords]
			*word = *word&^(1<<(open%64)) | bit<<(open%64)
			open++
			i = s.space(i + 1)
			if s.at(i) == c+2 { // the closing brace or bracket
				break
			}
			if bit != 0 {
				_, i, err = s.name(i)
			}
			if err != nil {
				return i, err
			}
			continue
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			i, err = s.number(i)
		case 't':
			i, err = s.literal(i, "true")
		case 'f':
			i, err = s.literal(i, "false")
		case 'n':
			i, err = s.literal(i, "null")
		default:
			err = s.unexpected(i)
		}
		if err != nil {
			return i, err
		}
		for { // Behind a value: close the containers that end here, then step to the next value.
			if open == 0 {
				return i, nil
			}
			i = s.space(i)
			object := inObject[(open-1)/64%stackWords]>>((open-1)%64)&1 != 0
			if c := s.at(i); c == ',' {
				i = s.space(i + 1)
				if object {
					_, i, err = s.name(i)
				}
				break
			} else if object && c != '}' || !object && c != ']' {
				return i, s.unexpected(i)
			}
			i++
			open--
		}
		if err != nil {
			return i, err
		}
	}
}

// nameSet finds a repeated name among the members of one object. The filter spares most comparisons of few names; a map
// keeps the comparing of many linear.
type nameSet struct {
	filter uint64
	many   map[string]bool
}

func (set *nameSet) repeats(name []byte, before [][]byte) bool {
	if len(before) < fewMembers {
		bit := uint64(1) << (len(name) * 7 & 63)
		if len(name) > 0 {
			bit = 1 << ((len(name)*7 + int(name[0]) + int(name[len(name)-1])*31) & 63)
		}
		hit := set.filter&bit != 0
		set.filter |= bit
		return hit && contains(before, name)
	}
	if set.many == nil {
		set.many = make(map[string]bool, 4*fewMembers)
		for _, b := range before {
			set.many[string(b)] = true
		}
	}
	found := set.many[string(name)]
	set.many[string(name)] = true
	return found
}

func contains(names [][]byte, name []byte) bool {
	for _, n := range names {
		if bytes.Equal(n, name) {
			return true
		}
	}
	return false
}
