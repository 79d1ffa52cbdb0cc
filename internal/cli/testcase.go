package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/manifest"
	"github.com/crdconvert/webhookd/internal/ruleset"
	"github.com/crdconvert/webhookd/internal/yamljson"
)

// A testCase is what the files of one name in one folder say.
type testCase struct {
	name     string // with the folder, below that of the suite
	path     string // what its files' names begin with
	versions map[string]*caseFile
	oneWay   map[direction]*caseFile
}

type direction struct{ from, to string }

// A caseFile is an object of a case. The document is nil where there is none yet.
type caseFile struct {
	name     string
	format   string
	document []byte
	gvk      schema.GroupVersionKind
}

// collect sorts the files of the suite by cases, and tells which are of none.
func (s *testSuite) collect(update bool) {
	byPath := make(map[string]*testCase)
	for _, f := range s.files {
		path, from, to, ok := caseName(f.Name)
		if !ok {
			s.fail("%s: neither a CRD, a Conversion nor the file of a case, which is called NAME.VERSION.yaml: "+
				"rename it, or begin its name with a dot", f.Name)
			continue
		}
		file, err := readCaseFile(f, cmp.Or(to, from), update && to != "")
		if err != nil {
			s.fail("%v", err)
			continue
		}
		c := byPath[path]
		if c == nil {
			c = &testCase{name: s.short(path), path: path, versions: map[string]*caseFile{}, oneWay: map[direction]*caseFile{}}
			byPath[path] = c
			s.cases = append(s.cases, c)
		}
		if to != "" {
			c.oneWay[direction{from, to}] = file
		} else {
			c.versions[from] = file
		}
	}
	for _, c := range s.cases {
		s.sound(c)
	}
}

// caseName splits PATH.VERSION.yaml, or PATH.FROM-to-TO.yaml.
func caseName(name string) (path, from, to string, ok bool) {
	name = strings.TrimSuffix(name, filepath.Ext(name))
	dot := strings.LastIndexByte(name, '.')
	if dot <= strings.LastIndexByte(filepath.ToSlash(name), '/')+1 {
		return "", "", "", false
	}
	from, to, _ = strings.Cut(name[dot+1:], "-to-")
	return name[:dot], from, to, true
}

// sound tells what is wrong with the files of a case taken together.
func (s *testSuite) sound(c *testCase) {
	kinds := map[string]bool{}
	for _, f := range c.versions {
		kinds[f.gvk.GroupKind().String()] = true
	}
	if len(kinds) > 1 {
		s.fail("%s: files of one case with objects of different kinds", c.name)
	}
	if len(c.versions) == 0 {
		s.fail("%s: files from one version to another, and none of a version: add %s.VERSION.yaml", c.name, c.name)
	}
	for d, f := range c.oneWay {
		if c.versions[d.from] == nil && c.versions[d.to] == nil {
			s.fail("%s: no file that it could be made from: add %s.%s.yaml", f.name, c.name, d.from)
		}
	}
}

// short is a name without the folder of the suite.
func (s *testSuite) short(name string) string {
	if short, err := filepath.Rel(s.dir, name); err == nil {
		return short
	}
	return name
}

// readCaseFile reads the file of an object of a version. It may be empty where it is to be written.
func readCaseFile(f ruleset.File, version string, mayBeEmpty bool) (*caseFile, error) {
	in, err := manifest.ParseFile(f.Name, f.Text)
	if err != nil {
		return nil, err
	}
	file := &caseFile{name: f.Name, format: in.Format}
	switch {
	case len(in.Documents) == 0 && mayBeEmpty:
		return file, nil
	case len(in.Documents) == 0:
		return nil, fmt.Errorf("%s: no object in this file", f.Name)
	case len(in.Documents) > 1:
		return nil, fmt.Errorf("%s: several documents, put each into a file of its own", f.Name)
	}
	file.document = in.Documents[0]
	if _, file.gvk, err = manifest.ParseObject(file.document); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	if file.gvk.Version != version {
		return nil, fmt.Errorf("%s: object of version %s in a file for %s, correct one of them", f.Name, file.gvk.Version, version)
	}
	return file, nil
}

// text is how a document is written into the file.
func (f *caseFile) text(document []byte) ([]byte, error) {
	var out bytes.Buffer
	err := renderDocument(&out, document, f.format)
	return out.Bytes(), err
}

// source is the file that --update makes all others from: the first in the order of versions that has no kept values.
func (c *testCase) source(versions []string) *caseFile {
	var first *caseFile
	for _, v := range versions {
		f := c.versions[v]
		if f == nil {
			continue
		}
		if !hasKept(f.document) {
			return f
		}
		if first == nil {
			first = f
		}
	}
	return first
}

// canonical writes an object with its keys in order, so that two objects can be compared as texts.
func canonical(document []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return yamljson.FromJSON(sorted)
}

func hasKept(document []byte) bool {
	stripped, err := withoutKept(document)
	same, sameErr := canonicalEqual(stripped, document)
	return err == nil && sameErr == nil && !same
}

func canonicalEqual(a, b []byte) (bool, error) {
	left, leftErr := canonical(a)
	right, rightErr := canonical(b)
	return bytes.Equal(left, right), errors.Join(leftErr, rightErr)
}

// withoutKept returns an object without the annotations that keep values of other versions.
func withoutKept(document []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil, err
	}
	if meta, ok := object["metadata"].(map[string]any); ok {
		if annotations, ok := meta["annotations"].(map[string]any); ok {
			for name := range annotations {
				if keep.IsOwn(name) {
					delete(annotations, name)
				}
			}
			if len(annotations) == 0 {
				delete(meta, "annotations")
			}
		}
	}
	return json.Marshal(object)
}

// storable tells why the API server could not have the object as it is, or nothing. The texts quote values: those of the
// user's own files.
func (s *testSuite) storable(f *caseFile) []string {
	crd := s.set.CRD(f.gvk.GroupKind())
	if crd == nil || crd.Version(f.gvk.Version) == nil {
		return nil
	}
	version := crd.Version(f.gvk.Version)
	var object, pruned map[string]any
	if err := errors.Join(utiljson.Unmarshal(f.document, &object), utiljson.Unmarshal(f.document, &pruned)); err != nil {
		return []string{err.Error()}
	}
	version.Prune(pruned)
	var problems []string
	for _, path := range removed(object, pruned, "") {
		problems = append(problems, "the API server would remove "+path)
	}
	version.Default(pruned)
	for _, e := range version.Validate(pruned) {
		problems = append(problems, "the API server would refuse it: "+e.Error())
	}
	return problems
}

// removed returns what an object has and a pruned copy of it has not.
func removed(object, pruned any, path string) []string {
	var paths []string
	switch object := object.(type) {
	case map[string]any:
		kept, _ := pruned.(map[string]any)
		for _, name := range sortedKeys(object) {
			at := path + fieldPath(name)
			if _, ok := kept[name]; !ok {
				paths = append(paths, at)
				continue
			}
			paths = append(paths, removed(object[name], kept[name], at)...)
		}
	case []any:
		kept, _ := pruned.([]any)
		for i, item := range object {
			if i < len(kept) {
				paths = append(paths, removed(item, kept[i], fmt.Sprintf("%s[%d]", path, i))...)
			}
		}
	}
	return paths
}

func sortedKeys(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
