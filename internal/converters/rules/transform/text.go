package transform

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// int64Of returns the integer that the text is, if that is how it is spelt: -0, 3.0 and what is no int64 are none.
func int64Of(text string) (int64, bool) {
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil && strconv.FormatInt(i, 10) == text
}

// validNumber reports whether the text is a number as JSON spells it.
func validNumber(text string) bool {
	v, err := jsondoc.RawValue([]byte(text))
	return err == nil && jsondoc.IsNumber(v.Text()) && len(v.Text()) == len(text)
}

// valueKey returns a text that is the same for two values if they are: strings whatever their escapes, objects whatever
// their order, numbers whatever their spelling. Those that are the same to the API server are: see jsondoc.CanonicalNumber.
func valueKey(text []byte) string {
	if len(text) > 0 && (text[0] == 'n' || text[0] == 't' || text[0] == 'f' || text[0] == '"' && !bytes.ContainsRune(text, '\\')) {
		return string(text) // it has one form (BenchmarkKinds in package rules)
	}
	sorted, err := sortedJSON(nil, text, true)
	if err != nil {
		return string(text) // a number that the API server refuses
	}
	return string(sorted)
}

// sortedJSON appends JSON text in its one form: names in order, no white space, no needless escapes; numbers as they are
// spelt, or as the API server stores them; of members of one name, the last one.
func sortedJSON(dst, text []byte, numbers bool) ([]byte, error) {
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return dst, err
	}
	switch s.Kind() {
	case jsondoc.Map:
		return sortedObject(dst, &s, numbers)
	case jsondoc.Array:
		return sortedArray(dst, &s, numbers)
	case jsondoc.String:
		return celvalue.AppendString(dst, jsondoc.Unquote(text)), nil
	case jsondoc.Number:
		if numbers {
			number, err := jsondoc.CanonicalNumber(string(text))
			return append(dst, number...), err
		}
	case jsondoc.Bool, jsondoc.Null, jsondoc.Invalid:
	}
	return append(dst, text...), nil
}

func sortedObject(dst []byte, s *jsondoc.Scanner, numbers bool) ([]byte, error) {
	type member struct {
		name string
		text []byte
	}
	var members []member
	if err := s.EveryMember(func(name []byte) error {
		at, err := s.Skip()
		members = append(members, member{string(name), s.Text(at)})
		return err
	}); err != nil {
		return dst, err
	}
	slices.Reverse(members) // so that the last one is the first of its name
	slices.SortStableFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	members = slices.CompactFunc(members, func(a, b member) bool { return a.name == b.name })
	dst = append(dst, '{')
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		dst = append(celvalue.AppendString(dst, m.name), ':')
		if dst, err = sortedJSON(dst, m.text, numbers); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func sortedArray(dst []byte, s *jsondoc.Scanner, numbers bool) ([]byte, error) {
	dst = append(dst, '[')
	first := true
	err := s.Elements(func() error {
		at, err := s.Skip()
		if err != nil {
			return err
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst, err = sortedJSON(dst, s.Text(at), numbers)
		return err
	})
	return append(dst, ']'), err
}
