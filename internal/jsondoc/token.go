package jsondoc

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// at returns the byte at i, or 0 behind the end; a raw zero byte is no legal JSON, so the two need no telling apart.
func (s *Scanner) at(i int) byte {
	if uint(i) < uint(len(s.text)) {
		return s.text[i]
	}
	return 0
}

// space returns the first place at or behind i that is not white space.
func (s *Scanner) space(i int) int {
	for i < len(s.text) && s.text[i] <= ' ' && (s.text[i] == ' ' || s.text[i] == '\n' || s.text[i] == '\t' || s.text[i] == '\r') {
		i++
	}
	return i
}

// name validates the member name at i and its colon; value is where the member's value starts.
func (s *Scanner) name(i int) (end, value int, err error) {
	if s.at(i) != '"' {
		return i, i, s.unexpected(i)
	}
	if end, err = s.str(i); err != nil {
		return end, end, err
	}
	if value = s.space(end); s.at(value) != ':' {
		return end, value, s.unexpected(value)
	}
	return end, s.space(value + 1), nil
}

// str validates the string that opens at i and returns the place behind its closing quote.
func (s *Scanner) str(i int) (int, error) {
	text := s.text
	for i++; ; {
		for i+16 <= len(text) { // two words a step, one branch for both: most strings are short (BenchmarkScan)
			low := stops(binary.LittleEndian.Uint64(text[i:]))
			high := stops(binary.LittleEndian.Uint64(text[i+8:]))
			if low != 0 {
				i += bits.TrailingZeros64(low) / 8
				break
			}
			i += 8 + bits.TrailingZeros64(high)/8 // 64 zeros where nothing stops
			if high != 0 {
				break
			}
		}
		for i < len(text) && text[i] != '"' && text[i] != '\\' && text[i] >= ' ' {
			i++
		}
		switch s.at(i) {
		case '"':
			return i + 1, nil
		case '\\':
			size := escape(text[i:])
			if size == 0 {
				return i, &SyntaxError{i, "invalid escape in a string"}
			}
			i += size
		default:
			return i, s.unexpected(i)
		}
	}
}

// stops marks the bytes of a word that end a run of plain string bytes: quote, backslash, control characters. A byte
// above a marked one may be marked wrongly; the lowest mark is always right.
func stops(word uint64) uint64 {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	quote, backslash := word^ones*'"', word^ones*'\\'
	return ((word-ones*' ')&^word | (quote-ones)&^quote | (backslash-ones)&^backslash) & high
}

// escape returns the size of the escape sequence that text starts with, or 0 if it is invalid or a lone surrogate.
func escape(text []byte) int {
	if len(text) < 2 || text[1] != 'u' {
		if len(text) >= 2 && bytes.IndexByte([]byte(`"\/bfnrt`), text[1]) >= 0 {
			return 2
		}
		return 0
	}
	unit := utf16Unit(text)
	if unit < 0 || !utf16.IsSurrogate(unit) {
		return max(0, 6*min(1, int(unit)+1))
	}
	if utf16.DecodeRune(unit, utf16Unit(text[6:])) != utf8.RuneError {
		return 12
	}
	return 0
}

// utf16Unit returns the code unit of the \uXXXX that text starts with, or -1.
func utf16Unit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	unit, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(unit) //nolint:gosec // 16 bits
}

// number validates the number at i and returns the place behind it.
func (s *Scanner) number(i int) (int, error) {
	if s.at(i) == '-' {
		i++
	}
	end := s.digits(i)
	valid := end > i && (s.at(i) != '0' || end == i+1)
	if valid && s.at(end) == '.' {
		i, end = end+1, s.digits(end+1)
		valid = end > i
	}
	if valid && s.at(end)|0x20 == 'e' {
		if i = end + 1; s.at(i) == '+' || s.at(i) == '-' {
			i++
		}
		end = s.digits(i)
		valid = end > i
	}
	if !valid {
		return end, &SyntaxError{end, "invalid number"}
	}
	return end, nil
}

// digits returns the place behind the digits at i.
func (s *Scanner) digits(i int) int {
	for isDigit(s.at(i)) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *Scanner) literal(i int, word string) (int, error) {
	if !bytes.HasPrefix(s.text[i:], []byte(word)) {
		return i, &SyntaxError{i, "invalid literal"}
	}
	return i + len(word), nil
}

// Unquote returns what a validated string literal stands for.
func Unquote(literal []byte) string { return string(unescaped(literal[1 : len(literal)-1])) }

// unescaped returns what a validated string literal, given without its quotes, stands for.
func unescaped(literal []byte) []byte {
	if bytes.IndexByte(literal, '\\') < 0 {
		return literal
	}
	var decoded string
	if err := json.Unmarshal([]byte(`"`+string(literal)+`"`), &decoded); err != nil {
		panic("jsondoc: a validated string does not decode: " + err.Error())
	}
	return []byte(decoded)
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
