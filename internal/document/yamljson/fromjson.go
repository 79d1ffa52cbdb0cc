package yamljson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Values that YAML cannot represent.
var (
	errTooLarge  = errors.New("a number is too large for YAML's readers, which would take it for a string")
	errSurrogate = errors.New("a string holds half of a surrogate pair, which YAML has no spelling for")
)

// FromJSON returns one JSON value as YAML in the style of kubectl: with the order of keys and the
// spelling of numbers, lists not indented, and texts of several lines as blocks. It fails for text
// that is not JSON.
func FromJSON(text []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	root, err := node(decoder)
	if errors.Is(err, errTooLarge) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if replaced(root) > replacedIn(text) {
		return nil, errSurrogate
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	if err := encoder.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// node reads the next value token by token, which keeps the order of keys.
func node(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		if t == '{' {
			n.Kind = yaml.MappingNode
		}
		for decoder.More() {
			// The keys of an object are values like others.
			child, err := node(decoder)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err := decoder.Token()
		return n, err
	case string:
		return stringNode(t), nil
	case json.Number:
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: t.String()}
		if n.ShortTag() == "!!str" {
			return nil, errTooLarge
		}
		return n, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(t)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// base60 is a number in YAML 1.1 (yaml.org/type/int.html), though not to kubectl.
var base60 = regexp.MustCompile(`^[-+]?\d[0-9_]*(:[0-5]?\d)+(\.[0-9_]*)?$`)

// numeral is a number to some YAML reader, however large. The encoder quotes only numbers that fit
// an int64 or a float64.
var numeral = regexp.MustCompile(`^[-+]?(0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\.?\d[0-9_]*(\.[0-9_]*)?([eE][-+]?\d+)?)$`)

func stringNode(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	_, old := oldBool(s)
	switch {
	case strings.Contains(s, "\n") && blockable(s):
		n.Style = yaml.LiteralStyle
	case old || s == "<<" || base60.MatchString(s) || numeral.MatchString(s) || strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// replaced counts U+FFFD, with which the decoder replaces half a surrogate pair.
func replaced(n *yaml.Node) int {
	count := strings.Count(n.Value, "\uFFFD")
	for _, child := range n.Content {
		count += replaced(child)
	}
	return count
}

func replacedIn(text []byte) int {
	return bytes.Count(text, []byte("\uFFFD")) + len(replacementEscape.FindAllIndex(text, -1))
}

var replacementEscape = regexp.MustCompile(`\\u[fF]{3}[dD]`)

// blockable reports whether a text of several lines is safe as a block. White space at the ends of
// lines, or before the first one, is hard to see, and parsers differ.
func blockable(s string) bool {
	if strings.TrimLeft(s, " \n") != s || strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
		return false
	}
	for line := range strings.Lines(s) {
		if trimmed := strings.TrimSuffix(line, "\n"); strings.TrimRight(trimmed, " ") != trimmed {
			return false
		}
	}
	return true
}
