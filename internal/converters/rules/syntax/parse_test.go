package syntax_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// head starts a file; what follows it is the list of rules of v1beta1.
const head = `apiVersion: conversion.webhookd.io/v1beta1
kind: Conversion
metadata: {name: crontabs.example.com}
spec:
  hub: v1
  versions:
  - name: v1beta1
    rules:
`

func render(t *testing.T, findings []finding.Finding) string {
	t.Helper()
	var text bytes.Buffer
	if err := finding.Render(&text, finding.Text, findings, nil); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func parse(t *testing.T, text string) *syntax.File {
	t.Helper()
	file, findings := syntax.Parse("rules.yaml", []byte(text))
	linked, idle := syntax.Link([]*syntax.File{file})
	if findings = slices.Concat(findings, linked, idle); len(findings) > 0 {
		t.Fatal(render(t, findings))
	}
	return file
}

func TestEveryKeyOfAFileIsRead(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/every-key.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := parse(t, string(text))
	if len(file.Conversions) != 2 || file.Name != "rules.yaml" {
		t.Fatalf("%d conversions in %s", len(file.Conversions), file.Name)
	}
	c := file.Conversions[0]
	if c.Name != "widgets.example.com" || c.Hub != "v1" || len(c.RuleSets) != 1 || c.RuleSets[0].Name != "Item" {
		t.Errorf("%+v", c)
	}
	if v := c.Version("v1beta1"); v == nil || v.Unmapped != syntax.Preserve || c.Version("v1") != nil {
		t.Errorf("%+v", v)
	}
	if v := c.Version("v1alpha1"); v == nil || v.Unmapped != syntax.Error || len(v.Rules) != 0 {
		t.Errorf("%+v", v)
	}
	if v := c.Version("v1alpha2"); v == nil || v.SameAs == nil || v.Unmapped != syntax.Preserve || len(v.Rules) != 10 {
		t.Errorf("%+v", v)
	}
	if len(file.RuleSets) != 1 || file.RuleSets[0].Name != "example" || len(c.Shared()) != 1 || c.Shared()[0] != file.RuleSets[0].Sets[0] {
		t.Errorf("%+v, of which %+v is used", file.RuleSets, c.Shared())
	}
	got := make([]string, 0, 10)
	for _, r := range c.Version("v1beta1").Rules {
		got = append(got, describe(r))
	}
	want := []string{
		"spoke .spec.a hub .spec.b",
		"spoke .spec.mode hub .spec.policy values \"A\"=\"a\" 1=\"one\" true=null hubValues \"c\"=1.5",
		"spoke .spec.hostPort hub host=.spec.host port=.spec.port template {host}:{port} absent * defaultInHub {\"host\":\"localhost\"}",
		"spoke .spec.t hub .spec.u codec DurationSeconds defaultInSpoke 30 defaultInHub [1,{\"a\":[]},\"2001-01-01\"]",
		"spoke .spec.w[].x hub .spec.w[].x toHub 1 toSpoke self + 1 whenToHub true whenToSpoke self == 2",
		"spoke .spec.items[] hub .spec.items[] use Item",
		"spoke .spec.gone drop no one reads it",
		"spoke .spec.g hub .spec.h go convertG",
		"hub .spec.only",
		"spoke .spec.ref hub .spec.ref use example/Ref",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

func TestAListOfPlacesIsARuleForEach(t *testing.T) {
	t.Parallel()
	file := parse(t, head+`    - {hub: .a}
    - spoke: [.b, ".c[].d"]
      drop: no one reads them
    - hub: [.e, .f]
      toHub: '"x"'
      mayBeAbsent: it is new
`)
	var got []string
	for _, r := range file.Conversions[0].Version("v1beta1").Rules {
		got = append(got, fmt.Sprintf("%d:%d %s: %s", r.Pos.Line, r.Pos.Column, r, describe(r)))
		if r.MayBeAbsent != nil && r.MayBeAbsent.Pos != r.Pos {
			t.Errorf("%s: mayBeAbsent is at %v", r, r.MayBeAbsent.Pos)
		}
	}
	want := []string{
		"9:7 rule 1: hub .a",
		"10:15 rule 2: spoke .b drop no one reads them",
		"10:19 rule 2: spoke .c[].d drop no one reads them",
		"12:13 rule 3: hub .e toHub \"x\"",
		"12:17 rule 3: hub .f toHub \"x\"",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// describe writes a rule in one line.
func describe(r *syntax.Rule) string {
	var b strings.Builder
	word := func(words ...string) { b.WriteString(" " + strings.Join(words, " ")) }
	for _, side := range []struct {
		name  string
		place *syntax.Place
	}{{"spoke", r.Spoke}, {"hub", r.Hub}} {
		if side.place == nil {
			continue
		}
		word(side.name)
		for _, n := range side.place.Paths {
			word(strings.TrimPrefix(n.Name+"="+n.Path.Text, "="))
		}
	}
	for _, list := range []struct {
		name    string
		entries []syntax.Mapping
	}{{"values", r.Values}, {"hubValues", r.HubValues}} {
		if len(list.entries) > 0 {
			word(list.name)
		}
		for _, m := range list.entries {
			word(string(m.From.JSON) + "=" + string(m.To.JSON))
		}
	}
	for _, t := range []struct {
		name string
		text *syntax.Text
	}{
		{"template", r.Template},
		{"absent", r.Absent},
		{"codec", r.Codec},
		{"toHub", r.ToHub},
		{"toSpoke", r.ToSpoke},
		{"whenToHub", r.WhenToHub},
		{"whenToSpoke", r.WhenToSpoke},
		{"use", r.Use},
		{"drop", r.Drop},
		{"go", r.Go},
	} {
		if t.text != nil {
			word(t.name, t.text.Value)
		}
	}
	for _, l := range []struct {
		name    string
		literal *syntax.Literal
	}{{"defaultInSpoke", r.DefaultInSpoke}, {"defaultInHub", r.DefaultInHub}} {
		if l.literal != nil {
			word(l.name, string(l.literal.JSON))
		}
	}
	return strings.TrimSpace(b.String())
}

// In each text, ^ is before the character that the position must be of.
func TestPositionsAreThoseOfTheCharacterInTheFile(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"plain":                   "    - {spoke: .a^.x}\n",
		"plain in block":          "    - spoke: .a[\"größe\"]^.x\n",
		"single quotes":           "    - spoke: '[\"it''s\"]^.x'\n",
		"double quotes":           "    - spoke: \"[\\\"\\u00e9\\x41\\t\\\"]^.x\"\n",
		"double quotes, escaped":  "    - spoke: \".a^\\u002ex\"\n",
		"literal block":           "    - spoke: |-\n        .a^.x\n",
		"folded block":            "    - spoke: >-\n        .a^.x\n",
		"after a byte order mark": "    - spoke: .a^.x\n",
		"carriage returns":        "    - {drop: x,\r\n       spoke: .a^.x}\r\n",
		"quotes over two lines":   "    - spoke: \".a\\\n        ^.x\"\n",
		"comment before":          "    # ü\n    - spoke:   # x\n        .a^.x\n",
		"tabs":                    "    - spoke:\t.a^.x\n",
		"wide characters":         "    - {drop: \"\U0001f600\u2028\", spoke: .a^.x}\n",
	} {
		mark := strings.Index(text, "^")
		whole := head + text[:mark] + text[mark+1:]
		if name == "after a byte order mark" {
			whole = "\ufeff" + whole
		}
		file, findings := syntax.Parse("rules.yaml", []byte(whole))
		rules := file.Conversions[0].Versions[0].Rules
		field := rules[len(rules)-1].Spoke
		if field == nil {
			t.Fatalf("%s: %v", name, findings)
		}
		got, end := field.Paths[0].Span(field.Paths[0].Path.Segments[len(field.Paths[0].Path.Segments)-1])
		before := strings.ReplaceAll(head+text[:mark], "\u2028", "\n")
		line := strings.Count(before, "\n") + 1
		column := len([]rune(before[strings.LastIndex(before, "\n")+1:])) + 1
		if got.Line != line || got.Column != column || end <= column {
			t.Errorf("%s: %v to %d, want %d:%d", name, got, end, line, column)
		}
	}
}

func TestPartsOfExpressionsAreFound(t *testing.T) {
	t.Parallel()
	r := parse(t, head+"    - spoke: .a\n      toSpoke: |\n        [1,\n          \"é\" + x]\n").Conversions[0].Versions[0].Rules[0]
	text := r.ToSpoke.Value
	if got, end := r.ToSpoke.Span(strings.Index(text, "x"), strings.Index(text, "]")); got.Line != 12 || got.Column != 17 || end != 18 {
		t.Errorf("x is at %v to %d", got, end)
	}
	if got, end := r.ToSpoke.Span(0, len(text)); got.Line != 11 || got.Column != 9 || end != 0 {
		t.Errorf("[ is at %v to %d", got, end)
	}
	if got, _ := r.ToSpoke.Span(len(text)+9, len(text)+10); got.Line < 10 {
		t.Errorf("what is not there is at %v", got)
	}
}

func TestLargeAndEmptyFilesAreFindings(t *testing.T) {
	t.Parallel()
	for want, text := range map[string]string{
		"file-too-large": strings.Repeat("#", syntax.MaxFile+1),
		"no-conversion":  "# nothing\n---\n---\n",
		"not-yaml":       "a: [\n",
	} {
		file, findings := syntax.Parse("rules.yaml", []byte(text))
		if len(findings) != 1 || findings[0].Code != want || file == nil || len(file.Conversions) != 0 {
			t.Errorf("%v, want %s", findings, want)
		}
	}
	if _, findings := syntax.Parse("rules.yaml", []byte(head+strings.Repeat("#", syntax.MaxFile-len(head)))); len(findings) != 0 {
		t.Errorf("a file of 1 MiB: %v", findings)
	}
}

// FuzzParse reads any text: nothing panics, and positions are places in the text.
func FuzzParse(f *testing.F) {
	every, err := os.ReadFile("testdata/every-key.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(every))
	for _, rules := range []string{
		"    - spoke: .a[\n", "    - {spoke: \"\\u002ea b\", hub: {a: .b, b: .c[]}}\n", "    - <<: *x\n", "    - &a {drop: *a}\n",
		"    - !!str {}\n", "    - {spoke: .a, hub: .b, values: {1: 0x10, .inf: ~, 2001-01-01: a}}\n", "    - ? [a]\n      : b\n",
		"    - template: |\n        {a}\n      spoke: >-\n        .a\n        b\n", "    - {defaultInSpoke: {1: 2}, spoke: .a}\n", "    - 1\n", "    -\n",
		"    - {spoke: .a[k].b{}, hub: '.a{}.b[k]'}\n", "    - {use: x, codec: y, go: z, template: t}\n",
	} {
		f.Add(head + rules)
	}
	f.Add("apiVersion: conversion.webhookd.io/v1beta1\nkind: RuleSets\nmetadata: {name: a}\nruleSets: {A: [{spoke: .a, hub: .a, use: A}], B: [{spoke: .b, hub: .b, use: a/C}]}\n---\n" +
		head + "    - {spoke: .a, hub: .b, use: a/B}\n  - {name: v1alpha1, sameAs: v1alpha2}\n  - {name: v1alpha2, sameAs: v1alpha1}\n")
	for _, text := range []string{"", "---\n---\n", "a", "- a", "a: *a", "\ufeffa: b", "kind: Conversion\nkind: x\n", "\xff", "{", "%YAML 1.2\n---\n{}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, findings := syntax.Parse("f", []byte(text))
		if file == nil {
			t.Fatal("no file")
		}
		lines := finding.SplitLines(text)
		for _, found := range findings {
			if found.Code == "" || found.Message == "" || found.Pos.File != "f" {
				t.Errorf("%+v", found)
			}
			if found.Pos.Line < 0 || found.Pos.Line > len(lines)+1 {
				t.Errorf("%v of %d lines", found, len(lines))
			}
		}
		linked, idle := syntax.Link([]*syntax.File{file})
		for _, found := range slices.Concat(linked, idle) {
			if found.Code == "" || found.Message == "" || found.Pos.File != "f" || found.Pos.Line < 1 || found.Pos.Line > len(lines)+1 {
				t.Errorf("%+v", found)
			}
		}
		if len(file.Conversions)+len(file.RuleSets) == 0 && len(findings) == 0 {
			t.Error("nothing was read and nothing was said")
		}
	})
}
