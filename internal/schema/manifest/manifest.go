// Package manifest reads files of Kubernetes objects, in YAML or JSON, with one or more documents.
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/schema/xrd"
)

// The formats of files.
const (
	FormatYAML = "yaml"
	FormatJSON = "json"
)

// A File is a file with the JSON text of its documents.
type File struct {
	Name      string
	Format    string
	Documents [][]byte
}

// Describe names a document in errors. index counts from 0.
func (in *File) Describe(index int) string {
	if len(in.Documents) == 1 {
		return in.Name
	}
	return fmt.Sprintf("%s: document %d", in.Name, index+1)
}

// jsonBegin matches the beginning of a JSON object. A YAML flow mapping rarely quotes its first
// key.
var jsonBegin = regexp.MustCompile(`^\s*\{\s*["}]`)

// noToken is the YAML parser's error for a tab, among other things.
const noToken = "cannot start any token"

var tabIndent = regexp.MustCompile(`(?m)^ *\t`)

// FormatOf returns the format for a file's extension, or "".
func FormatOf(name string) string {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return FormatJSON
	case ".yaml", ".yml":
		return FormatYAML
	}
	return ""
}

// ParseFile reads the documents of a file. If its extension is unknown, the content decides the
// format. With an error it returns the documents before it.
func ParseFile(name string, text []byte) (File, error) {
	in := File{Name: name, Format: FormatOf(name)}
	if in.Format == "" {
		in.Format = FormatYAML
		if jsonBegin.Match(text) {
			in.Format = FormatJSON
		}
	}
	var err error
	if in.Format == FormatJSON {
		in.Documents, err = splitJSON(text)
	} else {
		in.Documents, err = yamljson.ToJSON(text)
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

// splitJSON returns the values of a JSON text, usually one.
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

// ParseObject parses an object, and returns its type.
func ParseObject(text []byte) (*jsondoc.Object, schema.GroupVersionKind, error) {
	var none schema.GroupVersionKind
	if !bytes.HasPrefix(text, []byte("{")) {
		return nil, none, errors.New("not a Kubernetes object, write a mapping with apiVersion and kind")
	}
	object, err := jsondoc.ParseObject(text)
	if err != nil {
		return nil, none, err
	}
	var texts [2]string
	for i, name := range []string{"apiVersion", "kind"} {
		node, err := object.Get(name)
		if err != nil {
			return nil, none, err
		}
		if texts[i], _ = node.Str(); texts[i] == "" {
			return nil, none, fmt.Errorf("not a Kubernetes object, set this field: .%s", name)
		}
	}
	gv, err := schema.ParseGroupVersion(texts[0])
	if err != nil {
		return nil, none, errors.New("not GROUP/VERSION, fix it: .apiVersion")
	}
	return object, gv.WithKind(texts[1]), nil
}

// MayBeObject reports whether a document is meant as a Kubernetes object: a mapping with a key that
// objects have. Rules with a misspelt apiVersion or kind still have a spec.
func MayBeObject(document []byte) bool {
	object, err := jsondoc.ParseObject(document)
	if err != nil {
		return bytes.HasPrefix(document, []byte("{"))
	}
	return slices.ContainsFunc([]string{"apiVersion", "kind", "metadata", "spec", "ruleSets"}, func(name string) bool {
		node, err := object.Get(name)
		return err != nil || node != nil
	})
}

// KindCRD is the kind of a CRD.
const KindCRD = "CustomResourceDefinition"

// IsDefinition reports whether a type is that of a CRD or of a CompositeResourceDefinition, of
// which Crossplane makes CRDs.
func IsDefinition(gvk schema.GroupVersionKind) bool {
	return gvk.Kind == KindCRD || xrd.Is(gvk.GroupVersion().String(), gvk.Kind)
}
