package check_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules/check"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

var update = flag.Bool("update", false, "write the golden files anew")

// least is how many different findings the cases show, at least.
const least = 90

// options has the one function that `go` may name in the cases.
func options(t *testing.T) check.Options {
	t.Helper()
	nothing := func(_ context.Context, in []transform.Operand) ([]transform.Operand, error) { return in, nil }
	env, err := transform.NewEnv(map[string]transform.GoFunc{"swap": {ToHub: nothing, FromHub: nothing}})
	if err != nil {
		t.Fatal(err)
	}
	return check.Options{Env: env}
}

func read(t *testing.T, parts ...string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// checkFolder returns all findings about rules.yaml and crd.yaml of a folder.
func checkFolder(t *testing.T, folder string, opts check.Options) ([]finding.Finding, map[string][]byte) {
	t.Helper()
	sources := map[string][]byte{"rules.yaml": read(t, folder, "rules.yaml"), "crd.yaml": read(t, folder, "crd.yaml")}
	crds, err := crdschema.Parse("crd.yaml", sources["crd.yaml"])
	findings := check.ReadError(err)
	file, found := syntax.Parse("rules.yaml", sources["rules.yaml"])
	findings = append(findings, found...)
	opts.Incomplete = err != nil
	found, err = check.Check([]*syntax.File{file}, crds, opts)
	if err != nil {
		t.Fatal(err)
	}
	return finding.Sort(append(findings, found...)), sources
}

// TestEveryFindingIsRenderedWhole checks each folder of testdata against its want.txt. That of a folder whose name starts
// with "clean" is empty.
func TestEveryFindingIsRenderedWhole(t *testing.T) {
	t.Parallel()
	opts := options(t)
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	codes := map[string]bool{}
	clean := 0
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		folder := filepath.Join("testdata", e.Name())
		findings, sources := checkFolder(t, folder, opts)
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
