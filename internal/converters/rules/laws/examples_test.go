package laws_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/exampletest"
)

// exampleObjects is more in a long run: make laws takes 300, and make fuzz 20,000. The other tests
// take their numbers from it.
//
//nolint:gochecknoglobals // flags
var (
	exampleObjects = flag.Uint64("example-objects", 30, "random objects of each version that each example is held to the laws on")
	examplesFolder = flag.String("examples", filepath.Join("..", "..", "..", "..", "examples"), "where examples are looked for")
	lawsSeed       = flag.Uint64("laws-seed", 1, "seed of the random objects")
)

// An example is a Conversion with its CRD, one of a folder, cases aside. The folder above may have
// rules in shared.yaml.
type example struct {
	name    string
	sources []rules.Source
	crdText []byte
	crd     *crdschema.CRD
	c       *syntax.Conversion
}

// findExamples returns those of the examples.
func findExamples(tb testing.TB) []*example {
	tb.Helper()
	all := conversionsIn(tb, *examplesFolder)
	if len(all) < 15 {
		tb.Errorf("%d examples with rules", len(all))
	}
	return all
}

// conversionsIn returns those of the folders below root that directly hold a Conversion.
func conversionsIn(tb testing.TB, root string) []*example {
	tb.Helper()
	var all []*example
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		e := &example{name: filepath.Base(path)}
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
			} else if filepath.Base(file) == "crd.yaml" {
				e.crdText = text
			}
		}
		if len(e.sources) > 0 {
			e.crd = parseCRD(tb, e.crdText)
			if shared := filepath.Join(filepath.Dir(path), "shared.yaml"); exists(shared) {
				text, err := os.ReadFile(shared)
				if err != nil {
					return err
				}
				e.sources = append(e.sources, rules.Source{Name: shared, Text: text})
			}
			file, _ := syntax.Parse(e.sources[0].Name, e.sources[0].Text)
			e.c = file.Conversions[0]
			all = append(all, e)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func parseCRD(tb testing.TB, text []byte) *crdschema.CRD {
	tb.Helper()
	crds, err := apiserver.Parse("crd.yaml", text)
	if err != nil || len(crds) != 1 {
		tb.Fatalf("%d CRDs: %v", len(crds), err)
	}
	return crds[0]
}

// suite returns the laws of the example.
func (e *example) suite(tb testing.TB) hold.Suite {
	tb.Helper()
	set, findings := rules.Load(tb.Context(), e.sources, []*crdschema.CRD{e.crd}, rules.Options{Go: exampletest.Functions()})
	checked, _ := check.Check(tb.Context(), set.Bound())
	if findings = append(findings, checked...); len(findings) > 0 {
		tb.Fatal(finding.Sort(findings))
	}
	return lawsOf(set, e.crd)
}

// lawsOf returns the laws of the first kind of a set.
func lawsOf(set *rules.Set, crd *crdschema.CRD) hold.Suite {
	s := hold.Suite{Kind: &set.Kinds()[0], CRD: crd, Seed: *lawsSeed, Stored: true, Hints: hints.Of(set.Conversions()[0])}
	for _, bound := range set.Bound().Kinds {
		s.Drops = append(s.Drops, hints.Drops(bound)...)
	}
	return s
}

// Every example passes check and holds all laws.
func TestLawsOnExamples(t *testing.T) {
	t.Parallel()
	for _, e := range findExamples(t) {
		t.Run(e.name, func(t *testing.T) {
			t.Parallel()
			s := e.suite(t)
			s.Walks, s.Forgeries = true, true
			holdAll(t, s, *exampleObjects)
		})
	}
}

func holdAll(t *testing.T, s hold.Suite, count uint64) {
	t.Helper()
	stats, err := s.Fuzz(t.Context(), count)
	if err != nil {
		t.Error(err)
	} else if stats.Objects < count {
		t.Errorf("%d objects were made, %d are not valid", stats.Objects, stats.Dropped)
	}
}
