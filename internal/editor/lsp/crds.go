package lsp

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/manifest"
	"github.com/crdconvert/webhookd/internal/serve/ruleset"
)

// maxNear bounds the files that are read in search of CRDs, for each document and change.
const maxNear = 500

var nameInText = regexp.MustCompile(`(?m)(?:^|[\s{,])["']?name["']?\s*:\s*["']?([a-z0-9-]+\.[a-z0-9.-]+)`)

// gather returns the files for an analysis: the document, its neighbours, and the CRDs that they
// name. They come from the paths, or else from the document's folder and the
// folders next to it. Documents that are open in the editor count instead of files.
func gather(ctx context.Context, file, text string, paths []string, open map[string]string) (files, crds []ruleset.File, err error) {
	names := map[string]bool{}
	for _, m := range nameInText.FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	folder := filepath.Dir(file)
	files = append([]ruleset.File{{Name: file, Text: []byte(text)}}, neighbours(folder, file, text, open, names)...)
	var all []ruleset.File
	if len(paths) > 0 {
		all, err = ruleset.Read(ctx, ruleset.ReadBounded, ruleset.Origin{What: "CRDs", Remedy: "correct the path"}, paths...)
	} else {
		all = near(ctx, folder)
		for i, f := range files[1:] {
			if other := filepath.Dir(f.Name); other != folder && other != filepath.Dir(files[i].Name) {
				all = append(all, folderFiles(other)...)
			}
		}
	}
	for _, f := range all {
		if edited, is := open[f.Name]; is {
			f.Text = []byte(edited)
		}
		if defines(f.Text, names) {
			crds = append(crds, f)
		}
	}
	if len(paths) == 0 {
		crds = firstOf(crds, names)
	}
	return files, crds, err
}

// neighbours returns the files that a document needs: those with rule sets, in its folder or else
// in the one above, and, if it has rule sets itself, those that use them, in its folder or in those
// below. It adds the CRDs of these to names.
func neighbours(folder, file, text string, open map[string]string, names map[string]bool) (files []ruleset.File) {
	isSets := strings.Contains(text, "kind: "+syntax.KindRuleSets)
	near := folderFiles(folder)
	hasSets := func(f ruleset.File) bool { return bytes.Contains(f.Text, []byte("kind: "+syntax.KindRuleSets)) }
	switch {
	case isSets:
		near = append(near, below(folder)...)
	case usesShared.MatchString(text) && !slices.ContainsFunc(near, hasSets):
		near = append(near, folderFiles(filepath.Dir(folder))...)
	}
	for _, f := range near {
		if edited, is := open[f.Name]; is {
			f.Text = []byte(edited)
		}
		uses := isSets && usesShared.Match(f.Text)
		if f.Name == file || !uses && !hasSets(f) {
			continue
		}
		f.InFolder = true
		files = append(files, f)
		for _, m := range nameInText.FindAllSubmatch(f.Text, -1) {
			names[string(m[1])] = names[string(m[1])] || uses
		}
	}
	return files
}

// below reads the files of the folders in a folder.
func below(folder string) (files []ruleset.File) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && len(files) < maxNear {
			files = append(files, folderFiles(filepath.Join(folder, e.Name()))...)
		}
	}
	return files
}

var usesShared = regexp.MustCompile(`\buse\s*:\s*["']?[a-z0-9-]+/`)

func defines(text []byte, names map[string]bool) bool {
	if !bytes.Contains(text, []byte("CustomResourceDefinition")) {
		return false
	}
	for _, m := range nameInText.FindAllSubmatch(text, -1) {
		if names[string(m[1])] {
			return true
		}
	}
	return false
}

// firstOf keeps the nearest file for each name: copies of a CRD are common in a repository.
func firstOf(crds []ruleset.File, names map[string]bool) []ruleset.File {
	var kept []ruleset.File
	seen := map[string]bool{}
	for _, f := range crds {
		fresh := false
		for _, m := range nameInText.FindAllSubmatch(f.Text, -1) {
			if name := string(m[1]); names[name] && !seen[name] {
				seen[name], fresh = true, true
			}
		}
		if fresh {
			kept = append(kept, f)
		}
	}
	return kept
}

// near reads the files of a folder, of the folder above it, and of the folders next to it.
func near(ctx context.Context, folder string) []ruleset.File {
	files := folderFiles(folder)
	parent := filepath.Dir(folder)
	files = append(files, folderFiles(parent)...)
	entries, err := os.ReadDir(parent)
	if err != nil {
		return files
	}
	for _, e := range entries {
		if sibling := filepath.Join(parent, e.Name()); e.IsDir() && sibling != folder && len(files) < maxNear && ctx.Err() == nil {
			files = append(files, folderFiles(sibling)...)
		}
	}
	return files
}

// folderFiles reads the YAML and JSON files of a folder. It passes by those that cannot be read.
func folderFiles(folder string) []ruleset.File {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	var files []ruleset.File
	for _, e := range entries {
		if len(files) >= maxNear {
			break
		}
		name := filepath.Join(folder, e.Name())
		if info, err := os.Stat(name); manifest.FormatOf(name) == "" || err != nil || !info.Mode().IsRegular() {
			continue
		}
		if text, err := ruleset.ReadBounded(name, name); err == nil {
			files = append(files, ruleset.File{Name: name, Text: text})
		}
	}
	return files
}
