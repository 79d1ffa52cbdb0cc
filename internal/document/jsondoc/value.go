package jsondoc

import (
	"fmt"
	"strconv"
	"unicode/utf8"
)

// Kind is the type of a JSON value (RFC 8259, section 3).
type Kind byte

// The kinds of JSON values. Invalid is the kind of an absent value.
const (
	Invalid Kind = 0
	Null    Kind = 'n'
	Bool    Kind = 't'
	Number  Kind = '0'
	String  Kind = '"'
	Array   Kind = '['
	Map     Kind = '{'
)

// String names the kind for messages.
func (k Kind) String() string {
	return map[Kind]string{
		Invalid: "absent", Null: "null", Bool: "a boolean", Number: "a number", String: "a string", Array: "an array",
		Map: "an object",
	}[k]
}

// kindOf returns the kind of a value by its first byte.
func kindOf(first byte) Kind {
	switch first {
	case 'n', 't', '"', '[', '{':
		return Kind(first)
	case 'f':
		return Bool
	}
	if first == '-' || isDigit(first) {
		return Number
	}
	return Invalid
}

// KindOf returns the kind of a value's text, Invalid for none.
func KindOf(text []byte) Kind {
	if len(text) == 0 {
		return Invalid
	}
	return kindOf(text[0])
}

// A Value is valid JSON text. A value from a node goes back into the same document without a copy.
// The zero Value is null.
type Value struct {
	doc  *Document
	at   piece
	text []byte
}

// IntValue returns an integer.
func IntValue(i int64) Value { return Value{text: strconv.AppendInt(nil, i, 10)} }

// StringValue returns a string. Bytes that are not UTF-8 become U+FFFD. It escapes only what RFC
// 8259 demands.
func StringValue[T string | []byte](s T) Value {
	return Value{text: AppendString(make([]byte, 0, len(s)+len(s)/8+2), s)}
}

// RawValue returns text as a value, without surrounding white space. It must be one JSON value, and
// must not change until the value is in an object.
func RawValue(text []byte) (Value, error) {
	s, err := NewScanner(text, MaxDepth)
	if err != nil {
		return Value{}, err
	}
	at, err := s.Skip()
	if err == nil {
		err = s.End()
	}
	return Value{text: s.Text(at)}, err
}

// Text returns the value's JSON. Callers must not change it or keep it beyond the document's next
// Reset.
func (v Value) Text() []byte {
	switch {
	case v.doc != nil:
		return v.doc.bytes(v.at)
	case len(v.text) == 0:
		return []byte("null")
	}
	return v.text
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return kindOf(v.Text()[0]) }

// AppendString appends s as StringValue does.
func AppendString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	done := 0 // of s
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf {
			return append(appendRunes(append(dst, s[done:i]...), string(s[i:])), '"')
		}
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst, done = appendRune(append(dst, s[done:i]...), rune(c)), i+1
	}
	return append(append(dst, s[done:]...), '"')
}

func appendRunes(dst []byte, s string) []byte {
	for _, r := range s {
		dst = appendRune(dst, r)
	}
	return dst
}

func appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r < ' ':
		return fmt.Appendf(dst, `\u%04x`, r)
	}
	return utf8.AppendRune(dst, r)
}
