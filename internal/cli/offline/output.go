package offline

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
)

// Each returns files with what convert makes of each document, which it gets with a name for it. It
// joins all errors, with these names.
func Each(files []manifest.File, convert func(name string, document []byte) ([]byte, error)) ([]manifest.File, error) {
	var problems []error
	results := make([]manifest.File, len(files))
	for i, file := range files {
		results[i] = manifest.File{Name: file.Name, Format: file.Format}
		for j, document := range file.Documents {
			name := file.Describe(j)
			text, err := convert(name, document)
			for _, problem := range Split(err) {
				problems = append(problems, fmt.Errorf("%s: %w", name, problem))
			}
			results[i].Documents = append(results[i].Documents, text)
		}
	}
	return results, errors.Join(problems...)
}

// Render writes all documents of all files as one stream.
func Render(files []manifest.File, format string) ([]byte, error) {
	var out bytes.Buffer
	for i := range files {
		for _, document := range files[i].Documents {
			if format == manifest.FormatYAML && out.Len() > 0 {
				out.WriteString("---\n")
			}
			text, err := RenderDocument(document, format)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", files[i].Name, err)
			}
			out.Write(text)
		}
	}
	return out.Bytes(), nil
}

// RenderDocument returns one document in a format.
func RenderDocument(document []byte, format string) ([]byte, error) {
	if format == manifest.FormatYAML {
		return yamljson.FromJSON(document)
	}
	var out bytes.Buffer
	err := json.Indent(&out, document, "", "  ")
	out.WriteByte('\n')
	return out.Bytes(), err
}

// Diffs writes what changes in each file. It formats both sides, so that differences of layout do
// not show. Without an output format, that is the one of each file. The label is of the new side.
func Diffs(before, after []manifest.File, output, label string) ([]byte, error) {
	var out bytes.Buffer
	for i := range before {
		format := cmp.Or(output, before[i].Format)
		old, err := Render(before[i:i+1], format)
		if err != nil {
			return nil, err
		}
		converted, err := Render(after[i:i+1], format)
		if err != nil {
			return nil, err
		}
		out.Write(diff.Diff(before[i].Name, old, before[i].Name+" ("+label+")", converted))
	}
	return out.Bytes(), nil
}
