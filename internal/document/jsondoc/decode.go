package jsondoc

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// Decode decodes JSON, several times as fast as encoding/json. The last member of a name counts.
// Numbers are json.Number if literals is set, and otherwise as the API server has them
// (k8s.io/apimachinery/pkg/util/json): an int64 if it is whole and fits, else a float64.
func Decode(text []byte, literals bool) (any, error) {
	s, err := NewScanner(text, MaxDepth)
	if err != nil {
		return nil, err
	}
	v, err := s.decode(literals)
	if err == nil {
		err = s.End()
	}
	return v, err
}

func (s *Scanner) decode(literals bool) (any, error) {
	kind := s.Kind()
	switch kind { //nolint:exhaustive // the others have no parts
	case Map:
		m := map[string]any{}
		err := s.EveryMember(func(name []byte) (err error) {
			key := string(name)
			m[key], err = s.decode(literals)
			return err
		})
		return m, err
	case Array:
		l := []any{}
		err := s.Elements(func() error {
			v, err := s.decode(literals)
			l = append(l, v)
			return err
		})
		return l, err
	}
	at, err := s.Skip()
	if err != nil {
		return nil, err
	}
	text := s.Text(at)
	switch {
	case kind == String:
		return Unquote(text), nil
	case kind == Bool:
		return text[0] == 't', nil
	case kind == Null:
		return nil, nil //nolint:nilnil // null
	case literals:
		return json.Number(text), nil
	}
	if n, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return n, nil
	}
	return strconv.ParseFloat(string(text), 64)
}

// Encode encodes a value on one line, with the names of maps in order and nothing escaped for HTML.
func Encode(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
