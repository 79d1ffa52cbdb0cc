package upstream_test

import (
	"flag"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/google/go-cmp/cmp"
)

//nolint:gochecknoglobals // flags
var (
	objects = flag.Uint64("objects", 100, "random objects of each version that each kind is held to the laws on")
	update  = flag.Bool("update", false, "rewrite kinds.tsv")
)

// kinds returns the folders of kinds.
func kinds(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("kinds", "*", "rules.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal("no folder of a kind", err)
	}
	for i, file := range files {
		files[i] = filepath.Dir(file)
	}
	return files
}

func TestKinds(t *testing.T) {
	t.Parallel()
	for _, dir := range kinds(t) {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			k := readKind(t, dir)
			for _, found := range finding.Worst(k.findings, finding.Warning) {
				if found.Code != "status-in-spec" { // upstream moves fields to status, too
					t.Error(found)
				}
			}
			if k.converter == nil {
				t.Fatal("rules cannot be used")
			}
			t.Run("pairs", k.testPairs)
			t.Run("kept", func(t *testing.T) { k.testKept(t, dir) })
			t.Run("laws", k.testLaws)
		})
	}
}

// testPairs holds each result to the recorded one, apart from differences with a reason.
func (k *kind) testPairs(t *testing.T) {
	for i, p := range k.pairs {
		upstream, ours, paths := k.compare(t, p)
		paths = slices.DeleteFunc(paths, func(path string) bool { return k.explained(p, path) })
		if len(paths) > 0 {
			t.Errorf("line %d, %s to %s: without a reason: %s (-upstream +ours):\n%s",
				i+1, p.From, p.To, strings.Join(paths, ", "), cmp.Diff(upstream, ours))
		}
	}
	for _, d := range k.differences {
		if d.Reason == "" {
			t.Errorf("without a reason: %s to %s: %s", d.From, d.To, d.Path)
		}
		if !d.used {
			t.Errorf("no pair differs: %s to %s: %s", d.From, d.To, d.Path)
		}
	}
}

// compare converts the object of a pair, and returns both results and the paths where they differ.
func (k *kind) compare(t *testing.T, p pair) (upstream, ours any, paths []string) {
	t.Helper()
	to := k.crd.Version(p.To)
	upstream, ours = k.comparable(t, to, p.Result), k.comparable(t, to, k.convert(t, p))
	return upstream, ours, unlike("", upstream, ours)
}

// explained reports whether differences.yaml has a reason for a path.
func (k *kind) explained(p pair, path string) bool {
	found := false
	for _, d := range k.differences {
		if d.covers(p, path) {
			d.used, found = true, true
		}
	}
	return found
}

// testLaws holds the kind to all laws on random objects and on the recorded ones.
func (k *kind) testLaws(t *testing.T) {
	suite := k.suite()
	stats, err := suite.Fuzz(t.Context(), *objects)
	if err != nil {
		t.Error(err)
	} else if want := *objects * uint64(len(k.crd.Versions)); stats.Objects < want {
		t.Errorf("%d objects were made, want %d; %d were invalid", stats.Objects, want, stats.Dropped)
	}
	recorded := make([][]byte, 0, len(k.pairs))
	for _, p := range k.pairs {
		recorded = append(recorded, p.Object)
	}
	if err := suite.Check(t.Context(), slices.Values(recorded)); err != nil {
		t.Error(err)
	}
}
