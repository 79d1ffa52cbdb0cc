// Package volume reads the folder of a mounted ConfigMap or Secret, which changes while it is read.
//
// The kubelet changes such a folder in one step: it writes a new folder inside it, renames a new
// link over ..data to point there, and removes the old folder (Kubernetes
// pkg/volume/util/atomic_writer.go). The visible files are links through ..data. So a reader that
// wants files that belong together determines the current [Generation] once, and reads all files
// from there. A plain folder, without the link, has only one generation: itself.
package volume

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	dataLink = "..data"
	// maxSwaps is how often Read reads a changing folder. The kubelet swaps about once a minute, so
	// two swaps in a row are not its own.
	maxSwaps = 5
)

// A Generation is the folder with the files of a volume at one time. Two are equal if they are the
// same folder.
type Generation struct {
	Name string // target of ..data; empty for a plain folder
	Path string // of the folder
}

// Current returns the current generation of dir. It reads the link but does not follow it, so its
// error, an *fs.PathError, is about the link itself. A plain folder, and a missing one, cause no
// error.
func Current(dir string) (Generation, error) {
	target, err := os.Readlink(filepath.Join(dir, dataLink))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Generation{Path: dir}, nil
	case err != nil:
		return Generation{}, err
	case filepath.IsAbs(target):
		return Generation{Name: target, Path: target}, nil
	}
	return Generation{Name: target, Path: filepath.Join(dir, target)}, nil
}

// Files are the files of one generation. When ..data moves on they do not change, but they
// disappear one by one as the kubelet removes the folder.
type Files struct {
	// FS has the files. It is an fs.StatFS, so fs.Stat does not open a file; opening a FIFO would
	// block.
	FS   fs.FS
	root *os.Root // nil for a plain folder
}

// Open opens the folder; the caller closes it. Links in a plain folder may lead anywhere, those in
// a volume must stay inside it.
func (g Generation) Open() (*Files, error) {
	if g.Name == "" {
		if _, err := os.Stat(g.Path); err != nil {
			return nil, err
		}
		return &Files{FS: os.DirFS(g.Path)}, nil
	}
	root, err := os.OpenRoot(g.Path)
	if err != nil {
		return nil, err
	}
	return &Files{FS: root.FS(), root: root}, nil
}

// Close closes the folder.
func (f *Files) Close() {
	if f.root != nil {
		_ = f.root.Close() // read-only: nothing can be lost
	}
}

// Read returns the result of read for the current generation of dir. If the generation changes
// meanwhile it calls read again, because the first result or error may be from a folder that was
// being removed. current is [Current] of dir, or a wrapper of it.
func Read[T any](dir string, current func() (Generation, error), read func(Generation) (T, error)) (T, error) {
	var none T
	before, err := current()
	if err != nil {
		return none, err
	}
	for range maxSwaps {
		result, failed := read(before)
		after, err := current()
		if err != nil {
			return none, err
		}
		if after == before {
			return result, failed
		}
		before = after
	}
	return none, fmt.Errorf("folder changed %d times while it was read: %s", maxSwaps, dir)
}
