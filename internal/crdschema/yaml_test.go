package crdschema

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"
)

func toJSON(text string, limit int) (string, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return "", err
	}
	w := jsonWriter{limit: limit}
	err := w.value(doc.Content[0])
	return string(w.out), err
}

func TestYAMLIsReadAsKubectlReadsIt(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../examples/crds/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	texts := append(make([]string, 0, 10+len(files)),
		"a: [yes, No, on, OFF, true, False, ~, null, '', yess, 'yes', \"no\"]",
		"a: [1, -1, +1, 0x1F, 0o17, 017, 1_000, 1.5, 1.10, 1e3, .5, 9007199254740993, 18446744073709551615, '1']",
		"a: [2001-01-01, 2001-01-01T00:00:00Z, 12:30:45, 1.2.3, =, <]",
		"a: &x {b: 1, c: 2}\nd: *x\ne: {<<: *x, c: 3}\nf: {<<: [*x, {g: 4}], b: 0}",
		"a: |\n  x\n  y\nb: >-\n  x\n  y\nc: \"\\u00e9<>&\"",
		"1: 2\ntrue: 3\nn: 4\n\"y\": 5",
		"{\"a\": [1, {\"b\": \"c\"}]}",
	)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	for _, text := range texts {
		got, err := toJSON(text, minExpansion)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		want, err := sigsyaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if err := utiljson.Unmarshal(want, &a); err != nil {
			t.Fatal(err)
		}
		if err := utiljson.Unmarshal([]byte(got), &b); err != nil {
			t.Fatalf("%s: %v", got, err)
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}

func TestWhatIsNoJSON(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"infinity", "a: .inf", "number that JSON cannot say, write another one: .inf"},
		{"keys that are lists", "? [a]\n: b", "key that is no word, write it as a string"},
		{"merging a string", "<<: a", "merge key of what is no mapping, write it out"},
		{"merging a merged string", "<<: [{<<: a}]", "merge key of what is no mapping, write it out"},
		{"binary", "a: !!binary aGk=", "tags are not supported, remove it: !!binary"},
		{"merging itself", "a: &a {<<: *a}", "merge keys within merge keys, write them out"},
		{"deep nesting", strings.Repeat("[", 301) + strings.Repeat("]", 301), "nested deeper than 300 levels, make the schema flatter"},
		{"expansion", "a: &a [1, 2, 3, 4, 5, 6, 7, 8]\nb: &b [*a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b]", "aliases make this document too large, write it out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := toJSON(test.text, 310); err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

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
