package crdschema

import (
	"testing"

	"go.yaml.in/yaml/v3"
)

func TestLinesOfPaths(t *testing.T) {
	t.Parallel()
	var doc yaml.Node
	text := "a: &x\n  b:\n  - c: 1\n    \"d.e/f\":\n      g: 1\n  - 2\nh: *x\n"
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		"": 1, "a": 1, "a.b": 2, "a.b[0]": 3, "a.b[0].c": 3, "a.b[0][d.e/f].g": 5, "a.b[1]": 6, "a.b[2]": 2, "a.x.y": 1, "h": 7, "h.b[1]": 6,
		"a[b][0]": 3, "a.b[0].c.x": 3,
	} {
		if got := lineOf(doc.Content[0], path); got != want {
			t.Errorf("line %d of %q, want %d", got, path, want)
		}
	}
}
