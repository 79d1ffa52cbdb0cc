package yamljson_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	kubeyaml "sigs.k8s.io/yaml"

	"github.com/crdconvert/webhookd/internal/document/yamljson"
)

func TestToJSON(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, yaml string
		want       []string
	}{
		{"numbers keep their spelling", "[9007199254740993, 1.10, 1e21, -0, 18446744073709551616, 1E+2]", []string{`[9007199254740993,1.10,1e21,-0,18446744073709551616,1E+2]`}},
		{"numbers of YAML alone", "[0x1F, 0o17, 0777, 0b11, 1_000, +1, .5, 5., +1.5, -.5, 1_0.5, 05.5]", []string{`[31,15,511,3,1000,1,0.5,5.0,1.5,-0.5,10.5,5.5]`}},
		{"octal numbers with a sign within are texts", "[0o-7, 0o+7, -0o7, 0o7]", []string{`["0o-7","0o+7",-7,7]`}},
		{"keys keep their order", "b: 1\na: 2\nc: {z: 1, d: 2}", []string{`{"b":1,"a":2,"c":{"z":1,"d":2}}`}},
		{"texts", "a: x\nb: '1'\nc: \"tab\\t\"\nd: |\n  one\n  two\ne: >-\n  one\n  two\nf: <b>&\n", []string{`{"a":"x","b":"1","c":"tab\t","d":"one\ntwo\n","e":"one two","f":"<b>&"}`}},
		{"dates are texts", "a: 2026-01-02\nb: 2026-01-02T03:04:05Z", []string{`{"a":"2026-01-02","b":"2026-01-02T03:04:05Z"}`}},
		{"booleans as kubectl reads them", "[true, False, yes, No, on, OFF, 'yes']", []string{`[true,false,true,false,true,false,"yes"]`}},
		{"nulls", "a:\nb: ~\nc: null\nd: ''", []string{`{"a":null,"b":null,"c":null,"d":""}`}},
		{"tags that change nothing", "a: !!str 1\nb: !!int 2\nc: !!map {}\nd: !!seq []", []string{`{"a":"1","b":2,"c":{},"d":[]}`}},
		{"keys that are numbers", "80: http", []string{`{"80":"http"}`}},
		{"aliases", "a: &x {p: 1}\nb: *x\nc: [*x]", []string{`{"a":{"p":1},"b":{"p":1},"c":[{"p":1}]}`}},
		{"merge", "a: &x {p: 1, q: 2}\nb: {r: 0, <<: *x, q: 3}", []string{`{"a":{"p":1,"q":2},"b":{"r":0,"p":1,"q":3}}`}},
		{"merge of several", "a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc: {<<: [*x, *y]}", []string{`{"a":{"p":1},"b":{"p":2,"q":2},"c":{"p":1,"q":2}}`}},
		{"documents", "a: 1\n---\n# nothing\n---\nb: 2\n---\n", []string{`{"a":1}`, `{"b":2}`}},
		{"nothing", "# nothing\n", nil},
		{"JSON", `{"a": [1.10, "x\u00e9"]}`, []string{`{"a":[1.10,"xé"]}`}},
		{"Windows", "a: 1\r\nb: 2\r\n", []string{`{"a":1,"b":2}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			documents, err := yamljson.ToJSON([]byte(tt.yaml))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range documents {
				got = append(got, string(d))
				if !json.Valid(d) {
					t.Errorf("not JSON: %s", d)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToJSONRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, yaml, want string }{
		{"duplicate key", "a: 1\nb: 2\n\"a\": 3", "line 3: duplicate key, remove one, the other is in line 1: a"},
		{"duplicate key below", "a:\n  - {b: 1, b: 2}", "line 2: duplicate key, remove one, the other is in line 2: b"},
		{"boolean key", "on: 1", "line 1: a key that may be taken for something else than a word, put it in quotes: on"},
		{"null key", "~: 1", "line 1: a key that may be taken for something else than a word, put it in quotes: ~"},
		{"decimal key", "1.5: 1", "line 1: a key that may be taken for something else than a word, put it in quotes: 1.5"},
		{"key that is not a word", "? [a]\n: 1", "line 1: a key is not a word, write KEY: VALUE"},
		{"infinity", "a: .inf", "line 1: a number that JSON cannot spell, write it in decimal digits or put it in quotes"},
		{"not a number", "a: .nan", "line 1: a number that JSON cannot spell, write it in decimal digits or put it in quotes"},
		{"too large a number", "a: 1e400", "line 1: a number too large for kubectl, which takes it for a string; put it in quotes"},
		{"too large in hexadecimal", "a: 0xFFFFFFFFFFFFFFFFFF", ""}, // a string to every parser
		{"wrong tag", "a: !!int x", "line 1: not a number, write it in decimal digits"},
		{"binary", "a: !!binary aGk=", "line 1: tags are not supported, remove it: !!binary"},
		{"own tag", "a: !secret x", "line 1: tags are not supported, remove it: !secret"},
		{"own tag of a mapping", "a: !secret {b: 1}", "line 1: tags are not supported, remove it: !secret"},
		{"merge of a number", "a: {<<: 1}", "line 1: not a mapping to merge, write one: <<"},
		{"alias within itself", "a: &x\n  b: *x", "line 2: alias within itself, write it out: *x"},
		{"merge within itself", "a: &x\n  <<: *x", "line 2: mappings are merged into each other too often, write them out: <<"},
		{"unknown alias", "a: *x", "not YAML: unknown anchor 'x' referenced"},
		{"syntax", "a: [1\nb: 2", "line 1: not YAML: did not find expected ',' or ']'"},
		{"tab", "a:\n\tb: 1", "line 2: not YAML: found character that cannot start any token"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := yamljson.ToJSON([]byte(tt.yaml))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestAliasesCannotExplode(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i, name := range "123456789" {
		before := string("0123456789"[i])
		b.WriteString("a" + string(name) + ": &a" + string(name) + " [" + strings.Repeat("*a"+before+",", 10) + "]\n")
	}
	_, err := yamljson.ToJSON([]byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "aliases make this document too large") {
		t.Errorf("got %v", err)
	}
}

func TestFromJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, json, want string }{
		{"like kubectl", `{"b":1,"a":[{"x":1,"y":"z"},[]],"c":{},"d":null,"e":true}`, "b: 1\na:\n- x: 1\n  \"y\": z\n- []\nc: {}\nd: null\ne: true\n"},
		{"numbers", `[9007199254740993,1.10,1e21,18446744073709551616,-0.0]`, "- 9007199254740993\n- 1.10\n- 1e21\n- 18446744073709551616\n- -0.0\n"},
		{
			"texts that look like something else", `["1","yes","No","null","~","1.5","2026-01-02","12:30","<<","","0x1f","true"]`,
			"- \"1\"\n- \"yes\"\n- \"No\"\n- \"null\"\n- \"~\"\n- \"1.5\"\n- \"2026-01-02\"\n- \"12:30\"\n- \"<<\"\n- \"\"\n- \"0x1f\"\n- \"true\"\n",
		},
		{
			"texts that look like numbers too large", `["1e400","` + strings.Repeat("7", 310) + `","0x12345678901234567","1.2.3","0xg","1e5x","-"]`,
			"- \"1e400\"\n- \"" + strings.Repeat("7", 310) + "\"\n- \"0x12345678901234567\"\n- 1.2.3\n- 0xg\n- 1e5x\n- '-'\n",
		},
		{
			"lines", `{"a":"one\ntwo\n","b":"one \ntwo","c":" one\ntwo","d":"one\ntwo"}`,
			"a: |\n  one\n  two\nb: \"one \\ntwo\"\nc: \" one\\ntwo\"\nd: |-\n  one\n  two\n",
		},
		{"escapes", `{"a":"\u001b[31m","b":"\u00e9<&>","c":"\ufeff\u2028"}`, "a: \"\\e[31m\"\nb: é<&>\nc: \"\\uFEFF\\L\"\n"},
		{"keys", `{"yes":1,"1":2,"":3,"a: b":4}`, "\"yes\": 1\n\"1\": 2\n\"\": 3\n'a: b': 4\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := yamljson.FromJSON([]byte(tt.json))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			again, err := yamljson.ToJSON(got)
			if err != nil || len(again) != 1 {
				t.Fatalf("cannot be read again: %v", err)
			}
			if want, got := canonical(t, []byte(tt.json)), canonical(t, again[0]); want != got {
				t.Errorf("came back as %s, want %s", got, want)
			}
		})
	}
}

func TestFromJSONRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":`:        "not JSON: EOF",
		`[1e400]`:      "a number is too large for YAML's readers, which would take it for a string",
		`["\ud800"]`:   "a string holds half of a surrogate pair, which YAML has no spelling for",
		`{"\udc00":1}`: "a string holds half of a surrogate pair, which YAML has no spelling for",
	} {
		if _, err := yamljson.FromJSON([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}

// canonical spells JSON in one way, but keeps numbers and the order of keys.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	v := jsontext.Value(bytes.Clone(text))
	if err := v.Format(jsontext.AllowDuplicateNames(true)); err != nil {
		t.Fatalf("not JSON: %v: %s", err, text)
	}
	return string(v)
}

// JSON converted to YAML and back is the same, for webhookd and for kubectl.
func FuzzRoundTrip(f *testing.F) {
	for _, seed := range []string{
		`{"apiVersion":"example.com/v1","spec":{"a":1.10,"b":["x\ny","yes"," "],"":null}}`,
		`["\u0000","\u0085","\u2028","\ud83d\ude00","a\n\nb","\n","- a","a: b","#","a #b","'","\"","? a",": "]`,
		`{"<<":{"a":1},"=":2,"y":3,"12:30:45":"1:2"}`, `"\ufeff"`, `[[[]],{}]`, `-0`, `["\n a","a\n "," \n"]`, `["\t","a\tb","a\t\nb"]`,
		`["` + strings.Repeat("7", 400) + `","1e999","-1.5E+999","0x` + strings.Repeat("f", 40) + `"]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		yamlText, err := yamljson.FromJSON(text)
		if err != nil {
			return // YAML cannot represent it
		}
		again, err := yamljson.ToJSON(yamlText)
		if err != nil {
			if strings.Contains(err.Error(), "duplicate key") {
				return
			}
			t.Fatalf("%v:\n%s", err, yamlText)
		}
		if len(again) != 1 {
			t.Fatalf("%d documents:\n%s", len(again), yamlText)
		}
		if want, got := canonical(t, text), canonical(t, again[0]); want != got {
			t.Fatalf("came back as %s\nwant %s\nover:\n%s", got, want, yamlText)
		}
		kube, err := kubeyaml.YAMLToJSON(yamlText)
		if err != nil {
			t.Fatalf("kubectl: %v:\n%s", err, yamlText)
		}
		var theirs, ours any
		if json.Unmarshal(kube, &theirs) == nil && json.Unmarshal(text, &ours) == nil && !cmp.Equal(ours, theirs) {
			t.Fatalf("kubectl reads something else:\n%s\n%s", cmp.Diff(ours, theirs), yamlText)
		}
	})
}

// Everything that is accepted becomes JSON, and means what it means to kubectl.
func FuzzToJSON(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n---\nb: [yes, 0777, 1_0, .5]\n", "a: &x {p: 1}\nb: {<<: *x, q: 2}\n", "- 2026-01-02\n- 1:30\n- 0o7\n- 0x1f\n- !!str 1\n",
		"a: |\n  x\nb: >\n  y\n", "? a\n: b\n", "{\"a\": \"\\u00e9\"}", "a: 1e400\n", "- +.5\n- 1.e3\n- 0b1\n- -0b1\n- -0x1\n",
	} {
		f.Add([]byte(seed))
	}
	crds, err := filepath.Glob("../../../examples/crds/*.yaml")
	if err != nil || len(crds) == 0 {
		f.Fatal("no CRDs of the examples", err)
	}
	for _, file := range crds {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		documents, err := yamljson.ToJSON(text)
		for _, d := range documents {
			if !json.Valid(d) {
				t.Fatalf("not JSON: %s", d)
			}
		}
		// kubectl's parser reads one document, and reads "! x" as a string, unlike the newer
		// parser.
		if err != nil || len(documents) != 1 || bytes.ContainsAny(text, "!") ||
			bytes.Contains(text, []byte("---")) || bytes.Contains(text, []byte("...")) {
			return
		}
		kube, err := kubeyaml.YAMLToJSON(text)
		if err != nil {
			return // it refuses more
		}
		var theirs, ours any
		if json.Unmarshal(kube, &theirs) == nil && json.Unmarshal(documents[0], &ours) == nil && !cmp.Equal(ours, theirs) {
			t.Fatalf("kubectl reads something else:\n%s\n%q", cmp.Diff(ours, theirs), text)
		}
	})
}
