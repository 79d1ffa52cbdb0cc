package jsondoc

import (
	"strconv"
	"unicode/utf8"
)

// Kind is the type of a JSON value (RFC 8259, section 3).
type Kind byte

// The kinds of JSON values. Invalid is that of no value at all.
const (
	Invalid Kind = 0
	Null    Kind = 'n'
	Bool    Kind = 't'
	Number  Kind = '0'
	String  Kind = '"'
	Array   Kind = '['
	Map     Kind = '{'
)

// String names the kind as messages show it.
func (k Kind) String() string {
	return map[Kind]string{
		Null: "null", Bool: "a boolean", Number: "a number", String: "a string", Array: "an array", Map: "an object",
	}[k]
}

func kindOf(first byte) Kind {
	switch {
	case first == 'f':
		return Bool
	case first == '-' || isDigit(first):
		return Number
	}
	return Kind(first)
}

// A Value is valid JSON text, ready to be put into an object. One taken from a node goes back into the same document
// without a copy.
type Value struct {
	doc  *Document
	at   piece
	text []byte
}

// IntValue returns an integer, exact over all of int64.
func IntValue(i int64) Value { return Value{text: strconv.AppendInt(nil, i, 10)} }

// StringValue returns a string; what is not UTF-8 in it becomes U+FFFD. Nothing is escaped that RFC 8259 does not demand.
func StringValue(s string) Value { return Value{text: appendString(make([]byte, 0, len(s)+2), s)} }

// RawValue returns text, which must be one JSON value, as it is but for white space around it.
func RawValue(text []byte) (Value, error) {
	s, err := NewScanner(text, MaxDepth)
	if err != nil {
		return Value{}, err
	}
	at, err := s.Skip()
	if err != nil {
		return Value{}, err
	}
	return Value{text: s.Text(at)}, s.End()
}

// Text returns the value's JSON. It must not be changed, and not be kept beyond the document's next Reset.
func (v Value) Text() []byte {
	if v.doc != nil {
		return v.doc.bytes(v.at)
	}
	return v.text
}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', s[i])
		case r < ' ':
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
