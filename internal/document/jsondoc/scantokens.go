package jsondoc

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// at returns the byte at i, or 0 outside the text. A raw zero byte is not valid JSON, so both are
// errors.
func (s *Scanner) at(i int) byte {
	if uint(i) < uint(len(s.text)) {
		return s.text[i]
	}
	return 0
}

// space returns the first position from i on that is not white space.
func (s *Scanner) space(i int) int {
	for c := s.at(i); c <= ' ' && (c == ' ' || c == '\n' || c == '\t' || c == '\r'); c = s.at(i) {
		i++
	}
	return i
}

// name validates the name at i and its colon, and returns the position of the value.
func (s *Scanner) name(i int) int {
	end := s.str(i)
	s.nameAt = span(i+1, end-1)
	if s.at(end) == ':' && s.at(end+1) > ' ' { // nearly always
		return end + 1
	}
	if end = s.space(end); s.at(end) != ':' {
		return s.unexpected(end)
	}
	return s.space(end + 1)
}

// str validates the string at i and returns the position behind it.
func (s *Scanner) str(i int) int {
	if s.at(i) != '"' {
		return s.unexpected(i)
	}
	s.escapes = false
	for i++; ; {
		if i >= s.stopsEnd && !s.findStops(i) {
			for i < len(s.text) && s.text[i] != '"' && s.text[i] != '\\' && s.text[i] >= ' ' {
				i++
			}
		} else if left := s.stops >> (uint(i-s.stopsEnd) % 64); left != 0 {
			i += bits.TrailingZeros64(left)
		} else {
			i = s.stopsEnd
			continue
		}
		switch s.at(i) {
		case '"':
			return i + 1
		case '\\':
			s.escapes = true
			if s.at(i+1) == '"' { // common in annotations
				i += 2
			} else if i = s.escape(i); i < 0 {
				return i
			}
		default:
			return s.unexpected(i)
		}
	}
}

// findStops looks at the 64 bytes from i on at once, if there are as many. Strings are short, so
// this is faster than looking at each string (BenchmarkScan).
func (s *Scanner) findStops(i int) bool {
	if i+64 > len(s.text) {
		return false
	}
	b := (*[64]byte)(s.text[i:])
	low := stops(b[:]) | stops(b[8:])<<8 | stops(b[16:])<<16 | stops(b[24:])<<24
	high := stops(b[32:]) | stops(b[40:])<<8 | stops(b[48:])<<16 | stops(b[56:])<<24
	s.stopsEnd, s.stops = i+64, low|high<<32
	return true
}

// stops returns a bit for each of the first eight bytes that ends a run of plain string bytes:
// quote, backslash or control character. It adds to all bytes of a word at once, so that plain ones
// get their highest bit.
func stops(text []byte) uint64 {
	const ones, low7 = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	word := binary.LittleEndian.Uint64(text)
	ascii := word & low7
	plain := (ascii^ones*'"'+low7)&(ascii^ones*'\\'+low7)&(ascii+ones*(0x80-' ')) | word
	return (^plain &^ low7) * 0x0002040810204081 >> 56 // gathers the highest bit of each byte
}

// escape validates the escape at i, which must not be a lone surrogate, and returns the position
// behind it.
func (s *Scanner) escape(i int) int {
	unit := s.codeUnit(i)
	s.obscured = s.obscured || unit == '.' || 'a' <= unit|0x20 && unit|0x20 <= 'z'
	switch {
	case bytes.IndexByte([]byte(`"\/bfnrt`), s.at(i+1)) >= 0:
		return i + 2
	case unit >= 0 && !utf16.IsSurrogate(unit):
		return i + 6
	case utf16.DecodeRune(unit, s.codeUnit(i+6)) != utf8.RuneError:
		return i + 12
	}
	return s.fail(i, "invalid escape in a string")
}

// codeUnit returns the UTF-16 code unit of the \uXXXX at i, or -1.
func (s *Scanner) codeUnit(i int) rune {
	if i+6 > len(s.text) || string(s.text[i:i+2]) != `\u` {
		return -1
	}
	unit, err := strconv.ParseUint(string(s.text[i+2:i+6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit)
}

func (s *Scanner) number(i int) int {
	if s.at(i) == '-' {
		i++
	}
	if s.at(i) == '0' { // no digit may follow
		i++
	} else {
		i = s.digits(i)
	}
	if s.at(i) == '.' {
		i = s.digits(i + 1)
	}
	if s.at(i)|0x20 == 'e' {
		if i++; s.at(i) == '+' || s.at(i) == '-' {
			i++
		}
		i = s.digits(i)
	}
	return i
}

// digits returns the position behind the digits at i, at least one.
func (s *Scanner) digits(i int) int {
	if !isDigit(s.at(i)) {
		return s.fail(i, "invalid number")
	}
	for isDigit(s.at(i)) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// literal validates the true, false or null at i and returns the position behind it.
func (s *Scanner) literal(i int) int {
	for _, word := range [...]string{"true", "null", "false"} {
		if end := i + len(word); end <= len(s.text) && string(s.text[i:end]) == word {
			return end
		}
	}
	return s.fail(i, "invalid literal")
}

func firstInvalidUTF8(text []byte) int {
	for i := 0; ; {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
}
