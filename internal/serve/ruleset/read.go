package ruleset

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

	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/tlsreload/volume"
)

// maxRuleFile bounds a file of rules or CRDs in bytes. A ConfigMap may have 1 MiB, and the largest
// CRDs have two.
const maxRuleFile = 8 << 20

// maxRuleFiles bounds the files of one folder, in case a user names the root of a repository.
const maxRuleFiles = 10_000

// A File is a file of rules or CRDs.
type File struct {
	Name     string
	Text     []byte
	InFolder bool // found in a folder, so it may be something else
	skipped  bool // it is not a regular file
}

// Read returns the YAML and JSON files at the paths, and in and below folders, in the order of
// names. It reads all files that it can, and reports all that it cannot. In a folder it passes by
// anything that is not a file.
func Read(ctx context.Context, read Reader, from Origin, paths ...string) ([]File, error) {
	var files []File
	problems := make([]error, 0, len(paths))
	for _, path := range paths {
		found, err := readPath(ctx, read, path)
		files = append(files, found...)
		problems = append(problems, from.Unread(path, err))
	}
	return files, errors.Join(problems...)
}

func readPath(ctx context.Context, read Reader, path string) ([]File, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		var text []byte
		if text, err = read(path, path); err == nil {
			return []File{{Name: path, Text: text}}, nil
		}
	}
	if errors.Is(err, errNotRegular) {
		return nil, fmt.Errorf("%s: cannot read it: %w: name a file or a folder that can be read", path, err)
	}
	if err != nil {
		return nil, err
	}
	return readWhole(path, func(generation string) ([]File, error) { return readFolder(ctx, generation, path) })
}

// readWhole reads the generation of a folder that is current when the reading ends. It discards
// what it has read of an older one, errors included, since that may be incomplete.
func readWhole(dir string, read func(generation string) ([]File, error)) ([]File, error) {
	current := func() (volume.Generation, error) { return volume.Current(dir) }
	return volume.Read(dir, current, func(g volume.Generation) ([]File, error) { return read(g.Path) })
}

// readFolder reads the files in and below a folder, except those whose names, or whose folders'
// names, begin with a dot. It gives them names that stay the same from one generation to the next.
func readFolder(ctx context.Context, folder, name string) ([]File, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, Renamed(err, name)
	}
	var files []File
	var problems []error
	for _, e := range entries {
		var found []File
		var err error
		file, path := filepath.Join(name, e.Name()), filepath.Join(folder, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			found, err = readFolder(ctx, path, file)
		case manifest.FormatOf(e.Name()) != "":
			found, err = readInFolder(path, file)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		files, problems = append(files, found...), append(problems, err)
		if len(files) > maxRuleFiles {
			return nil, fmt.Errorf("%s: more than %d files in and below this folder: name the one with the rules", name, maxRuleFiles)
		}
	}
	return files, errors.Join(problems...)
}

// readInFolder reads a file that was found in a folder.
func readInFolder(path, name string) ([]File, error) {
	text, err := ReadRegular(path, name)
	if skipped := errors.Is(err, errNotRegular); err == nil || skipped {
		return []File{{Name: name, Text: text, InFolder: true, skipped: skipped}}, nil
	}
	return nil, err
}

// ReadBounded is a [Reader] for files on the command line. It also reads pipes.
func ReadBounded(path, name string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own files
	if err != nil {
		return nil, Renamed(err, name)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	text, err := Bounded(file, name, maxRuleFile)
	return text, Renamed(err, name)
}

// Renamed replaces the path in the error of a file.
func Renamed(err error, name string) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: failed.Op, Path: name, Err: failed.Err}
	}
	return err
}

// Bounded reads all that r has, which may be most bytes. Errors call it name.
func Bounded(r io.Reader, name string, most int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: larger than %d MiB: split it", name, most>>20)
	}
	return text, err
}

// SameTexts reports whether files have the same names and texts.
func SameTexts(a, b []File) bool {
	return slices.EqualFunc(a, b, func(a, b File) bool {
		return a.Name == b.Name && a.skipped == b.skipped && bytes.Equal(a.Text, b.Text)
	})
}
