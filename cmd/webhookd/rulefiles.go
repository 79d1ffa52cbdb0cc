package main

import (
	"bytes"
	"context"
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

// maxRuleFiles bounds the files of one folder: a user may have named the root of a repository.
const maxRuleFiles = 10_000

const (
	// dataLink is what the kubelet swaps in the folder of a ConfigMap.
	dataLink = "..data"
	// maxSwaps bounds how often a folder is read anew. The kubelet swaps once in a minute or so, so that two in a row are
	// none of its own.
	maxSwaps = 5
)

// A textFile is a file of rules or of CRDs.
type textFile struct {
	name     string
	text     []byte
	inFolder bool   // it was found in a folder, so that nobody said what it is
	passed   string // why it was passed by
	stuck    bool   // it was, as it did not answer; the text is what it had before, if anything
}

// readTexts returns the YAML and JSON files that the paths name. It searches folders to the bottom, in
// the order of names. It reads all that it can and reports all that it cannot. In a folder it passes by
// anything that is not a file, and files that take too long to read.
func readTexts(ctx context.Context, read textReader, from place, paths ...string) ([]textFile, error) {
	var files []textFile
	problems := make([]error, 0, len(paths))
	for _, path := range paths {
		found, err := readPath(ctx, read, path)
		files = append(files, found...)
		problems = append(problems, from.unread(path, err))
	}
	return files, errors.Join(problems...)
}

func readPath(ctx context.Context, read textReader, path string) ([]textFile, error) {
	info, err := within(ctx, read.waits, path, func() (fs.FileInfo, error) { return os.Stat(path) })
	if err == nil && !info.IsDir() {
		var text []byte
		if text, err = within(ctx, read.waits, path, func() ([]byte, error) { return read.named(path, path) }); err == nil {
			return []textFile{{name: path, text: text}}, nil
		}
	}
	if passed, is := errors.AsType[passedError](err); is {
		return nil, fmt.Errorf("cannot read it: %w, name a file or a folder that can be read: %s", passed, path)
	}
	if err != nil {
		return nil, err
	}
	return readWhole(ctx, read, path, func(generation string) ([]textFile, error) { return readFolder(ctx, read, generation, path) })
}

// readWhole reads the generation of a folder that is there when the reading ends. The kubelet takes the old one of a mounted
// ConfigMap away, file by file, once it has pointed the link ..data at the new one: what was read meanwhile, errors included,
// may be any part of it.
func readWhole(ctx context.Context, reader textReader, dir string, read func(generation string) ([]textFile, error)) ([]textFile, error) {
	current := func() (string, error) {
		return within(ctx, reader.waits, dir, func() (string, error) { return generation(dir) })
	}
	before, err := current()
	if err != nil {
		return nil, err
	}
	for range maxSwaps {
		files, failed := read(before)
		after, err := current()
		if err != nil {
			return nil, err
		}
		if after == before {
			return files, failed
		}
		before = after
	}
	return nil, fmt.Errorf("folder has changed %d times while it was read: %s", maxSwaps, dir)
}

// generation returns where the files of a folder are: where the link ..data of a volume leads, or else in the folder itself.
// The link is read and not followed, since what it led to may be gone a moment later.
func generation(dir string) (string, error) {
	target, err := os.Readlink(filepath.Join(dir, dataLink))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return dir, nil
	case err != nil:
		return "", err
	case filepath.IsAbs(target):
		return target, nil
	}
	return filepath.Join(dir, target), nil
}

// readFolder reads the files in and below a folder but those in folders with a dot, and calls them by
// a name that does not change from one generation to the next.
func readFolder(ctx context.Context, read textReader, folder, name string) ([]textFile, error) {
	entries, err := within(ctx, read.waits, folder, func() ([]os.DirEntry, error) { return os.ReadDir(folder) })
	if err != nil {
		return nil, renamed(err, name)
	}
	var files []textFile
	var problems []error
	for _, e := range entries {
		var found []textFile
		var err error
		file, path := filepath.Join(name, e.Name()), filepath.Join(folder, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			found, err = readFolder(ctx, read, path, file)
		case formatOf(e.Name()) != "":
			found, err = readInFolder(ctx, read, path, file)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		files, problems = append(files, found...), append(problems, err)
		if len(files) > maxRuleFiles {
			return nil, fmt.Errorf("more than %d files in and below this folder, name the one with the rules: %s", maxRuleFiles, name)
		}
	}
	return files, errors.Join(problems...)
}

// readInFolder reads a file that was found in a folder.
func readInFolder(ctx context.Context, read textReader, path, name string) ([]textFile, error) {
	text, err := within(ctx, read.waits, path, func() ([]byte, error) { return read.inFolder(path, name) })
	if passed, ok := errors.AsType[passedError](err); ok {
		return []textFile{{name: name, inFolder: true, passed: passed.why, stuck: passed.stuck}}, nil
	}
	if err != nil {
		return nil, err
	}
	return []textFile{{name: name, text: text, inFolder: true}}, nil
}

// readBounded reads a file; errors call it by another name.
func readBounded(path, name string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own files
	if err != nil {
		return nil, renamed(err, name)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	text, err := bounded(file, name)
	return text, renamed(err, name)
}

// renamed makes the error of a file that of a file with another name.
func renamed(err error, name string) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: failed.Op, Path: name, Err: failed.Err}
	}
	return err
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
	return slices.EqualFunc(a, b, func(a, b textFile) bool {
		return a.name == b.name && a.passed == b.passed && bytes.Equal(a.text, b.text)
	})
}
