package yamledit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/document/yamljson"
)

// A File is a text with its documents. It is immutable.
type File struct {
	// Documents are those with content, in order.
	Documents []Document

	mark string // byte order mark
	text string // without the mark
	json bool
}

// A Document is one of a file.
type Document struct {
	JSON []byte // as internal/document/yamljson reads it
	Line int    // of its first value, from 1

	yaml yamljson.Document
	root *node // of JSON files
}

// A Result is an edited file.
type Result struct {
	Text []byte
	// Changes are those of each document.
	Changes [][]Change
	// LostComments are the lines of comments that are gone with what they were about, from 1, of
	// each document.
	LostComments [][]int
}

// An EditError says why a document cannot be edited. It quotes no values.
type EditError struct {
	Index   int // of the document
	Line    int // from 1
	Problem string
}

// Error implements error.
func (e *EditError) Error() string {
	return fmt.Sprintf("line %d: %s", e.Line, e.Problem)
}

const byteOrderMark = "\uFEFF"

// ParseYAML reads a YAML stream. The error is a *yamljson.Error.
func ParseYAML(text []byte) (*File, error) {
	f := newFile(text)
	for document, err := range yamljson.Documents([]byte(f.text)) {
		if err != nil {
			return nil, err
		}
		one, err := document.JSON(document.Root, maxDepth)
		if err != nil {
			return nil, err
		}
		f.Documents = append(f.Documents, Document{JSON: one, Line: document.Root.Line, yaml: document})
	}
	return f, nil
}

// maxDepth limits the nesting of documents: the tree is walked recursively.
const maxDepth = 500

// ParseJSON reads JSON values that follow each other, usually one.
func ParseJSON(text []byte) (*File, error) {
	f := newFile(text)
	f.json = true
	r := newJSONReader(f.text)
	line, counted := 1, 0
	for {
		root, err := r.document()
		if err != nil {
			return nil, err
		}
		if root == nil {
			return f, nil
		}
		line += strings.Count(f.text[counted:root.start], "\n")
		counted = root.start
		f.Documents = append(f.Documents, Document{JSON: []byte(f.text[root.start:root.end]), Line: line, root: root})
	}
}

func newFile(text []byte) *File {
	rest, marked := strings.CutPrefix(string(text), byteOrderMark)
	f := &File{text: rest}
	if marked {
		f.mark = byteOrderMark
	}
	return f
}

// Edit returns the text in which document i has the value values[i], in JSON, and those with a
// nil value are as they were. The error joins an *EditError for each document that cannot be
// edited.
func (f *File) Edit(values [][]byte) (Result, error) {
	result := Result{Changes: make([][]Change, len(values)), LostComments: make([][]int, len(values))}
	lines, err := f.lines()
	if i := firstOf(values); err != nil && i >= 0 {
		return Result{}, &EditError{Index: i, Line: f.Documents[i].Line, Problem: err.Error()}
	}
	var all []edit
	var problems []error
	for i, value := range values {
		if value == nil {
			continue
		}
		e, err := f.edit(i, value, lines)
		if err != nil {
			if problem, ok := errors.AsType[*EditError](err); ok {
				problem.Index, problem.Line = i, cmp.Or(problem.Line, f.Documents[i].Line)
			}
			problems = append(problems, err)
			continue
		}
		all = append(all, e.edits...)
		result.Changes[i], result.LostComments[i] = e.changes, e.lost
	}
	if err := errors.Join(problems...); err != nil {
		return Result{}, err
	}
	text, ok := spliced(f.text, 0, len(f.text), all)
	if !ok {
		return Result{}, f.unverified(firstOf(values))
	}
	err = f.verify(text, values)
	if err != nil && !strings.HasSuffix(text, "\n") { // a block scalar at the end may need it
		text += "\n"
		err = f.verify(text, values)
	}
	if err != nil {
		return Result{}, err
	}
	result.Text = []byte(f.mark + text)
	return result, nil
}

const errUneditable = "cannot be changed in place without other changes: change it by hand"

func firstOf(values [][]byte) int {
	return slices.IndexFunc(values, func(value []byte) bool { return value != nil })
}

// edit finds the edits of one document.
func (f *File) edit(i int, value []byte, lines []int) (*editor, error) {
	document := &f.Documents[i]
	after, err := parseValue(value)
	if err != nil {
		return nil, err
	}
	before := document.root
	if before == nil {
		if before, err = f.tree(document, lines); err != nil {
			return nil, err
		}
	}
	e := newEditor(f, before)
	err = e.run(before, after)
	return e, err
}

// verify parses the new text, and compares all documents.
func (f *File) verify(text string, values [][]byte) error {
	parse := ParseYAML
	if f.json {
		parse = ParseJSON
	}
	after, err := parse([]byte(text))
	if err != nil || len(after.Documents) != len(f.Documents) {
		return f.unverified(firstOf(values))
	}
	for i := range after.Documents {
		want := f.Documents[i].JSON
		if i < len(values) && values[i] != nil {
			want = values[i]
		} else if bytes.Equal(want, after.Documents[i].JSON) {
			continue
		}
		a, aErr := parseValue(after.Documents[i].JSON)
		b, bErr := parseValue(want)
		if aErr != nil || bErr != nil || a.canonical() != b.canonical() {
			return f.unverified(i)
		}
	}
	return nil
}

const errAnchor = "anchors or aliases across the changed part, write them out first"

// unverified says why the edit of a document may have failed.
func (f *File) unverified(index int) *EditError {
	problem := errUneditable
	switch {
	case slices.ContainsFunc(f.Documents, func(d Document) bool { return d.yaml.Root != nil && hasAlias(d.yaml.Root) }):
		problem = errAnchor
	case !f.json && !strings.HasSuffix(f.text, "\n"):
		problem = "the last line has no line break, which may be part of a value: add one"
	}
	return &EditError{Index: index, Line: f.Documents[index].Line, Problem: problem}
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

// lines returns the offset of each line of a YAML file, once for all documents: a file may have
// very many.
func (f *File) lines() ([]int, error) {
	if f.json {
		return nil, nil
	}
	if !utf8.ValidString(f.text) {
		return nil, errors.New("not UTF-8, save it in UTF-8 first")
	}
	if strings.ContainsAny(strings.ReplaceAll(f.text, "\r\n", "\n"), "\r\u0085\u2028\u2029") {
		return nil, errors.New("line ends other than LF and CRLF, replace them first")
	}
	return lineStarts(f.text), nil
}

// tree builds the tree of a YAML document with the positions of its text.
func (f *File) tree(document *Document, lines []int) (*node, error) {
	b := &builder{document: document.yaml, text: f.text, lines: lines}
	root, err := b.node(document.yaml.Root, -1)
	if err != nil {
		return nil, err
	}
	root.setPaths("")
	return root, nil
}

// lineStarts returns the offset of each line.
func lineStarts(text string) []int {
	starts := []int{0}
	for i := range len(text) {
		if text[i] == '\n' {
			starts = append(starts, i+1)
		}
	}
	return starts
}
