package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxRuleFile bounds one file of rules or CRDs in bytes: a ConfigMap may have 1 MiB, the largest CRDs have two.
const maxRuleFile = 8 << 20

// A textFile is a file of rules or of CRDs.
type textFile struct {
	name     string
	text     []byte
	inFolder bool // it was found in a folder, so that nobody said what it is
}

// readTexts returns the YAML and JSON files that the paths name, those of a folder in the order of their names. It reads
// all that it can, and reports all that it cannot.
func readTexts(paths ...string) ([]textFile, error) {
	var files []textFile
	problems := make([]error, 0, len(paths))
	for _, path := range paths {
		found, err := readPath(path)
		files = append(files, found...)
		problems = append(problems, pathLast(err))
	}
	return files, errors.Join(problems...)
}

// pathLast writes the error of a file as all others are written: the path last.
func pathLast(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("cannot read: %w: %s", failed.Err, failed.Path)
	}
	return err
}

func readPath(path string) ([]textFile, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		text, err := readBounded(path)
		return []textFile{{name: path, text: text}}, err
	}
	dir, err := generation(path)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []textFile
	var problems []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || formatOf(e.Name()) == "" {
			continue
		}
		text, err := readBounded(filepath.Join(dir, e.Name()))
		if err != nil {
			problems = append(problems, err)
			continue
		}
		files = append(files, textFile{filepath.Join(path, e.Name()), text, true})
	}
	return files, errors.Join(problems...)
}

// generation returns where the files of a folder are. The kubelet swaps the link ..data of a mounted ConfigMap: following
// it once makes all files those of one version.
func generation(dir string) (string, error) {
	target, err := filepath.EvalSymlinks(filepath.Join(dir, "..data"))
	if errors.Is(err, os.ErrNotExist) {
		return dir, nil
	}
	return target, err
}

func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own files
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return bounded(file, path)
}

// bounded reads all of a file of rules or CRDs.
func bounded(r io.Reader, name string) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxRuleFile+1))
	if err == nil && len(text) > maxRuleFile {
		err = fmt.Errorf("file has more than %d bytes, split it: %s", maxRuleFile, name)
	}
	return text, err
}

func sameTexts(a, b []textFile) bool {
	return slices.EqualFunc(a, b, func(a, b textFile) bool { return a.name == b.name && bytes.Equal(a.text, b.text) })
}
