package keep

import (
	"strconv"
	"strings"
)

// A stamp is the digest of what is shown, or says that nothing is.
type stamp struct {
	sum uint64
	any bool
}

func stampOf(sum uint64) stamp { return stamp{sum, true} }

// add adds the digest of another part, in any order.
func (s *stamp) add(sum uint64) { s.sum, s.any = s.sum+sum, true }

func (s stamp) appendTo(dst []byte) []byte {
	if !s.any {
		return dst
	}
	return strconv.AppendUint(dst, s.sum, digestBase)
}

// parseStamp parses the text of appendTo, and reports whether it is valid.
func parseStamp(text string) (stamp, bool) {
	if text == "" {
		return stamp{}, true
	}
	sum, err := strconv.ParseUint(text, digestBase, 64)
	if err != nil {
		return stamp{}, false
	}
	var room [16]byte
	s := stampOf(sum)
	return s, string(s.appendTo(room[:0])) == text
}

// stamps are what was shown when a value was kept, and what is shown once the API server has filled
// in defaults, if that differs.
type stamps struct {
	first, second stamp
	two           bool
}

func one(s stamp) stamps { return stamps{first: s} }

// has reports whether the stamp is one of the two.
func (s stamps) has(now stamp) bool { return now == s.first || s.two && now == s.second }

// orElse adds a second stamp, if it differs.
func (s *stamps) orElse(second stamp) {
	if s.first != second {
		s.second, s.two = second, true
	}
}

// appendTo appends the stamps with a slash between them.
func (s stamps) appendTo(dst []byte) []byte {
	dst = s.first.appendTo(dst)
	if s.two {
		dst = s.second.appendTo(append(dst, '/'))
	}
	return dst
}

func parseStamps(text string) (s stamps, ok bool) {
	first, second, two := strings.Cut(text, "/")
	s.two = two
	if s.first, ok = parseStamp(first); !ok {
		return s, false
	}
	s.second, ok = parseStamp(second)
	return s, ok
}

// A mark is the beginning of a leaf's digest.
type mark [5]byte

func markOf(sum uint64) (m mark) {
	var room [16]byte
	copy(m[:], strconv.AppendUint(room[:0], sum, digestBase))
	return m
}

func (m mark) text() []byte {
	end := len(m)
	for end > 0 && m[end-1] == 0 {
		end--
	}
	return m[:end]
}
