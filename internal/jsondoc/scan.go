package jsondoc

import (
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of arrays and objects that one Kubernetes object may have; the object itself is the
// first level. The API server's own decoder stops at 10000; real objects stay below 100.
const MaxDepth = 512

const (
	scanDepth    = 1024    // bounds the depth of any scan: a bit a level tells an object from an array
	maxMembers   = 1 << 18 // bounds the members whose names are compared, and so the memory that they cost
	fewMembers   = 32      // up to which names are compared with each other and not kept in a map
	manyNames    = 4096    // in one object, from which on the memory that they take is asked for
	nameSize     = 64      // bytes that a name in a map takes
	repeatedName = "duplicate name"
	tooDeep      = "nested too deep, an object may have 512 levels"
)

// A SyntaxError says where text stops being the JSON that this package accepts. It never quotes the text.
type SyntaxError struct {
	Offset  int    // the place of the problem, in bytes from the start of the text
	Problem string // what is wrong there
}

// Error implements error.
func (e *SyntaxError) Error() string { return e.Problem + ": byte " + strconv.Itoa(e.Offset) }

// IsRepeated reports whether an error is that of a name which an object has twice.
func IsRepeated(err error) bool {
	syntax, ok := errors.AsType[*SyntaxError](err)
	return ok && syntax.Problem == repeatedName
}

// A Span is a piece of a document: the bytes from Start up to, not including, End.
type Span struct{ Start, End uint32 }

// A Scanner reads JSON text (RFC 8259) from front to back, validates it and says where its values stand. It does not
// recurse, so hostile nesting costs no stack. Its first error stays.
type Scanner struct {
	text            []byte
	pos             int
	err             error
	depth, maxDepth int
	stops           uint64 // marks what ends a run of plain string bytes among the 64 bytes before stopsEnd
	stopsEnd        int
	maxName         int                     // bytes of a name that Members and Outline read; 0: any
	obscured        bool                    // some string has an escape for a letter or a dot, which need none
	nameAt          Span                    // the member name that was read last, escapes and all
	names           []Span                  // of the objects that Members has open, one behind the other
	reserve         func(bytes int64) error // see Document; nil: nobody is asked
}

// NewScanner returns a scanner at the start of text that allows maxDepth levels of nesting, at most 1024. It fails on
// text that is not UTF-8 or has 2 GiB. The text must not change while anything made from it is in use.
func NewScanner(text []byte, maxDepth int) (Scanner, error) {
	s := Scanner{text: text, maxDepth: min(maxDepth, scanDepth)}
	if len(text) > math.MaxInt32 {
		s.fail(math.MaxInt32, "text of 2 GiB or more")
	} else if !utf8.Valid(text) {
		s.fail(firstInvalidUTF8(text), "invalid UTF-8")
	}
	s.pos = s.space(0)
	return s, s.err
}

// Reset puts the scanner at the start of another text, as NewScanner does, and keeps its memory.
func (s *Scanner) Reset(text []byte, maxDepth int) error {
	names, err := s.names[:0], error(nil)
	*s, err = NewScanner(text, maxDepth)
	s.names = names
	return err
}

// LimitNames makes a longer name than so many bytes an error, in the objects that Members and Outline read.
func (s *Scanner) LimitNames(bytes int) { s.maxName = bytes }

// Text returns the bytes of a span.
func (s *Scanner) Text(at Span) []byte { return s.text[at.Start:at.End:at.End] }

// Kind tells what the value at the scanner's place is, by its first byte.
func (s *Scanner) Kind() Kind { return kindOf(s.at(s.pos)) }

// Skip validates the value at the scanner's place, moves behind it and returns where it stands.
func (s *Scanner) Skip() (Span, error) {
	start := s.pos
	if s.pos = s.value(start); s.err != nil {
		return Span{}, s.err
	}
	return span(start, s.pos), nil
}

// End fails unless nothing but white space is left.
func (s *Scanner) End() error {
	if i := s.space(s.pos); i != len(s.text) {
		s.fail(i, "data after the end of the document")
	}
	return s.err
}

// Members reads the object at the scanner's place and calls visit for each member with the scanner at its value, which
// visit must move the scanner over. The unescaped name is good until visit returns. A repeated name is an error, which
// IsRepeated tells.
func (s *Scanner) Members(visit func(name []byte) error) error { return s.each('{', true, visit) }

// EveryMember is Members for an object whose names do not matter: of a repeated one, all members are visited.
func (s *Scanner) EveryMember(visit func(name []byte) error) error { return s.each('{', false, visit) }

// Elements reads the array at the scanner's place and calls visit for each element with the scanner at it; visit must
// move the scanner over it.
func (s *Scanner) Elements(visit func() error) error {
	return s.each('[', false, func([]byte) error { return visit() })
}

func (s *Scanner) each(opening byte, strict bool, visit func(name []byte) error) error {
	if s.at(s.pos) != opening {
		s.unexpected(s.pos)
	} else if s.depth++; s.depth > s.maxDepth {
		s.fail(s.pos, tooDeep)
	}
	closing := opening + 2 // in ASCII, of braces and brackets alike
	seen := nameSet{before: len(s.names)}
	i := s.space(s.pos + 1)
	for more := s.at(i) != closing; more && s.err == nil; {
		var name []byte
		s.pos, s.nameAt = i, Span{}
		if opening == '{' {
			if s.pos = s.name(i); s.err != nil {
				break
			}
			literal := s.Text(s.nameAt)
			if s.maxName > 0 && longer(literal, s.maxName) {
				s.fail(i, "name longer than "+strconv.Itoa(s.maxName)+" bytes")
				break
			}
			if name = unescaped(literal); strict && !seen.add(s, i, name, strict) {
				break
			}
		}
		if err := visit(name); err != nil {
			return err
		}
		i = s.space(s.pos)
		if more = s.at(i) == ','; more {
			i = s.space(i + 1)
		} else if s.at(i) != closing {
			s.unexpected(i)
		}
	}
	s.names, s.pos = s.names[:seen.before], i+1
	s.depth--
	return s.err
}

// value validates the value at i and returns the place behind it. The kinds of the open containers are a bit stack: no
// recursion for hostile nesting to exhaust (the class of CVE-2019-11253), and fast (BenchmarkScan).
func (s *Scanner) value(i int) int {
	var objects [scanDepth / 64]uint64
	open, object := 0, false // the containers that are open, and whether the innermost is an object
	for {
		switch c := s.at(i); {
		case c == '"':
			i = s.str(i)
		case c == '{' || c == '[':
			if s.depth+open >= s.maxDepth {
				return s.fail(i, tooDeep)
			}
			if i = s.space(i + 1); s.at(i) == c+2 { // the closing brace or bracket
				i++
				break
			}
			object = c == '{'
			word := &objects[open%scanDepth/64]
			if *word <<= 1; object {
				*word |= 1
				i = s.name(i)
			}
			open++
			continue
		case c == '-' || isDigit(c):
			i = s.number(i)
		case c == 't' || c == 'f' || c == 'n':
			i = s.literal(i)
		default:
			return s.unexpected(i)
		}
		for { // Behind a value: close the containers that end here, then step to the next value.
			if open == 0 {
				return i
			}
			i = s.space(i)
			c := s.at(i)
			if c == ',' {
				break
			}
			if object && c != '}' || !object && c != ']' {
				return s.unexpected(i)
			}
			i++
			open--
			objects[open%scanDepth/64] >>= 1
			object = open > 0 && objects[(open-1)%scanDepth/64]&1 != 0
		}
		if i = s.space(i + 1); object {
			i = s.name(i)
		}
	}
}

// fail keeps the first error, and returns the place that stands for none: no byte is there.
func (s *Scanner) fail(i int, problem string) int {
	if s.err == nil {
		s.err = &SyntaxError{i, problem}
	}
	return -1
}

func (s *Scanner) unexpected(i int) int {
	if i >= len(s.text) {
		return s.fail(len(s.text), "unexpected end of the text")
	}
	return s.fail(i, "unexpected character")
}

// A nameSet finds a repeated name among the members of one object. The filter spares most comparisons of few names; the
// hashes of many keep their comparing linear, without a copy of them.
type nameSet struct {
	before int // the names of the scanner that are of other objects
	filter uint64
	seed   maphash.Seed
	many   map[uint64]int // by hash, which of the names

	repeated bool // some name is
}

// add adds the name that s has read at i. It fails where there are too many, and for a repeated one if the set is strict.
func (set *nameSet) add(s *Scanner, i int, name []byte, strict bool) bool {
	names := s.names[set.before:]
	set.repeated = set.has(s, names, name) || set.repeated
	switch {
	case strict && set.repeated:
		s.fail(i, repeatedName)
	case len(names) == maxMembers:
		s.fail(i, "too many members in one object")
	case s.reserve != nil && len(names) >= manyNames && len(names)&(len(names)-1) == 0: // as many again, before they come
		if err := s.reserve(int64(len(names)) * nameSize); err != nil {
			s.err = err
		}
	case s.names == nil:
		s.names = make([]Span, 0, fewMembers)
	}
	s.names = append(s.names, s.nameAt)
	return s.err == nil
}

// has reports whether a name is one of those before it, and notes it.
func (set *nameSet) has(s *Scanner, names []Span, name []byte) bool {
	is := func(at Span) bool { return isText(s.Text(at), name) }
	if len(names) < fewMembers {
		bit := uint64(bitOf(name))
		repeated := set.filter&bit != 0 && slices.ContainsFunc(names, is)
		set.filter |= bit
		return repeated
	}
	if set.many == nil {
		set.many, set.seed = make(map[uint64]int, 4*fewMembers), maphash.MakeSeed()
		for i, at := range names {
			set.many[hashOf(set.seed, s.Text(at))] = i
		}
	}
	hash := maphash.Bytes(set.seed, name)
	i, found := set.many[hash]
	if !found {
		set.many[hash] = len(names)
		return false
	}
	return is(names[i]) || slices.ContainsFunc(names, is) // the latter of two names of one hash: never
}

// AllMembers reports whether text, which is JSON, is an object for each member of which fits is true; of a repeated name, the
// last one counts. Name and value are good until fits returns, which may be called more than once for a member.
func AllMembers(text []byte, fits func(name, value []byte) bool) bool { return allOf(text, '{', fits) }

// AllElements reports whether text, which is JSON, is an array for each element of which fits is true.
func AllElements(text []byte, fits func(value []byte) bool) bool {
	return allOf(text, '[', func(_, value []byte) bool { return fits(value) })
}

func allOf(text []byte, opening byte, fits func(name, value []byte) bool) bool {
	s, err := NewScanner(text, MaxDepth)
	if err != nil {
		return false
	}
	all := true
	err = s.each(opening, true, func(name []byte) error {
		at, err := s.Skip()
		all = all && err == nil && fits(name, s.Text(at))
		return err
	})
	if IsRepeated(err) {
		return allOf(LastOfEach(text), opening, fits)
	}
	return all && err == nil
}
