package cases

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/cli/offline"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A testCase is made of the files of one name in one folder.
type testCase struct {
	name  string // path relative to the suite's folder
	path  string // common beginning of its files' names
	files map[direction]*caseFile
}

// A direction is a conversion from one version to another, or if to is empty, the object at from.
type direction struct{ from, to string }

// A caseFile is an object of a case. Its document is nil until --update writes it.
type caseFile struct {
	name     string
	format   string
	document []byte
	gvk      schema.GroupVersionKind
}

// at returns the file of a version, or nil.
func (c *testCase) at(version string) *caseFile { return c.files[direction{version, ""}] }

// result returns the file of what the conversion results in, or nil.
func (c *testCase) result(from, to string) *caseFile {
	return cmp.Or(c.files[direction{from, to}], c.at(to))
}

// versions returns the versions that have a file.
func (c *testCase) versions() []string {
	var names []string
	for d := range c.files {
		if d.to == "" {
			names = append(names, d.from)
		}
	}
	slices.Sort(names)
	return names
}

// collect groups the files of the suite into cases, and reports files that belong to none.
func (s *suite) collect(update bool) {
	byPath := make(map[string]*testCase)
	for _, f := range s.files {
		path, d, ok := caseName(f.Name)
		if !ok {
			s.fail("%s: not a CRD, a Conversion or the file of a case, NAME.VERSION.yaml: "+
				"rename it, or begin its name with a dot", f.Name)
			continue
		}
		file, err := readCaseFile(f, cmp.Or(d.to, d.from), update && d.to != "")
		if err != nil {
			s.fail("%v", err)
			continue
		}
		c := byPath[path]
		if c == nil {
			c = &testCase{name: s.short(path), path: path, files: map[direction]*caseFile{}}
			byPath[path] = c
			s.cases = append(s.cases, c)
		}
		c.files[d] = file
	}
	for _, c := range s.cases {
		s.checkFiles(c)
	}
}

// caseName splits PATH.VERSION.yaml, or PATH.FROM-to-TO.yaml.
func caseName(name string) (path string, d direction, ok bool) {
	name = strings.TrimSuffix(name, filepath.Ext(name))
	dot := strings.LastIndexByte(name, '.')
	if dot <= strings.LastIndexByte(filepath.ToSlash(name), '/')+1 {
		return "", d, false
	}
	d.from, d.to, _ = strings.Cut(name[dot+1:], "-to-")
	return name[:dot], d, true
}

// checkFiles reports files of a case that do not fit together.
func (s *suite) checkFiles(c *testCase) {
	versions := c.versions()
	if len(versions) == 0 {
		s.fail("%s: files from one version to another, and none of a version: add %s.VERSION.yaml", c.name, c.name)
		return
	}
	for _, version := range versions {
		if c.at(version).gvk.GroupKind() != c.at(versions[0]).gvk.GroupKind() {
			s.fail("%s: files of one case with objects of different kinds", c.name)
			break
		}
	}
	for d, f := range c.files {
		if c.at(d.from) == nil && c.at(d.to) == nil {
			s.fail("%s: no file that it could be made from: add %s.%s.yaml", f.name, c.name, d.from)
		}
	}
}

// short returns name relative to the suite's folder.
func (s *suite) short(name string) string {
	if short, err := filepath.Rel(s.dir, name); err == nil {
		return short
	}
	return name
}

// readCaseFile reads the file of an object at a version. With mayBeEmpty, the file may be empty.
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

// source returns the file that --update makes all others from: the first without kept values, in
// the order of versions.
func (c *testCase) source(versions []string) *caseFile {
	var first *caseFile
	for _, v := range versions {
		f := c.at(v)
		if f != nil && !hasKept(f.document) {
			return f
		}
		first = cmp.Or(first, f)
	}
	return first
}

// canonical returns an object with sorted keys, so that two objects can be compared as text.
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

// hasKept reports whether a document has kept values.
func hasKept(document []byte) bool {
	_, removed, err := offline.Strip(document)
	return err == nil && len(removed) > 0
}

func canonicalEqual(a, b []byte) (bool, error) {
	left, leftErr := canonical(a)
	right, rightErr := canonical(b)
	return bytes.Equal(left, right), errors.Join(leftErr, rightErr)
}

// storable returns the reasons why the API server could not store the object as it is. They may
// quote values, since the files are the user's own.
func (s *suite) storable(f *caseFile) []string {
	crd := s.converter.Set.CRD(f.gvk.GroupKind())
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

// removed returns the paths that an object has and its pruned copy does not.
func removed(object, pruned any, path string) []string {
	var paths []string
	switch object := object.(type) {
	case map[string]any:
		kept, _ := pruned.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			at := path + jsondoc.FormatPath(name)
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
