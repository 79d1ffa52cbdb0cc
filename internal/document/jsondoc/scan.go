package jsondoc

import (
	"errors"
	"hash/maphash"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxDepth is the most levels of arrays and objects in a Kubernetes object, which is the first
// level. The API server's decoder stops at 10000; real objects stay below 100.
const MaxDepth = 512

const (
	scanDepth    = 1024    // limits any scan: Scanner.value has a bit for each level
	maxMembers   = 1 << 18 // limits the names of an object that are compared, and so their memory
	fewMembers   = 32      // up to here names are compared with each other, without a map
	manyNames    = 4096    // from here on memory for names is reserved
	nameSize     = 64      // bytes of a name in a map
	repeatedName = "duplicate name"
	tooDeep      = "nested too deep, an object may have 512 levels"
)

// A SyntaxError says where text is not valid JSON, or is not accepted. It never quotes the text.
type SyntaxError struct {
	Offset  int    // in bytes
	Problem string // what is wrong there
}

// Error implements error.
func (e *SyntaxError) Error() string { return e.Problem + ": byte " + strconv.Itoa(e.Offset) }

// IsRepeated reports whether an error is about a duplicate name.
func IsRepeated(err error) bool {
	syntax, ok := errors.AsType[*SyntaxError](err)
	return ok && syntax.Problem == repeatedName
}

// A Span is the part of a document from Start up to, not including, End.
type Span struct{ Start, End uint32 }

// A Scanner reads JSON text (RFC 8259) from front to back, validates it and reports the positions
// of its values. It does not recurse, so hostile nesting costs no stack. Its first error stays.
type Scanner struct {
	text            []byte
	pos             int
	err             error
	depth, maxDepth int
	stops           uint64 // a bit for each of the 64 bytes before stopsEnd that ends a run of plain string bytes
	stopsEnd        int
	maxName         int                     // longest name in bytes that Members and Outline accept; 0: any
	obscured        bool                    // some string escapes a letter or a dot needlessly
	nameAt          Span                    // the last name, with its escapes
	escapes         bool                    // the last string has escapes
	names           []Span                  // of the objects that Members has open
	reserve         func(bytes int64) error // see Document; may be nil
}

// NewScanner returns a scanner at the start of text that allows maxDepth levels, at most 1024. It
// fails for text of 2 GiB or that is not UTF-8. The text must not change while anything made from
// it is in use.
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

// Reset is NewScanner with the memory of the scanner.
func (s *Scanner) Reset(text []byte, maxDepth int) error {
	names, err := s.names[:0], error(nil)
	*s, err = NewScanner(text, maxDepth)
	s.names = names
	return err
}

// ResetValid is Reset for text that is known to be valid JSON, part of a text that was scanned.
func (s *Scanner) ResetValid(text []byte) {
	*s = Scanner{text: text, maxDepth: scanDepth, names: s.names[:0]}
	s.pos = s.space(0)
}

// LimitNames sets the longest name in bytes that Members and Outline accept.
func (s *Scanner) LimitNames(bytes int) { s.maxName = bytes }

// Text returns the bytes of a span.
func (s *Scanner) Text(at Span) []byte { return s.text[at.Start:at.End:at.End] }

// Kind returns the kind of the value at the scanner, by its first byte.
func (s *Scanner) Kind() Kind { return kindOf(s.at(s.pos)) }

// Skip validates the value at the scanner, moves behind it and returns its span.
func (s *Scanner) Skip() (Span, error) {
	start := s.pos
	if s.at(start) == '"' { // most values
		s.pos = s.str(start)
	} else {
		s.pos = s.value(start)
	}
	if s.err != nil {
		return Span{}, s.err
	}
	return span(start, s.pos), nil
}

func (s *Scanner) skip([]byte) error {
	_, err := s.Skip()
	return err
}

// Err returns the first error.
func (s *Scanner) Err() error { return s.err }

// Enter moves the scanner to the first value in the object or list at it, and reports whether there
// is one. An error also ends such steps, see Err. Duplicate names are none.
func (s *Scanner) Enter() bool {
	if s.depth++; s.depth > s.maxDepth {
		s.fail(s.pos, tooDeep)
		return false
	}
	object, i := s.at(s.pos) == '{', s.space(s.pos+1)
	return !s.leave(i, object) && s.next(i, object)
}

// Next moves the scanner from behind a value of an object or list to the next one. Behind the last
// it moves behind the object or list, and returns false.
func (s *Scanner) Next(object bool) bool {
	i := s.space(s.pos)
	if s.at(i) == ',' {
		return s.next(s.space(i+1), object)
	}
	if s.err == nil && !s.leave(i, object) {
		s.unexpected(i)
	}
	return false
}

func (s *Scanner) next(i int, object bool) bool {
	if s.pos = i; object {
		s.pos = s.name(i)
	}
	return s.err == nil
}

// leave moves the scanner over the bracket at i, if the object or list ends there.
func (s *Scanner) leave(i int, object bool) bool {
	if c := s.at(i); c != '}' && c != ']' || object != (c == '}') {
		return false
	}
	s.pos = i + 1
	s.depth--
	return true
}

// Name returns the decoded name of the value to which Enter or Next moved. It is valid as long as
// the text, until the scanner moves.
func (s *Scanner) Name() []byte {
	literal := s.Text(s.nameAt)
	if s.escapes {
		literal = unescaped(literal)
	}
	return literal
}

// End fails unless only white space is left.
func (s *Scanner) End() error {
	if i := s.space(s.pos); i != len(s.text) {
		s.fail(i, "data after the end of the document")
	}
	return s.err
}

// Members reads the object at the scanner and calls visit for each member, with the scanner at its
// value, which visit must move the scanner over. The decoded name is valid until visit returns. A
// duplicate name is an error (see IsRepeated).
func (s *Scanner) Members(visit func(name []byte) error) error { return s.each('{', true, visit) }

// EveryMember is Members with duplicate names, each of which is visited.
func (s *Scanner) EveryMember(visit func(name []byte) error) error { return s.each('{', false, visit) }

// Elements reads the array at the scanner and calls visit for each element, which visit must move
// the scanner over.
func (s *Scanner) Elements(visit func() error) error {
	return s.each('[', false, func([]byte) error { return visit() })
}

func (s *Scanner) each(opening byte, strict bool, visit func(name []byte) error) error {
	if s.at(s.pos) != opening {
		s.unexpected(s.pos)
		return s.err
	}
	seen := nameSet{before: len(s.names)}
	for more := s.Enter(); more; more = s.Next(opening == '{') {
		var name []byte
		if opening == '{' {
			if s.maxName > 0 && longer(s.Text(s.nameAt), s.maxName) {
				s.fail(int(s.nameAt.Start)-1, "name longer than "+strconv.Itoa(s.maxName)+" bytes")
				break
			}
			if name = s.Name(); strict && !seen.add(s, name, strict) {
				break
			}
		}
		if err := visit(name); err != nil {
			return err
		}
	}
	s.names = s.names[:seen.before]
	return s.err
}

// value validates the value at i and returns the position behind it. The kinds of open containers
// are a stack of bits. That is fast (BenchmarkScan), and there is no recursion to exhaust (the
// class of CVE-2019-11253).
func (s *Scanner) value(i int) int {
	var objects [scanDepth / 64]uint64
	open, object := 0, false // the number of open containers, and whether the innermost is an object
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

// fail keeps the first error, and returns a position that has no byte.
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

// A nameSet finds a duplicate name in one object. The filter avoids most comparisons of few names;
// hashes of many names keep the time linear without copies.
type nameSet struct {
	before int // the scanner's names of other objects
	filter uint64
	seed   maphash.Seed
	many   map[uint64]int // index of a name by hash

	repeated bool // there is a duplicate
}

// add adds the name that s has read. It fails for too many names, and in strict mode for a
// duplicate.
func (set *nameSet) add(s *Scanner, name []byte, strict bool) bool {
	names, i := s.names[set.before:], int(s.nameAt.Start)-1
	set.repeated = set.has(s, names, name) || set.repeated
	switch {
	case strict && set.repeated:
		s.fail(i, repeatedName)
	case len(names) == maxMembers:
		s.fail(i, "too many members in one object")
	case s.reserve != nil && len(names) >= manyNames && len(names)&(len(names)-1) == 0: // before as many come again
		if err := s.reserve(int64(len(names)) * nameSize); err != nil {
			s.err = err
		}
	case s.names == nil:
		s.names = make([]Span, 0, fewMembers)
	}
	s.names = append(s.names, s.nameAt)
	return s.err == nil
}

// has reports whether names contain a name, and adds it to the filter.
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
	return is(names[i]) || slices.ContainsFunc(names, is) // the second only if two names have one hash
}

// AllElements reports whether text, which is valid JSON, is an array and fits is true of all
// elements. A value is valid until fits returns.
func AllElements(text []byte, fits func(value []byte) bool) bool {
	s, err := NewScanner(text, MaxDepth)
	if err != nil {
		return false
	}
	all := true
	err = s.Elements(func() error {
		at, err := s.Skip()
		all = all && err == nil && fits(s.Text(at))
		return err
	})
	return all && err == nil
}
