package chart_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/test/chart"
)

var update = flag.Bool("update", false, "write golden files and the README's tables")

// values parses values.
func values(t *testing.T, text string) map[string]any {
	t.Helper()
	var v map[string]any
	if err := yaml.UnmarshalStrict([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// ciFiles returns the values of ci/*-values.yaml by the names of the files without that ending.
func ciFiles(t *testing.T) map[string]map[string]any {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(chart.Dir, "ci", "*-values.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatal("no files of values", err)
	}
	all := make(map[string]map[string]any, len(paths))
	for _, path := range paths {
		v, err := chart.ReadValues(path)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(path), "-values.yaml")] = v
	}
	return all
}

// render renders valid values.
func render(t *testing.T, v map[string]any, cluster *chart.Cluster) chart.Rendering {
	t.Helper()
	r, err := chart.Render(v, cluster)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// objects returns the objects of a rendering.
func objects(t *testing.T, r chart.Rendering) []map[string]any {
	t.Helper()
	documents := r.Documents()
	all := make([]map[string]any, 0, len(documents))
	for _, document := range documents {
		all = append(all, values(t, document))
	}
	return all
}

// object returns the object of a kind and name.
func object(t *testing.T, r chart.Rendering, kind, name string) map[string]any {
	t.Helper()
	for _, o := range objects(t, r) {
		if o["kind"] == kind && at(t, o, "metadata", "name") == name {
			return o
		}
	}
	t.Fatalf("no %s %s", kind, name)
	return nil
}

// at returns the text at a path, or "".
func at(t *testing.T, o map[string]any, path ...string) string {
	t.Helper()
	value, _ := chart.Get(o, path)
	text, _ := value.(string)
	return text
}

// golden compares with a file, or writes it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got; if it is meant, run with -update):\n%s", path, diff)
	}
}
