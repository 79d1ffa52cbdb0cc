package yamledit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// parseValue parses one JSON value.
func parseValue(text []byte) (*node, error) {
	n, err := newJSONReader(string(text)).document()
	if n == nil && err == nil {
		err = errors.New("not JSON: no value")
	}
	return n, err
}

// A jsonReader reads JSON values with their positions.
type jsonReader struct {
	text    string
	decoder *json.Decoder
	deep    int
}

func newJSONReader(text string) *jsonReader {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	return &jsonReader{text: text, decoder: d}
}

// document returns the next value, or nil at the end.
func (r *jsonReader) document() (*node, error) {
	n, err := r.value()
	if errors.Is(err, io.EOF) {
		return nil, nil
	}
	if err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("ends too early")
		}
		at := min(int(r.decoder.InputOffset()), len(r.text))
		return nil, fmt.Errorf("line %d: not JSON: %w", 1+strings.Count(r.text[:at], "\n"), err)
	}
	n.setPaths("")
	return n, nil
}

// token reads a token. Start is where it begins.
func (r *jsonReader) token() (token json.Token, start, end int, err error) {
	start = int(r.decoder.InputOffset())
	token, err = r.decoder.Token()
	for start < len(r.text) && strings.IndexByte(" \t\r\n,:", r.text[start]) >= 0 {
		start++
	}
	return token, start, int(r.decoder.InputOffset()), err
}

func (r *jsonReader) value() (*node, error) {
	token, start, end, err := r.token()
	if err != nil {
		return nil, err
	}
	n := &node{start: start, end: end, flow: true}
	delim, collection := token.(json.Delim)
	if !collection {
		n.raw = canonicalScalar(token, r.text[start:end])
		if _, ok := token.(string); ok {
			n.quote = '"'
		}
		return n, nil
	}
	if r.deep++; r.deep > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d levels, make it flatter", maxDepth)
	}
	n.kind = sequence
	if delim == '{' {
		n.kind = mapping
	}
	for r.decoder.More() {
		e := &entry{}
		if n.kind == mapping {
			var key json.Token
			if key, e.start, e.keyEnd, err = r.token(); err != nil {
				return nil, noEOF(err)
			}
			e.name, _ = key.(string)
			e.after = e.keyEnd + strings.IndexByte(r.text[e.keyEnd:], ':') + 1
		}
		if e.value, err = r.value(); err != nil {
			return nil, noEOF(err)
		}
		if n.kind == sequence {
			e.start, e.after = e.value.start, e.value.start
		}
		n.entries = append(n.entries, e)
	}
	if _, _, n.end, err = r.token(); err != nil {
		return nil, noEOF(err)
	}
	r.deep--
	return n, nil
}

// noEOF makes the end of the text within a value an error.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// canonicalScalar spells equal strings in the same way. Half a surrogate pair, which the decoder
// replaces, keeps its spelling.
func canonicalScalar(token json.Token, text string) string {
	s, ok := token.(string)
	if !ok || strings.ContainsRune(s, utf8.RuneError) {
		return text
	}
	return quoted(s)
}

// quoted returns a string in JSON, which is also YAML.
func quoted(s string) string {
	text, _ := jsondoc.Encode(s) // a string can always be encoded
	return string(text)
}
