package transform

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// int64Of returns the integer that the text spells as the API server does: not -0 or 3.0.
func int64Of(text string) (int64, bool) {
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil && strconv.FormatInt(i, 10) == text
}

// validNumber reports whether the text is a number as JSON spells it.
func validNumber(text string) bool {
	v, err := jsondoc.RawValue([]byte(text))
	return err == nil && jsondoc.IsNumber(v.Text()) && len(v.Text()) == len(text)
}

// valueKey returns a text that is the same for equal values: strings whatever their escapes,
// objects whatever their order, and numbers that are the same to the API server (see
// jsondoc.CanonicalNumber).
func valueKey(text []byte) string {
	if len(text) > 0 && (text[0] == 'n' || text[0] == 't' || text[0] == 'f' || text[0] == '"' && !bytes.ContainsRune(text, '\\')) {
		return string(text) // it has one form (BenchmarkKinds in package rules)
	}
	sorted, ok := sortedJSON(make([]byte, 0, len(text)), text, true)
	if !ok {
		return string(text) // a number that the API server refuses
	}
	return string(sorted)
}

// sortedJSON appends a JSON value in canonical form: names in order, no white space, no needless
// escapes. Numbers keep their spelling unless canonical is true. When members share a name, the
// last one wins.
func sortedJSON(dst, text []byte, canonical bool) ([]byte, bool) {
	switch {
	case len(text) == 0:
		return dst, false
	case text[0] == '{':
		return sortedObject(dst, text, canonical)
	case text[0] == '[':
		dst = append(dst, '[')
		ok := jsondoc.AllElements(text, func(element []byte) (ok bool) {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst, ok = sortedJSON(dst, element, canonical)
			return ok
		})
		return append(dst, ']'), ok
	case text[0] == '"' && (bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text)):
		return jsondoc.AppendString(dst, jsondoc.Unquote(text)), true
	case canonical && jsondoc.IsNumber(text):
		number, err := jsondoc.CanonicalNumber(string(text))
		return append(dst, number...), err == nil
	}
	return append(dst, text...), true
}

func sortedObject(dst, text []byte, canonical bool) ([]byte, bool) {
	type member struct{ name, text []byte }
	const usual = 8
	members := make([]member, 0, usual)
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err == nil {
		err = s.EveryMember(func(name []byte) error {
			at, err := s.Skip()
			members = append(members, member{name, s.Text(at)})
			return err
		})
	}
	slices.Reverse(members) // the last one of a name comes first
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	members = slices.CompactFunc(members, func(a, b member) bool { return bytes.Equal(a.name, b.name) })
	dst = append(dst, '{')
	ok := err == nil
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		var valid bool
		dst, valid = sortedJSON(append(jsondoc.AppendString(dst, m.name), ':'), m.text, canonical)
		ok = ok && valid
	}
	return append(dst, '}'), ok
}
