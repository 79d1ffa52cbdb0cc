package chart_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crdconvert/webhookd/test/chart"
)

// The README has the table of values.yaml, with a row for each value.
func TestReferenceOfValues(t *testing.T) {
	t.Parallel()
	documented, err := chart.Documented()
	if err != nil {
		t.Fatal(err)
	}
	tables, err := chart.Tables(documented)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(chart.Dir, "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := chart.WithTables(string(readme), tables)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, path, want)
}

// Each value has a comment of its own, or is part of one that has.
func TestEveryValueIsDocumented(t *testing.T) {
	t.Parallel()
	documented, err := chart.Documented()
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := chart.Defaults()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, v := range documented {
		if v.Text == "" || v.Section == "" {
			t.Errorf("%s has no text or no section", v.Name())
		}
		known[v.Name()] = true
	}
	var check func(prefix string, mapping map[string]any)
	check = func(prefix string, mapping map[string]any) {
		for key, value := range mapping {
			name := prefix + key
			if known[name] {
				continue
			}
			if below, is := value.(map[string]any); is && len(below) > 0 {
				check(name+".", below)
				continue
			}
			t.Errorf("no comment: %s", name)
		}
	}
	check("", defaults)
}
