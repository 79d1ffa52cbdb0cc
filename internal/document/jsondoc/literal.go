package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/maphash"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// A string is decoded part by part, so that a long one is compared, hashed and measured without a
// copy. A literal here is validated and has no quotes around it.

// firstPart decodes the first part of a literal and returns the rest. It decodes escapes into room.
func firstPart(literal []byte, room *[utf8.UTFMax]byte) (part, rest []byte) {
	switch i := bytes.IndexByte(literal, '\\'); {
	case i < 0:
		return literal, nil
	case i > 0:
		return literal[:i], literal[i:]
	}
	r, size := escapeOf(literal)
	return utf8.AppendRune(room[:0], r), literal[size:]
}

// escapeOf decodes the escape at the start of a literal, and returns its size.
func escapeOf(literal []byte) (r rune, size int) {
	switch c := literal[1]; c {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		r = hexRune(literal[2:])
		if utf16.IsSurrogate(r) {
			return utf16.DecodeRune(r, hexRune(literal[8:])), 12
		}
		return r, 6
	default:
		return rune(c), 2
	}
}

func hexRune(text []byte) rune {
	unit, _ := strconv.ParseUint(string(text[:4]), 16, 16)
	return rune(unit)
}

// isText reports whether a literal decodes to text.
func isText[T string | []byte](literal []byte, text T) bool {
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal) == string(text)
	}
	var room [utf8.UTFMax]byte
	for part := []byte(nil); len(literal) > 0; {
		part, literal = firstPart(literal, &room)
		if len(part) > len(text) || string(part) != string(text[:len(part)]) {
			return false
		}
		text = text[len(part):]
	}
	return len(text) == 0
}

func longer(literal []byte, most int) bool { return len(literal) > most && sizeOf(literal) > most }

// sizeOf returns the size of a decoded literal.
func sizeOf(literal []byte) (size int) {
	var room [utf8.UTFMax]byte
	for part := []byte(nil); len(literal) > 0; size += len(part) {
		part, literal = firstPart(literal, &room)
	}
	return size
}

func hashOf(seed maphash.Seed, literal []byte) uint64 {
	if bytes.IndexByte(literal, '\\') < 0 {
		return maphash.Bytes(seed, literal)
	}
	var h maphash.Hash
	var room [utf8.UTFMax]byte
	h.SetSeed(seed)
	for part := []byte(nil); len(literal) > 0; {
		part, literal = firstPart(literal, &room)
		_, _ = h.Write(part)
	}
	return h.Sum64()
}

func unescaped(literal []byte) []byte {
	if bytes.IndexByte(literal, '\\') < 0 {
		return literal
	}
	return appendDecoded(make([]byte, 0, len(literal)), literal)
}

// Unquote decodes a validated string literal.
func Unquote(literal []byte) string {
	literal = literal[1 : len(literal)-1]
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal)
	}
	var room [256]byte
	return string(appendDecoded(room[:0], literal))
}

// AppendUnquoted appends a decoded string literal, which must be validated.
func AppendUnquoted(dst, literal []byte) []byte { return appendDecoded(dst, literal[1:len(literal)-1]) }

func appendDecoded(dst, literal []byte) []byte {
	var room [utf8.UTFMax]byte
	for part := []byte(nil); len(literal) > 0; {
		part, literal = firstPart(literal, &room)
		dst = append(dst, part...)
	}
	return dst
}

// UnquotedLen returns the size in bytes of a decoded string literal.
func UnquotedLen(literal []byte) int { return sizeOf(literal[1 : len(literal)-1]) }

// LongerThan reports whether a validated string literal decodes to more than most bytes.
func LongerThan(literal []byte, most int) bool { return longer(literal[1:len(literal)-1], most) }

// IsNumber reports whether valid JSON is a number.
func IsNumber(text []byte) bool {
	return len(text) > 0 && (text[0] == '-' || '0' <= text[0] && text[0] <= '9')
}

// IsInteger reports whether valid JSON is a whole number, in any spelling: 3, 3.0 or 3e0.
func IsInteger(text []byte) bool {
	if !IsNumber(text) {
		return false
	}
	if _, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	const most = 1<<53 - 1 // larger ones are not integers in github.com/go-openapi/swag/conv
	return err == nil && f == math.Trunc(f) && math.Abs(f) <= most
}

// CanonicalNumber returns a JSON number as the API server decodes and stores it
// (k8s.io/apimachinery/pkg/util/json): an int64 that is spelt as one, or the shortest text of a
// float64. So 1.0 is 1, 0.50 is 0.5, and 9007199254740993 stays. It fails for numbers beyond a
// float64.
func CanonicalNumber(text string) (string, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(i, 10), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", errors.New("a number is too large")
	}
	return string(AppendFloat(nil, f)), nil
}

// AppendFloat appends a finite f as encoding/json, and so the API server, encodes it.
func AppendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // not -0
	}
	text, _ := json.Marshal(f)
	return append(dst, text...)
}
