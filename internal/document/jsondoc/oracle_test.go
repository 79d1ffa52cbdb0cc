package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	kjson "sigs.k8s.io/json"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// allowDuplicates makes jsontext accept all of RFC 8259.
func allowDuplicates() jsontext.Options { return jsontext.AllowDuplicateNames(true) }

// scan reads the whole text as one value.
func scan(text []byte, maxDepth int) error {
	s, err := jsondoc.NewScanner(text, maxDepth)
	if err != nil {
		return err
	}
	if _, err := s.Skip(); err != nil {
		return err
	}
	return s.End()
}

// verdict compares the scanner with encoding/json, jsontext and sigs.k8s.io/json. It must accept
// valid UTF-8 that all of them accept, up to its depth. The disagreement is empty if they agree.
func verdict(text []byte) (accepted bool, disagreement string) {
	err := scan(text, jsondoc.MaxDepth)
	std, strict := json.Valid(text), jsontext.Value(text).IsValid(allowDuplicates())
	kerr := kjson.UnmarshalCaseSensitivePreserveInts(text, &struct{}{})
	ksyntax, _ := kjson.SyntaxErrorOffset(kerr)
	var syntax *jsondoc.SyntaxError
	switch {
	case (err == nil) != (steps(text, new([]string)) == nil):
		return false, fmt.Sprintf("Enter and Next disagree with Skip: %v", err)
	case strict && (!std || !utf8.Valid(text)):
		return false, "the oracles disagree: jsontext accepts what encoding/json does not"
	case std == ksyntax:
		return false, fmt.Sprintf("the oracles disagree: sigs.k8s.io/json says %v", kerr)
	case err == nil && !strict:
		return false, "accepted, and jsontext does not"
	case err != nil && !errors.As(err, &syntax):
		return false, fmt.Sprintf("error is not a SyntaxError: %v", err)
	case err != nil && (syntax.Offset < 0 || syntax.Offset > len(text)):
		return false, fmt.Sprintf("offset is outside of the text: %v", err)
	case err != nil && syntax.Problem == "nested too deep, an object may have 512 levels":
		if strict && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= jsondoc.MaxDepth {
			return false, err.Error()
		}
	case err != nil && std && utf8.Valid(text) && (strict || syntax.Problem != "invalid escape in a string"):
		// jsontext refuses lone surrogates, which encoding/json does not.
		return false, fmt.Sprintf("refused: %v", err)
	}
	return err == nil, ""
}

// sameWalk reads valid text through Members and Elements, and compares every name and value with
// jsontext.
func sameWalk(text []byte) error {
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return err
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), allowDuplicates())
	if err := walkValue(&s, d, text); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("jsontext has more: %w", err)
	}
	return s.End()
}

// sameSteps compares a walk over text by Enter and Next with one by EveryMember and Elements.
func sameSteps(text []byte) error {
	var strict, quick []string
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err == nil {
		err = visited(&s, &strict)
	}
	if err != nil {
		return err
	}
	if err := steps(text, &quick); err != nil {
		return err
	}
	if !slices.Equal(strict, quick) {
		return fmt.Errorf("Enter and Next find %q, want %q", quick, strict)
	}
	return nil
}

// steps reads the whole text by Enter and Next.
func steps(text []byte, seen *[]string) error {
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err == nil {
		err = stepped(&s, seen)
	}
	if err == nil {
		err = s.End()
	}
	return err
}

func visited(s *jsondoc.Scanner, seen *[]string) error {
	switch s.Kind() {
	case jsondoc.Map:
		return s.EveryMember(func(name []byte) error { *seen = append(*seen, string(name)); return visited(s, seen) })
	case jsondoc.Array:
		return s.Elements(func() error { *seen = append(*seen, "element"); return visited(s, seen) })
	default:
		at, err := s.Skip()
		*seen = append(*seen, string(s.Text(at)))
		return err
	}
}

func stepped(s *jsondoc.Scanner, seen *[]string) error {
	kind := s.Kind()
	if kind != jsondoc.Map && kind != jsondoc.Array {
		at, err := s.Skip()
		*seen = append(*seen, string(s.Text(at)))
		return err
	}
	for more := s.Enter(); more; more = s.Next(kind == jsondoc.Map) {
		if *seen = append(*seen, "element"); kind == jsondoc.Map {
			(*seen)[len(*seen)-1] = string(s.Name())
		}
		if err := stepped(s, seen); err != nil {
			return err
		}
	}
	return s.Err()
}

func walkValue(s *jsondoc.Scanner, d *jsontext.Decoder, text []byte) error {
	if kind := map[jsontext.Kind]jsondoc.Kind{
		'n': jsondoc.Null, 't': jsondoc.Bool, 'f': jsondoc.Bool, '0': jsondoc.Number, '"': jsondoc.String,
		'[': jsondoc.Array, '{': jsondoc.Map,
	}[d.PeekKind()]; s.Kind() != kind {
		return fmt.Errorf("kind is %q, want %q", s.Kind(), kind)
	}
	switch s.Kind() {
	case jsondoc.Map:
		return walkMembers(s, d, text)
	case jsondoc.Array:
		if _, err := d.ReadToken(); err != nil {
			return err
		}
		if err := s.Elements(func() error { return walkValue(s, d, text) }); err != nil {
			return err
		}
		_, err := d.ReadToken()
		return err
	default:
		return sameValue(s, d, text)
	}
}

// walkMembers also checks that exactly the duplicate names are found.
func walkMembers(s *jsondoc.Scanner, d *jsontext.Decoder, text []byte) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	seen := map[string]bool{}
	err := s.Members(func(name []byte) error {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		if token.Kind() != '"' || token.String() != string(name) {
			return fmt.Errorf("name is %q, jsontext has %v", name, token)
		}
		if seen[string(name)] {
			return fmt.Errorf("repeated name %q was not found", name)
		}
		seen[string(name)] = true
		return walkValue(s, d, text)
	})
	var syntax *jsondoc.SyntaxError
	if errors.As(err, &syntax) && syntax.Problem == "duplicate name" {
		token, nextErr := d.ReadToken()
		if nextErr != nil || token.Kind() != '"' || !seen[token.String()] {
			return fmt.Errorf("name at %d is not a repeated one: %v, %w", syntax.Offset, token, nextErr)
		}
		return errRepeated
	}
	if err != nil {
		return err
	}
	_, err = d.ReadToken()
	return err
}

// errRepeated says that a walk ended at a duplicate name, as it should.
var errRepeated = errors.New("repeated name")

func sameValue(s *jsondoc.Scanner, d *jsontext.Decoder, text []byte) error {
	at, err := s.Skip()
	if err != nil {
		return err
	}
	value, err := d.ReadValue()
	if err != nil {
		return err
	}
	end := d.InputOffset()
	if !bytes.Equal(s.Text(at), value) || int64(at.End) != end || !bytes.Equal(text[at.Start:at.End], value) {
		return fmt.Errorf("value is %q at %v, jsontext has %q up to %d", s.Text(at), at, value, end)
	}
	if value.Kind() == '"' {
		var decoded string
		if err := json.Unmarshal(value, &decoded); err != nil || jsondoc.Unquote(value) != decoded {
			return fmt.Errorf("string is %q, want %q: %w", jsondoc.Unquote(value), decoded, err)
		}
	}
	return nil
}
