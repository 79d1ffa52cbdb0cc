package offline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/document/yamljson"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// Stdin means stdin in place of a file's name.
const Stdin = "-"

// Objects reads files and folders of objects in order, and reports every file that cannot be read.
func Objects(p *voice.Program, names []string) ([]manifest.File, error) {
	from := ruleset.Origin{What: "objects", Remedy: "give their file or folder"}
	var all []manifest.File
	var problems []error
	add := func(name string, text []byte, err error) {
		var file manifest.File
		if err == nil {
			file, err = manifest.ParseFile(name, text)
		}
		if err == nil {
			all = append(all, file)
		}
		problems = append(problems, err)
	}
	for _, name := range names {
		if name == Stdin {
			text, err := ReadStdin(p, from)
			add("stdin", text, err)
			continue
		}
		files, err := manifests(name)
		problems = append(problems, voice.Usage(from.Unread(name, err), ""))
		for _, file := range files {
			text, err := readFile(file)
			add(file, text, from.Unread(name, err))
		}
	}
	return all, errors.Join(problems...)
}

// manifests returns name, or the YAML and JSON files in and below it if it is a folder. It skips
// folders whose names begin with a dot, which hold the files a second time in a mounted ConfigMap.
func manifests(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var files []string
	root := filepath.Clean(name) + string(filepath.Separator) // the separator follows a link
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
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
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no .yaml, .yml or .json file in or below this folder", name)
	}
	return files, err
}

// Read reads files and folders of rules or CRDs. Stdin may be larger than a file, since it may have
// all CRDs of a cluster. An error is one of usage.
func Read(ctx context.Context, p *voice.Program, from ruleset.Origin, paths []string) ([]ruleset.File, error) {
	var files []ruleset.File
	problems := make([]error, 0, len(paths))
	for _, path := range paths {
		var found []ruleset.File
		var err error
		if path == Stdin {
			found = []ruleset.File{{Name: "stdin"}}
			found[0].Text, err = ReadStdin(p, from)
		} else {
			found, err = ruleset.Read(ctx, ruleset.ReadBounded, from, path)
		}
		files, problems = append(files, found...), append(problems, err)
	}
	return Once(files), voice.Usage(errors.Join(problems...), "")
}

// ReadFile reads a named file, or stdin.
func ReadFile(p *voice.Program, from ruleset.Origin, name string) ([]byte, error) {
	if name == Stdin {
		return ReadStdin(p, from)
	}
	text, err := readFile(name)
	return text, voice.Usage(from.Unread(name, err), "")
}

// maxInput bounds a file of objects, and stdin, in bytes, as serve bounds a request by default.
const maxInput = 128 << 20

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name) //nolint:gosec // the user's own file
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return ruleset.Bounded(file, name, maxInput)
}

// ReadStdin reads all of stdin. Errors call it stdin, whatever the file's name.
func ReadStdin(p *voice.Program, from ruleset.Origin) ([]byte, error) {
	text, err := ruleset.Bounded(p.Stdin, "stdin", maxInput)
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

// InFolders returns the files that were found in folders.
func InFolders(files []ruleset.File) []ruleset.File {
	return slices.DeleteFunc(slices.Clone(files), func(f ruleset.File) bool { return !f.InFolder })
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
