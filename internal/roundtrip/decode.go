package roundtrip

import (
	"bytes"
	"maps"
	"strconv"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// decoded reads an object as the API server does (k8s.io/apimachinery/pkg/util/json): numbers are int64 where they are whole
// and fit, and else float64.
func decoded(object []byte) map[string]any {
	if s, err := jsondoc.NewScanner(object, jsondoc.MaxDepth); err == nil {
		if v, err := decodeNext(&s); err == nil && s.End() == nil {
			if m, ok := v.(map[string]any); ok {
				return m
			}
		}
	}
	// Not as it should be, with names that are there twice for one. This has the last word.
	var v map[string]any
	if err := utiljson.Unmarshal(object, &v); err != nil {
		panic("roundtrip: not a JSON object: " + err.Error())
	}
	return v
}

// decodeNext reads the value that the scanner is at. A run does this so often that utiljson, which uses reflection, is too
// slow.
func decodeNext(s *jsondoc.Scanner) (any, error) {
	kind := s.Kind()
	switch kind {
	case jsondoc.Map:
		m := map[string]any{}
		err := s.Members(func(name []byte) error {
			key := string(name)
			v, err := decodeNext(s)
			m[key] = v
			return err
		})
		return m, err
	case jsondoc.Array:
		l := []any{}
		err := s.Elements(func() error {
			v, err := decodeNext(s)
			l = append(l, v)
			return err
		})
		return l, err
	default:
	}
	at, err := s.Skip()
	if err != nil {
		return nil, err
	}
	text := s.Text(at)
	switch kind {
	case jsondoc.String:
		return jsondoc.Unquote(text), nil
	case jsondoc.Bool:
		return text[0] == 't', nil
	case jsondoc.Number:
		if !bytes.ContainsAny(text, ".eE") {
			if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
				return n, nil
			}
		}
		return strconv.ParseFloat(string(text), 64)
	default:
		return nil, nil
	}
}

// respelt reports whether the API server stores a number of an object in another spelling: 1.0 as 1.
func respelt(object []byte) bool {
	s, err := jsondoc.NewScanner(object, jsondoc.MaxDepth)
	if err != nil {
		return false
	}
	found, err := respeltNext(&s)
	return found && err == nil
}

func respeltNext(s *jsondoc.Scanner) (found bool, err error) {
	next := func() error {
		is, err := respeltNext(s)
		found = found || is
		return err
	}
	switch s.Kind() {
	case jsondoc.Map:
		err = s.Members(func([]byte) error { return next() })
		return found, err
	case jsondoc.Array:
		err = s.Elements(next)
		return found, err
	case jsondoc.Number:
		at, err := s.Skip()
		if err != nil {
			return false, err
		}
		number, err := jsondoc.CanonicalNumber(string(s.Text(at)))
		return number != string(s.Text(at)), err
	default:
		_, err = s.Skip()
		return false, err
	}
}

// copied returns a copy of a decoded value that shares nothing that can change.
func copied[T any](v T) T {
	out, _ := copyOf(v).(T)
	return out
}

func copyOf(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := maps.Clone(v)
		for name, value := range m {
			m[name] = copyOf(value)
		}
		return m
	case []any:
		l := make([]any, len(v))
		for i, value := range v {
			l[i] = copyOf(value)
		}
		return l
	}
	return v
}
