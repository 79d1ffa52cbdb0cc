package rewrite

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// A target is a file to rewrite.
type target struct {
	name string // as the user knows it
	path string // without symlinks, so that a link stays one
}

// targets are the files to convert, and what was skipped, in sentences.
type targets struct {
	targets []target
	skipped []string
	seen    map[string]bool
}

// temporaryMark is in the names of files that replace others. They are hidden and have no
// extension of a manifest, so that no one reads one that an interrupted run has left.
const temporaryMark = ".webhookd-"

// findTargets finds the YAML and JSON files of the paths. Hidden folders are skipped, and links
// to folders or out of the folder.
func findTargets(paths []string) (*targets, error) {
	found := &targets{seen: map[string]bool{}}
	problems := make([]error, 0, len(paths))
	for _, path := range paths {
		from := ruleset.Origin{What: "objects", Remedy: "give their file or folder"}
		problems = append(problems, voice.Usage(from.Unread(path, found.add(path)), ""))
	}
	return found, errors.Join(problems...)
}

func (f *targets) add(path string) error {
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(resolved)
	switch {
	case err != nil:
		return err
	case info.Mode().IsRegular():
		f.file(target{path, resolved})
		return nil
	case !info.IsDir():
		return errors.New("neither a file nor a folder")
	}
	before := len(f.targets)
	walk := walker{targets: f, root: resolved, name: path}
	if err := filepath.WalkDir(resolved, walk.visit); err != nil {
		return err
	}
	walk.report()
	if len(f.targets) == before {
		f.skipped = append(f.skipped, path+": no .yaml, .yml or .json file in or below this folder")
	}
	return nil
}

// file adds a file once.
func (f *targets) file(t target) {
	if !f.seen[t.path] {
		f.seen[t.path] = true
		f.targets = append(f.targets, t)
	}
}

// A walker walks a folder.
type walker struct {
	*targets

	root, name              string
	hidden, links, leftover []string
}

func (w *walker) visit(path string, entry fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	rest, err := filepath.Rel(w.root, path)
	if err != nil {
		return err
	}
	name := filepath.Join(w.name, rest)
	switch base := entry.Name(); {
	case entry.IsDir():
		if path != w.root && strings.HasPrefix(base, ".") {
			w.hidden = append(w.hidden, name)
			return filepath.SkipDir
		}
	case strings.HasPrefix(base, ".") && strings.Contains(base, temporaryMark):
		w.leftover = append(w.leftover, name)
	case entry.Type()&fs.ModeSymlink != 0:
		w.link(name, path)
	case entry.Type().IsRegular() && manifest.FormatOf(base) != "":
		w.file(target{name, path})
	}
	return nil
}

// link adds the file that a link leads to, if it is in the folder.
func (w *walker) link(name, path string) {
	resolved, err := filepath.EvalSymlinks(path)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Stat(resolved)
	}
	switch inside := strings.HasPrefix(resolved, w.root+string(filepath.Separator)); {
	case err != nil || !info.Mode().IsRegular() || !inside && manifest.FormatOf(name) != "":
		w.links = append(w.links, name)
	case manifest.FormatOf(name) != "":
		w.file(target{name, resolved})
	}
}

// report says what the walk has skipped.
func (w *walker) report() {
	const most = 5
	add := func(what string, names []string) {
		if len(names) > 0 {
			w.skipped = append(w.skipped, what+finding.Few(names, most))
		}
	}
	add("skipped hidden folders: ", w.hidden)
	add("skipped links to folders, out of the folder or to nothing; name what they lead to: ", w.links)
	add("left by an interrupted run, remove them: ", w.leftover)
}

// read returns the text of the file, and what it was when it was read.
func (t target) read() (text []byte, info fs.FileInfo, err error) {
	file, err := os.Open(t.path)
	if err == nil {
		defer func() { _ = file.Close() }()
		if info, err = file.Stat(); err == nil {
			text, err = io.ReadAll(file)
		}
	}
	if err != nil {
		err = fmt.Errorf("cannot read objects: %w", err)
	}
	return text, info, err
}

// replace gives the file another text: it writes a file of the same mode and owner in the same
// folder and renames it, so that a crash leaves the old or the new text. It fails if the file
// has changed since it was read.
func (t target) replace(was fs.FileInfo, text []byte) (err error) {
	folder, base := filepath.Split(t.path)
	temporary, err := os.CreateTemp(folder, "."+base+temporaryMark+"*")
	if err != nil {
		return t.unwritten(err)
	}
	defer func() {
		if err != nil {
			_ = temporary.Close()
			_ = os.Remove(temporary.Name())
			err = t.unwritten(err)
		}
	}()
	if _, err := temporary.Write(text); err != nil {
		return err
	}
	if err := temporary.Chmod(was.Mode().Perm()); err != nil {
		return err
	}
	keepOwner(temporary, was)
	if err := temporary.Sync(); err != nil {
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	is, err := os.Stat(t.path)
	if err != nil {
		return err
	}
	if !os.SameFile(was, is) || was.Size() != is.Size() || !was.ModTime().Equal(is.ModTime()) {
		return errors.New("someone else changed the file meanwhile, run it again")
	}
	return os.Rename(temporary.Name(), t.path)
}

// unwritten says why a file stays as it is, without the name of the temporary file.
func (t target) unwritten(err error) error {
	remedy := ""
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		remedy = ", which needs a folder that you may write to"
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		err = failed.Err
	} else if failed, ok := errors.AsType[*os.LinkError](err); ok {
		err = failed.Err
	}
	return fmt.Errorf("%s: cannot write%s, the file is as it was: %w", t.name, remedy, err)
}
