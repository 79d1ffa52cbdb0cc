package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

const (
	// maxBelow bounds the files that are looked at below a folder: somebody may have named the root of a repository.
	maxBelow = 1000
	// maxToldBelow bounds the folders that are named.
	maxToldBelow = 5
)

// foldersBelow returns the folders below the paths in which there are objects of a kind: those of rules and of CRDs are read
// without the folders below them, as serve reads the mount of a ConfigMap, and whoever expected more is to be told. It is a
// hint, so that what cannot be read is not told.
func foldersBelow(kind string, paths ...string) []string {
	var found []string
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			continue // stdin, among others
		}
		found = append(found, foldersIn(path, kind)...)
	}
	slices.Sort(found)
	found = slices.DeleteFunc(slices.Compact(found), func(folder string) bool {
		return slices.ContainsFunc(paths, func(path string) bool { return filepath.Clean(path) == folder })
	})
	if len(found) > maxToldBelow {
		found = append(found[:maxToldBelow], "and others")
	}
	return found
}

func foldersIn(dir, kind string) []string {
	var found []string
	looked := 0
	_ = walkYAML(dir, func(file string) error {
		folder := filepath.Dir(file)
		if folder == filepath.Clean(dir) || len(found) > 0 && found[len(found)-1] == folder {
			return nil
		}
		if looked++; looked > maxBelow {
			return fs.SkipAll
		}
		if text, err := readRegular(file, file); err == nil && holds(file, text, kind) {
			found = append(found, folder)
		}
		return nil
	})
	return found
}

// holds reports whether an object in a file is a Conversion or a CRD.
func holds(name string, text []byte, kind string) bool {
	if !bytes.Contains(text, []byte(kind)) {
		return false // which is far cheaper than to read it as YAML
	}
	in, err := parseInput(name, text)
	return err == nil && slices.ContainsFunc(in.documents, func(document []byte) bool {
		_, gvk, err := parse(document)
		return err == nil && gvk.Kind == kind && (kind != syntax.Kind || gvk.GroupVersion().String() == syntax.APIVersion)
	})
}

// tellBelow says which folders of rules were not read, and of CRDs, where one is missing.
func (p *program) tellBelow(f *ruleFlags, set *ruleSet) {
	if folders := foldersBelow(syntax.Kind, f.rules...); len(folders) > 0 {
		p.tell("folders below are not read, name each one that has Conversions: %s", strings.Join(folders, ", "))
	}
	if !set.lacksCRD() {
		return
	}
	if folders := foldersBelow(kindCRD, f.crdPaths()...); len(folders) > 0 {
		p.tell("folders below are not read, name each one that has CRDs with --crd: %s", strings.Join(folders, ", "))
	} else if len(set.crds) == 0 {
		p.tell("no CRD in any file: %s", namesOf(f.crdPaths()))
	}
}
