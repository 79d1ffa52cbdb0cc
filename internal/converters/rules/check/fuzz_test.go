package check_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	engine "github.com/crdconvert/webhookd/internal/converters/rules"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/hints"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// FuzzRules checks any file of rules against the CRDs of the golden cases and the examples: nothing
// panics, findings say what is wrong and where, the same every time, and a file without findings
// loads, converts objects of the CRD and loses nothing.
func FuzzRules(f *testing.F) {
	folders, err := filepath.Glob("testdata/*/rules.yaml")
	if err != nil || len(folders) < 20 {
		f.Fatal(len(folders), err)
	}
	examples, err := filepath.Glob("../../../../examples/*/rules.yaml")
	if err != nil || len(examples) < 10 {
		f.Fatal(len(examples), err)
	}
	all := map[string]*crdschema.CRD{}
	for _, file := range append(folders, examples...) {
		text, err := os.ReadFile(file)
		crd, err2 := os.ReadFile(filepath.Join(filepath.Dir(file), "crd.yaml"))
		if err := errors.Join(err, err2); err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
		crds, err := apiserver.Parse("crd.yaml", crd)
		for _, crd := range crds {
			if err == nil {
				all[crd.Name] = crd
			}
		}
	}
	crds := slices.Collect(maps.Values(all))
	f.Fuzz(func(t *testing.T, text string) {
		file, found := syntax.Parse("rules.yaml", []byte(text))
		if len(found) > 0 || len(file.Conversions) != 1 || all[file.Conversions[0].Name] == nil {
			return // see FuzzParse
		}
		opts, source := engine.Options{Go: swapping()}, engine.Source{Name: "rules.yaml", Text: []byte(text)}
		set, findings := load(t, crds, opts, source)
		_, again := load(t, crds, opts, source)
		if diff := cmp.Diff(findings, again); diff != "" {
			t.Fatal(diff)
		}
		for _, found := range findings {
			if lines := len(finding.SplitLines(text)); found.Code == "" || found.Message == "" || found.Pos.Line < 1 || found.Pos.Line > lines {
				t.Fatalf("%+v, of %d lines", found, lines)
			}
		}
		if len(findings) == 0 {
			losesNothing(t, set)
		}
	})
}

// losesNothing holds the kind of a file without findings to the laws on a few objects.
func losesNothing(t *testing.T, set *engine.Set) {
	t.Helper()
	bound := set.Bound().Kinds[0]
	suite := hold.Suite{Kind: &set.Kinds()[0], CRD: bound.CRD, Seed: 1, Drops: hints.Drops(bound)}
	if _, err := suite.Fuzz(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
}

// swapping has the function that `go` may name.
func swapping() map[string]transform.GoFunc {
	nothing := func(_ context.Context, in []json.RawMessage) ([]json.RawMessage, error) { return in, nil }
	return map[string]transform.GoFunc{"swap": {ToHub: nothing, ToSpoke: nothing}}
}
