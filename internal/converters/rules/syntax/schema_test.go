package syntax_test

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

var update = flag.Bool("update", false, "rewrite the generated files")

func TestReferenceConversionSchema(t *testing.T) {
	t.Parallel()
	const name = "../../../../docs/reference/conversion.schema.json"
	if *update {
		if err := os.WriteFile(name, syntax.JSONSchema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(syntax.JSONSchema())); diff != "" {
		t.Errorf("conversion.schema.json is not up to date, run this test with -update (-file +rendered):\n%s", diff)
	}
}

// The schema may accept what it cannot express, but refuses nothing that the parser accepts.
func TestSchemaSaysWhatTheParserSays(t *testing.T) {
	t.Parallel()
	every, err := os.ReadFile("testdata/every-key.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type verdict struct{ parser, schema bool }
	both, neither, parserOnly := verdict{true, true}, verdict{false, false}, verdict{false, true}
	rule := func(text string) string { return head + "    - " + text + "\n" }
	sets := func(text string) string {
		return "apiVersion: conversion.webhookd.io/v1beta1\nkind: RuleSets\nmetadata: {name: a}\nruleSets: " + text + "\n"
	}
	for text, want := range map[string]verdict{
		string(every):                                    both,
		rule("{spoke: .a, hub: .b}"):                     both,
		rule("{spoke: .a}"):                              both,
		rule("{hub: .b, toHub: 'size(object)'}"):         both,
		rule("{spoke: .a, drop: x, defaultInSpoke: 1}"):  both,
		rule("{spoke: {a: .a}, hub: {a: .b}}"):           both,
		rule("{spoke: [.a]}"):                            both,
		rule("{hub: ['.a[]', .b], mayBeAbsent: x}"):      both,
		rule("{hub: [.a, .b], toHub: '1'}"):              both,
		rule("{spoke: '.a[]{}[k]{k}[k=v][0]', drop: x}"): both,
		rule(`{spoke: '.a["x/y"]', hub: '["a\"b"]'}`):    both,
		head + "      []\n":                              both,
		head:                                             both,

		head + "  - {name: v2, sameAs: v1beta1}\n": both,
		sets("{A: []}"): both,
		sets("{A: [{spoke: .a, hub: .b}], B: [{spoke: .a, hub: .b, use: A}]}"): both,

		head + "  - {name: v2, sameAs: v1beta1, rules: []}\n":       neither,
		head + "  - {name: v2, sameAs: v1beta1, unmapped: Error}\n": neither,
		sets("{}"):        neither,
		sets("{A: [{}]}"): neither,
		sets("{A b: []}"): neither,
		strings.Replace(sets("{A: []}"), "name: a", "name: a.b", 1): neither,
		strings.Replace(sets("{A: []}"), "ruleSets:", "spec:", 1):   neither,
		head + "  - {name: v2, sameAs: v3}\n":                       parserOnly,
		rule("{spoke: .a, hub: .b, use: a/Gone}"):                   parserOnly,

		rule("{}"):                                                                    neither,
		rule("{drop: x}"):                                                             neither,
		rule("{spoke: .a, hub: .b, drop: x}"):                                         neither,
		rule("{spoke: .a, drop: ''}"):                                                 neither,
		rule("{spoke: .a, drop: x, toSpoke: self}"):                                   neither,
		rule("{spoke: .a, hub: .b, toHub: self}"):                                     neither,
		rule("{spoke: .a, hub: .b, toSpoke: self}"):                                   neither,
		rule("{spoke: .a, toHub: self}"):                                              neither,
		rule("{hub: .a, toSpoke: self}"):                                              neither,
		rule("{spoke: .a, hub: .b, absent: x}"):                                       neither,
		rule("{hub: .b, hubValues: {a: b}}"):                                          neither,
		rule("{field: .a, hub: .b}"):                                                  neither,
		rule("{spoke: .a, hub: .b, values: {}}"):                                      neither,
		rule("{spoke: .a, hub: .b, values: {a: [b]}}"):                                neither,
		rule("{spoke: .a, hub: .b, values: {true: false, false: true}, go: x}"):       neither,
		rule("{spoke: .a, hub: .b, values: {true: false, false: true}, template: x}"): neither,
		rule("{spoke: .a, values: {a: b}}"):                                           neither,
		rule("{spoke: .a, whenToHub: 'true'}"):                                        neither,
		rule("{spoke: .a, defaultInHub: 1}"):                                          neither,
		rule("{spoke: a}"):                                                            neither,
		rule("{spoke: .a.*}"):                                                         neither,
		rule("{spoke: '.a[1]'}"):                                                      neither,
		rule("{spoke: {}}"):                                                           neither,
		rule("{spoke: {a-b: .c}, hub: {a-b: .c}}"):                                    neither,
		rule("{spoke: []}"):                                                           neither,
		rule("{spoke: [.a, .a]}"):                                                     neither,
		rule("{spoke: [.a, b]}"):                                                      neither,
		rule("{spoke: [.a, {b: .b}]}"):                                                neither,
		rule("{spoke: [.a], hub: .a}"):                                                neither,
		rule("{spoke: .a, hub: [.a]}"):                                                neither,
		rule("{spoke: [.a], hub: [.a]}"):                                              neither,
		rule("{feild: .a}"):                                                           neither,
		rule("x"):                                                                     neither,
		head + "    unmaped: Error\n":                                                 neither,
		"kind: Conversion\nspec: {hub: v1, versions: [{name: v2}]}\nmetadata: {name: a}\n": neither,
		"kind: X\n": neither,
		"- a\n":     neither,

		rule("{spoke: .a, whenToSpoke: 'true'}"):       parserOnly,
		rule("{spoke: '.a[]', hub: .b}"):               parserOnly,
		rule("{spoke: {a: .a}, hub: .b}"):              parserOnly,
		rule("{spoke: .a, hub: .b, use: Gone}"):        parserOnly,
		rule("{spoke: .a, spoke: .b}"):                 parserOnly,
		rule("{spoke: .a, hub: .b, values: {a: 0x1}}"): parserOnly,
		head + "  - name: v1\n":                        parserOnly,
	} {
		file, findings := syntax.Parse("rules.yaml", []byte(text))
		linked, _ := syntax.Link([]*syntax.File{file})
		findings = append(findings, linked...)
		refused := schemaRefuses(t, text)
		if got := (verdict{len(findings) == 0, refused == ""}); got != want {
			t.Errorf("%s\nparser and schema accept: %+v, want %+v\n%v\n%s", text, got, want, findings, refused)
		}
	}
}

// schemaRefuses says why the schema refuses a text, or nothing if it accepts it.
func schemaRefuses(t *testing.T, text string) string {
	t.Helper()
	var root map[string]any
	if err := json.Unmarshal(syntax.JSONSchema(), &root); err != nil {
		t.Fatal(err)
	}
	v := validator{definitions: root["definitions"].(map[string]any)}
	for _, doc := range documents(text) {
		if refused := v.refuses(root, doc, ""); refused != "" {
			return refused
		}
	}
	return ""
}

// documents reads YAML as an editor does: duplicate keys are one key.
func documents(text string) []any {
	var docs []any
	dec := yaml.NewDecoder(bytesOf(text))
	for {
		var n yaml.Node
		if dec.Decode(&n) != nil {
			return docs
		}
		if v := plain(&n); v != nil {
			docs = append(docs, v)
		}
	}
}
