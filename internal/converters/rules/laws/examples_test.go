package laws_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/builtin"
	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// exampleObjects is more in a long run: make fuzz takes 20,000.
//
//nolint:gochecknoglobals // flags
var (
	exampleObjects = flag.Uint64("example-objects", 2000/fewer, "random objects of each version that each example is held to the laws on")
	examplesFolder = flag.String("examples", filepath.Join("..", "..", "..", "..", "examples"), "where examples are looked for")
	lawsSeed       = flag.Uint64("laws-seed", 1, "seed of the random objects")
)

// An exampleFolder is a folder with Conversions and their CRDs, cases aside.
type exampleFolder struct {
	name    string
	sources []rules.Source
	crds    []*crdschema.CRD
}

// findExamples returns the folders that directly hold a Conversion.
func findExamples(t *testing.T) []exampleFolder {
	t.Helper()
	var all []exampleFolder
	err := filepath.WalkDir(*examplesFolder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		e := exampleFolder{name: filepath.ToSlash(strings.TrimPrefix(path, *examplesFolder))}
		files, err := filepath.Glob(filepath.Join(path, "*.yaml"))
		if err != nil {
			return err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			if bytes.Contains(text, []byte("kind: Conversion\n")) {
				e.sources = append(e.sources, rules.Source{Name: file, Text: text})
			}
			crds, err := crdschema.Parse(file, text)
			if err != nil {
				t.Error(err)
			}
			e.crds = append(e.crds, crds...)
		}
		if len(e.sources) > 0 {
			all = append(all, e)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Every example passes check and holds all laws.
func TestLawsOnExamples(t *testing.T) {
	t.Parallel()
	examples := findExamples(t)
	if len(examples) < 13 {
		t.Errorf("%d examples with rules", len(examples))
	}
	for _, e := range examples {
		t.Run(strings.Trim(e.name, "/"), func(t *testing.T) {
			t.Parallel()
			e.holdsLaws(t)
		})
	}
}

func (e *exampleFolder) holdsLaws(t *testing.T) {
	t.Helper()
	set, findings := rules.Load(e.sources, e.crds, rules.Options{Go: builtin.Functions()})
	for _, f := range finding.Sort(append(findings, check.Check(set.Bound())...)) {
		t.Errorf("%s\n\t%s", f, f.Hint)
	}
	for i := range set.Kinds() {
		kind := &set.Kinds()[i]
		for _, bound := range set.Bound().Kinds {
			if bound.CRD.GroupKind() != kind.GroupKind {
				continue
			}
			suite := roundtrip.Suite{Kind: kind, Seed: *lawsSeed, CRD: bound.CRD, Stored: true, Hints: map[string]roundtrip.Hints{}}
			for version, paths := range hints.Of(bound.Conversion) {
				suite.Hints[version] = paths
			}
			for _, d := range hints.Drops(bound) {
				suite.Drops = append(suite.Drops, roundtrip.Drop(d))
			}
			stats, err := suite.Fuzz(t.Context(), *exampleObjects)
			if err != nil {
				t.Error(err)
			}
			if stats.Objects < *exampleObjects && err == nil {
				t.Errorf("%d objects were made, %d are not valid", stats.Objects, stats.Dropped)
			}
		}
	}
}
