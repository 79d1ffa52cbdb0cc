package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// stdinName means stdin in place of a file's name.
const stdinName = "-"

// readInputs reads the files of --filename in order, and reports every file that cannot be read.
func (p *program) readInputs(names []string) ([]manifest.File, error) {
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
		if name == stdinName {
			text, err := p.readStdin(from)
			add("stdin", text, err)
			continue
		}
		files, err := filesOf(name)
		if err != nil {
			problems = append(problems, usage(from.Unread(name, err), ""))
		}
		for _, file := range files {
			text, err := os.ReadFile(file) //nolint:gosec // the user's own files
			add(file, text, from.Unread(name, err))
		}
	}
	return inputs, errors.Join(problems...)
}

// filesOf returns name, or the files in and below it if it is a folder. It skips folders whose
// names begin with a dot, which hold the files a second time in a mounted ConfigMap.
func filesOf(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	files, err := yamlFiles(name)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("%s: no .yaml, .yml or .json file in or below this folder", name)
	}
	return files, err
}

// yamlFiles returns the YAML and JSON files in and below a folder, as filesOf describes.
func yamlFiles(name string) ([]string, error) {
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
