package offline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// Stdin means stdin in place of a file's name.
const Stdin = "-"

// Objects reads the files of --filename in order, and reports every file that cannot be read.
func Objects(p *voice.Program, names []string) ([]manifest.File, error) {
	var inputs []manifest.File
	var problems []error
	add := func(name string, text []byte, err error) {
		var in manifest.File
		if err == nil {
			in, err = manifest.ParseFile(name, text)
		}
		if err != nil {
			problems = append(problems, err)
			return
		}
		inputs = append(inputs, in)
	}
	for _, name := range names {
		from := ruleset.Origin{What: "objects", Remedy: "give their file or folder with --filename"}
		if name == Stdin {
			text, err := ReadStdin(p, from)
			add("stdin", text, err)
			continue
		}
		files, err := FilesOf(name)
		if err != nil {
			problems = append(problems, voice.Usage(from.Unread(name, err), ""))
		}
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // the user's own files
			add(file, text, from.Unread(name, err))
		}
	}
	return inputs, errors.Join(problems...)
}

// FilesOf returns name, or the files in and below it if it is a folder. It skips folders whose
// names begin with a dot, which hold the files a second time in a mounted ConfigMap.
func FilesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	files, err := YAMLFiles(name)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no .yaml, .yml or .json file in or below this folder", name)
	}
	return files, err
}

// YAMLFiles returns the YAML and JSON files in and below a folder, as filesOf describes.
func YAMLFiles(name string) ([]string, error) {
	var files []string
	root := filepath.Clean(name) + string(filepath.Separator) // the separator follows a link
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != root && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.IsDir() && manifest.FormatOf(file) != "":
			files = append(files, filepath.Clean(file))
		}
		return nil
	})
	return files, err
}

// Read reads files and folders. For - it reads stdin without a limit, since all CRDs of a cluster
// may be large.
func Read(ctx context.Context, p *voice.Program, from ruleset.Origin, paths []string) ([]ruleset.File, error) {
	var files []ruleset.File
	var problems []error
	for _, path := range paths {
		if path == Stdin {
			text, err := ReadStdin(p, from)
			files, problems = append(files, ruleset.File{Name: "stdin", Text: text}), append(problems, err)
			continue
		}
		found, err := ruleset.Read(ctx, ruleset.ReaderForVerbs(), from, path)
		files, problems = append(files, found...), append(problems, err)
	}
	return Once(files), errors.Join(problems...)
}

// ReadStdin reads all of stdin. Errors call it stdin, whatever the file's name.
func ReadStdin(p *voice.Program, from ruleset.Origin) ([]byte, error) {
	text, err := io.ReadAll(p.Stdin)
	return text, from.Unread("stdin", ruleset.Renamed(err, "stdin"))
}

// Once removes duplicates, such as a file that is named and also in a named folder. Such a file
// counts as named, not as found in a folder.
func Once(files []ruleset.File) []ruleset.File {
	first := make(map[string]int, len(files))
	kept := make([]ruleset.File, 0, len(files))
	for _, f := range files {
		name := filepath.Clean(f.Name)
		i, again := first[name]
		if !again {
			first[name] = len(kept)
			kept = append(kept, f)
			continue
		}
		kept[i].InFolder = kept[i].InFolder && f.InFolder
	}
	return kept
}

// NamesOf lists paths for an error, with stdin for -.
func NamesOf(paths []string) string {
	names := slices.Clone(paths)
	for i, name := range names {
		if name == Stdin {
			names[i] = "stdin"
		}
	}
	return strings.Join(names, ", ")
}

// NoConversion says that files have no rules.
func NoConversion(paths []string) error {
	return voice.Usage(fmt.Errorf("%s: no Conversion in any file", NamesOf(paths)), "webhookd suggest writes a first draft")
}
