package check_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// least is how many different findings the cases show, at least.
const least = 90

// load returns a set and all findings about its files.
func load(tb testing.TB, crds []*crdschema.CRD, opts engine.Options, sources ...engine.Source) (*engine.Set, []finding.Finding) {
	tb.Helper()
	set, findings := engine.Load(tb.Context(), sources, crds, opts)
	checked, _ := check.Check(tb.Context(), set.Bound())
	return set, finding.Sort(append(findings, checked...))
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// checkFolder returns all findings about crd.yaml and the files of rules of a folder.
func checkFolder(t *testing.T, folder string) ([]finding.Finding, map[string][]byte) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	sources := map[string][]byte{}
	var files []engine.Source
	for _, path := range paths {
		name := filepath.Base(path)
		sources[name] = read(t, path)
		if name != "crd.yaml" {
			files = append(files, engine.Source{Name: name, Text: sources[name]})
		}
	}
	crds, err := apiserver.Parse("crd.yaml", sources["crd.yaml"])
	findings := check.ReadError(err)
	opts := engine.Options{Go: swapping(), Incomplete: err != nil}
	_, found := load(t, crds, opts, files...)
	return finding.Sort(append(findings, found...)), sources
}

// TestEveryFindingIsRenderedWhole checks each folder of testdata against its want.txt, which is
// empty for a folder whose name starts with "clean".
func TestEveryFindingIsRenderedWhole(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	clean := 0
	for _, e := range entries {
		if !e.IsDir() || e.Name() == filepath.Base(againstFolder) {
			continue
		}
		folder := filepath.Join("testdata", e.Name())
		findings, sources := checkFolder(t, folder)
		var got bytes.Buffer
		if err := finding.Render(&got, finding.Text, findings, sources); err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(filepath.Join(folder, "want.txt"), got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(read(t, folder, "want.txt")), got.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", e.Name(), diff)
		}
		if strings.HasPrefix(e.Name(), "clean") != (len(findings) == 0) {
			t.Errorf("%s has %d findings", e.Name(), len(findings))
		}
		if len(findings) == 0 {
			clean++
		}
		for _, f := range findings {
			codes[f.Code] = true
		}
	}
	if len(codes) < least || clean < 5 {
		t.Errorf("%d different findings and %d clean cases, want %d and 5 at least", len(codes), clean, least)
	}
}
