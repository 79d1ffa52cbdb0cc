package yamljson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxExpansion bounds how many times larger than the YAML the JSON may get by aliases; below
// minExpansion bytes anything goes.
const (
	maxExpansion = 64
	minExpansion = 8 << 20
)

// ToJSON returns the JSON text of each document in a YAML stream, in one line each. Documents without
// content are left out. On an error, which is an *Error, it also returns the documents before it.
func ToJSON(text []byte) ([][]byte, error) {
	var documents [][]byte
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var root yaml.Node
		err := decoder.Decode(&root)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return documents, syntaxError(err)
		}
		if len(root.Content) == 0 || empty(root.Content[0]) {
			continue
		}
		w := &writer{limit: max(minExpansion, maxExpansion*len(text))}
		if err := w.value(root.Content[0]); err != nil {
			return documents, err
		}
		documents = append(documents, w.out)
	}
}

// syntaxError takes the line number out of what the parser says.
func syntaxError(err error) error {
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if head, rest, ok := strings.Cut(problem, ": "); ok {
		if n, err := strconv.Atoi(strings.TrimPrefix(head, "line ")); err == nil {
			line, problem = n, rest
		}
	}
	return &Error{line, "not YAML: " + problem}
}

// empty reports whether a document has no content at all: comments only, or an empty one between
// two lines of dashes.
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == ""
}

// A writer writes the JSON of one document.
type writer struct {
	out   []byte
	limit int
	open  []*yaml.Node // the aliases that are being resolved
}

func fail(n *yaml.Node, format string, args ...any) error {
	return &Error{n.Line, fmt.Sprintf(format, args...)}
}

func (w *writer) value(n *yaml.Node) error {
	if len(w.out) > w.limit {
		return fail(n, "aliases make this document too large, write it out")
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.alias(n)
	case yaml.MappingNode:
		return w.mapping(n)
	case yaml.SequenceNode:
		return w.sequence(n)
	case yaml.ScalarNode:
		text, err := scalar(n)
		w.out = append(w.out, text...)
		return err
	case yaml.DocumentNode:
	}
	return fail(n, "not a value")
}

func (w *writer) alias(n *yaml.Node) error {
	if slices.Contains(w.open, n.Alias) {
		return fail(n, "alias within what it stands for, write it out: *%s", n.Value)
	}
	w.open = append(w.open, n.Alias)
	err := w.value(n.Alias)
	w.open = w.open[:len(w.open)-1]
	return err
}

func (w *writer) sequence(n *yaml.Node) error {
	if err := checkTag(n, "!!seq"); err != nil {
		return err
	}
	w.out = append(w.out, '[')
	for i, item := range n.Content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.out = append(w.out, ']')
	return nil
}

func (w *writer) mapping(n *yaml.Node) error {
	members, err := membersOf(n, 0)
	if err != nil {
		return err
	}
	w.out = append(w.out, '{')
	for i, m := range members {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(append(w.out, quote(m.name)...), ':')
		if err := w.value(m.value); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// checkTag refuses a tag that was written out, other than the one that the node has anyway.
func checkTag(n *yaml.Node, plain string) error {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != plain {
		return fail(n, "tags are not supported, remove it: %s", n.Tag)
	}
	return nil
}

// quote escapes only what JSON demands, and line ends in the short way.
func quote(s string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can always be encoded
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
