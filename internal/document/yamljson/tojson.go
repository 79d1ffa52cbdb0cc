package yamljson

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// maxExpansion limits the size of the JSON, which aliases expand, as a multiple of the YAML. Up to
// minExpansion bytes are always allowed.
const (
	maxExpansion = 64
	minExpansion = 8 << 20
)

// maxDepth is the limit of the API server's decoder.
const maxDepth = 10000

// ToJSON returns the JSON text of each document in a YAML stream, one line each, without empty
// documents. On an error, which is an *Error, it also returns the documents before it.
func ToJSON(text []byte) ([][]byte, error) {
	var documents [][]byte
	for document, err := range Documents(text) {
		if err != nil {
			return documents, err
		}
		one, err := document.JSON(document.Root, maxDepth)
		if err != nil {
			return documents, err
		}
		documents = append(documents, one)
	}
	return documents, nil
}

// A Document is one of a YAML stream, for callers that need line numbers.
type Document struct {
	Root *yaml.Node
	// Canonical makes JSON write numbers as the API server stores them ([jsondoc.CanonicalNumber]).
	Canonical bool

	limit int // of the JSON of a node
}

// Documents yields the documents of a YAML stream that have content. An error, an *Error, is the
// last.
func Documents(text []byte) iter.Seq2[Document, error] {
	limit := max(minExpansion, maxExpansion*len(text))
	return func(yield func(Document, error) bool) {
		for decoder := yaml.NewDecoder(bytes.NewReader(text)); ; {
			var root yaml.Node
			err := decoder.Decode(&root)
			switch {
			case errors.Is(err, io.EOF):
				return
			case err != nil:
				yield(Document{}, syntaxError(err))
				return // the decoder cannot find the next document
			case len(root.Content) == 0 || empty(root.Content[0]):
			case !yield(Document{Root: root.Content[0], limit: limit}, nil):
				return
			}
		}
	}
}

// JSON returns the JSON text of a node of the document, with at most depth levels of mappings and
// lists. The error is an *Error.
func (d Document) JSON(n *yaml.Node, depth int) ([]byte, error) {
	w := &writer{limit: d.limit, depth: depth, canonical: d.Canonical}
	err := w.value(n)
	return w.out, err
}

// syntaxError extracts the line number from the parser's error.
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

// empty reports whether a document has no content, only comments or nothing.
func empty(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Style == 0 && n.Value == ""
}

// A writer writes the JSON of one document.
type writer struct {
	out   []byte
	limit int
	depth int          // limit of levels
	deep  int          // level of the value at hand
	open  []*yaml.Node // aliases that are being resolved

	canonical bool // as of Document
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
	case yaml.MappingNode, yaml.SequenceNode:
		return w.collection(n)
	case yaml.ScalarNode:
		text, err := scalar(n)
		if err != nil || !w.canonical || !jsondoc.IsNumber(text) {
			w.out = append(w.out, text...)
			return err
		}
		number, err := jsondoc.CanonicalNumber(string(text))
		if err != nil {
			return fail(n, "number that JSON cannot say, write another one")
		}
		w.out = append(w.out, number...)
		return nil
	case yaml.DocumentNode:
	}
	return fail(n, "not a value")
}

func (w *writer) alias(n *yaml.Node) error {
	if slices.Contains(w.open, n.Alias) {
		return fail(n, "alias within itself, write it out: *%s", n.Value)
	}
	w.open = append(w.open, n.Alias)
	err := w.value(n.Alias)
	w.open = w.open[:len(w.open)-1]
	return err
}

func (w *writer) collection(n *yaml.Node) error {
	if w.deep == w.depth {
		return fail(n, "nested deeper than %d levels, make it flatter", w.depth)
	}
	w.deep++
	defer func() { w.deep-- }()
	if n.Kind == yaml.MappingNode {
		return w.mapping(n)
	}
	return w.sequence(n)
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
		w.out = append(append(w.out, quote(m.Name)...), ':')
		if err := w.value(m.Value); err != nil {
			return err
		}
	}
	w.out = append(w.out, '}')
	return nil
}

// checkTag refuses an explicit tag other than the node's own.
func checkTag(n *yaml.Node, plain string) error {
	if n.Style&yaml.TaggedStyle != 0 && n.ShortTag() != plain {
		return fail(n, "tags are not supported, remove it: %s", n.Tag)
	}
	return nil
}

// quote escapes only what JSON demands, with short escapes for line ends.
func quote(s string) []byte {
	text, _ := jsondoc.Encode(s) // a string can always be encoded
	return text
}
