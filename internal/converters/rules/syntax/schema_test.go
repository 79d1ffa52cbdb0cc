package syntax_test

import (
	"encoding/json"
	"flag"
	"os"
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
	for text, want := range map[string]verdict{
		string(every):                                    both,
		rule("{field: .a, hub: .b}"):                     both,
		rule("{field: .a}"):                              both,
		rule("{hub: .b, toHub: 'size(object)'}"):         both,
		rule("{field: .a, drop: x, default: 1}"):         both,
		rule("{field: {a: .a}, hub: {a: .b}}"):           both,
		rule("{field: '.a[]{}[k]{k}[k=v][0]', drop: x}"): both,
		rule(`{field: '.a["x/y"]', hub: '["a\"b"]'}`):    both,
		head + "      []\n":                              both,
		head:                                             both,

		rule("{}"):                                            neither,
		rule("{drop: x}"):                                     neither,
		rule("{field: .a, hub: .b, drop: x}"):                 neither,
		rule("{field: .a, drop: ''}"):                         neither,
		rule("{field: .a, drop: x, fromHub: self}"):           neither,
		rule("{field: .a, hub: .b, toHub: self}"):             neither,
		rule("{field: .a, hub: .b, fromHub: self}"):           neither,
		rule("{field: .a, toHub: self}"):                      neither,
		rule("{hub: .a, fromHub: self}"):                      neither,
		rule("{field: .a, hub: .b, absent: x}"):               neither,
		rule("{field: .a, hub: .b, hubValues: {a: b}}"):       neither,
		rule("{field: .a, hub: .b, values: {}}"):              neither,
		rule("{field: .a, hub: .b, values: {a: [b]}}"):        neither,
		rule("{field: .a, hub: .b, codec: Not, go: x}"):       neither,
		rule("{field: .a, hub: .b, codec: Not, template: x}"): neither,
		rule("{field: .a, values: {a: b}}"):                   neither,
		rule("{field: .a, when: 'true'}"):                     neither,
		rule("{field: .a, hubDefault: 1}"):                    neither,
		rule("{field: a}"):                                    neither,
		rule("{field: .a.*}"):                                 neither,
		rule("{field: '.a[1]'}"):                              neither,
		rule("{field: {}}"):                                   neither,
		rule("{field: {a-b: .c}, hub: {a-b: .c}}"):            neither,
		rule("{field: [.a]}"):                                 neither,
		rule("{feild: .a}"):                                   neither,
		rule("x"):                                             neither,
		head + "    unmaped: Error\n":                         neither,
		"kind: Conversion\nspec: {hub: v1, versions: [{name: v2}]}\nmetadata: {name: a}\n": neither,
		"kind: X\n": neither,
		"- a\n":     neither,

		rule("{field: .a, whenHub: 'true'}"):           parserOnly,
		rule("{field: '.a[]', hub: .b}"):               parserOnly,
		rule("{field: {a: .a}, hub: .b}"):              parserOnly,
		rule("{field: .a, hub: .b, use: Gone}"):        parserOnly,
		rule("{field: .a, field: .b}"):                 parserOnly,
		rule("{field: .a, hub: .b, values: {a: 0x1}}"): parserOnly,
		head + "  - name: v1\n":                        parserOnly,
	} {
		_, findings := syntax.Parse("rules.yaml", []byte(text))
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
