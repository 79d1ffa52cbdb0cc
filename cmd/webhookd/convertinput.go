package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/crdconvert/webhookd/internal/yamljson"
)

const (
	formatYAML = "yaml"
	formatJSON = "json"
)

// stdinName stands for stdin where a file is named.
const stdinName = "-"

// An input is a file with the JSON text of its documents.
type input struct {
	name      string
	format    string
	documents [][]byte
}

// describe names a document of the input; index counts from 0.
func (in *input) describe(index int) string {
	if len(in.documents) == 1 {
		return in.name
	}
	return fmt.Sprintf("%s: document %d", in.name, index+1)
}

// readInputs reads what --filename names, in order, and reports every file that cannot be read.
func (p *program) readInputs(names []string) ([]input, error) {
	var inputs []input
	var problems []error
	add := func(name string, text []byte, err error) {
		var in input
		if err == nil {
			in, err = parseInput(name, text)
		}
		if err != nil {
			problems = append(problems, err)
			return
		}
		inputs = append(inputs, in)
	}
	for _, name := range names {
		from := place{"objects", "give their file or folder with --filename"}
		if name == stdinName {
			text, err := p.readStdin(from)
			add("stdin", text, err)
			continue
		}
		files, err := filesOf(name)
		if err != nil {
			problems = append(problems, usage(from.unread(name, err), ""))
		}
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // the user's own files
			add(file, text, from.unread(name, err))
		}
	}
	return inputs, errors.Join(problems...)
}

// filesOf returns name, or the files in and below it if it is a folder. Folders whose name begins with
// a dot are left out: in a mounted ConfigMap they hold the files once more.
func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	files, err := yamlFiles(name)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no .yaml, .yml or .json file in or below this folder: %s", name)
	}
	return files, err
}

// yamlFiles returns the YAML and JSON files in and below a folder, see filesOf.
func yamlFiles(name string) ([]string, error) {
	var files []string
	root := filepath.Clean(name) + string(filepath.Separator) // of a link: what it leads to
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.IsDir() && formatOf(file) != "":
			files = append(files, filepath.Clean(file))
		}
		return nil
	})
	return files, err
}

// formatOf returns the format that a file's name says, or "".
func formatOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return formatJSON
	case ".yaml", ".yml":
		return formatYAML
	}
	return ""
}

// jsonBegin is how a JSON object begins; one in YAML seldom has its first key in quotes.
var jsonBegin = regexp.MustCompile(`^\s*\{\s*["}]`)

// noToken is what a YAML parser says of a tab, among others.
const noToken = "cannot start any token"

var tabIndent = regexp.MustCompile(`(?m)^ *\t`)

// parseInput reads the documents of a file. Where its name does not tell the format, its begin does.
func parseInput(name string, text []byte) (input, error) {
	in := input{name: name, format: formatOf(name)}
	if in.format == "" {
		in.format = formatYAML
		if jsonBegin.Match(text) {
			in.format = formatJSON
		}
	}
	var err error
	if in.format == formatJSON {
		in.documents, err = splitJSON(text)
	} else {
		in.documents, err = yamljson.ToJSON(text)
		if err != nil && strings.Contains(err.Error(), noToken) && tabIndent.Match(text) {
			err = fmt.Errorf("%w, indent with spaces, not tabs", err)
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return in, err
}

// errorLine returns the line in which the decoder failed.
func errorLine(text []byte, decoder *json.Decoder, err error) int {
	at := decoder.InputOffset()
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	} else if errors.Is(err, io.ErrUnexpectedEOF) {
		at = int64(len(text))
	}
	return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n"))
}

// splitJSON returns the values of a JSON text: usually one, or several one after the other.
func splitJSON(text []byte) ([][]byte, error) {
	var documents [][]byte
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var document json.RawMessage
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return documents, fmt.Errorf("line %d: not JSON: %w", errorLine(text, decoder, err), err)
		}
		documents = append(documents, document)
	}
}
