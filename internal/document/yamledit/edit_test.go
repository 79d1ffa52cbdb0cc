package yamledit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		before, value, want, changes string
		lost                         []int
	}{
		"a version, in its quotes and with its comment": {
			"apiVersion: 'a/v1'   # c\nkind: A\n", `{"apiVersion":"a/v2","kind":"A"}`,
			"apiVersion: 'a/v2'   # c\nkind: A\n", "set .apiVersion", nil,
		},
		"a rename keeps comments and place": {
			"# c\ncolour: \"red\" # d\nb: 1\n", `{"b":1,"color":"red"}`,
			"# c\ncolor: \"red\" # d\nb: 1\n", "rename .colour to .color", nil,
		},
		"a move takes comments along": {
			"spec:\n    # c\n    host: 'a b' # d\n    x: 1\n", `{"spec":{"x":1,"at":{"host":"a b"}}}`,
			"spec:\n    x: 1\n    at:\n        # c\n        host: 'a b' # d\n", "add .spec.at, move .spec.host to .spec.at.host", nil,
		},
		"a string that becomes two keeps its comments": {
			"a: 1\n# where\nhostPort: h:1 # c\nb: 2\n", `{"a":1,"b":2,"host":"h","port":"1"}`,
			"a: 1\n# where\nhost: h # c\nport: \"1\"\nb: 2\n", "remove .hostPort, add .host, add .port", nil,
		},
		"a string that becomes an object": {
			"source: 'git://x' # c\nb: 1\n", `{"source":{"url":"git://x"},"b":1}`,
			"source: # c\n  url: 'git://x'\nb: 1\n", "set .source", nil,
		},
		"an object that becomes a string": {
			"source: # c\n  url: x # d\nb: 1\n", `{"source":"x","b":1}`,
			"source: x # c\nb: 1\n", "set .source",
			[]int{2},
		},
		"what is removed, with its comments": {
			"a: 1\n# of b\nb:\n  c: 1\n  # end\n\n# of d\nd: 1\n", `{"a":1,"d":1}`,
			"a: 1\n\n# of d\nd: 1\n", "remove .b",
			[]int{2, 5},
		},
		"the first member behind a dash": {
			"l:\n- a: 1\n  # b\n  b: 2\n- c: 1\n  d: 2\n", `{"l":[{"b":2},{"d":2}]}`,
			"l:\n- \n  # b\n  b: 2\n- d: 2\n", "remove .l[0].a, remove .l[1].c", nil,
		},
		"elements are found by value, name and position": {
			"l:\n  - name: a # 1\n    x: 1\n  - name: b # 2\n    x: 2\n  - 3 # 3\n", `{"l":[{"name":"b","x":9},3,"new"]}`,
			"l:\n  - name: b # 2\n    x: 9\n  - 3 # 3\n  - new\n", "remove .l[0], set .l[0].x, add .l[2]",
			[]int{2},
		},
		"flow style": {
			"a: {b: 1, c: {d: 'x'}, e: 2} # c\n", `{"a":{"b":1,"c":{"f":"x, y","d":"x"},"g":[]}}`,
			"a: {b: 1, c: {f: \"x, y\", d: 'x'}, g: []} # c\n", "add .a.c.f, remove .a.e, add .a.g", nil,
		},
		"an empty object gets members": {
			"a: {} # c\n", `{"a":{"b":["x"]}}`,
			"a: # c\n  b:\n  - x\n", "set .a", nil,
		},
		"a block of text moves": {
			"a:\n    t: |\n      x # no\n\n       y\nb: 1\n", `{"b":1,"a":{"u":{"t":"x # no\n\n y\n"}}}`,
			"a:\n    u:\n        t: |\n          x # no\n\n           y\nb: 1\n", "set .a, move .a.t to .a.u.t", nil,
		},
		"CRLF": {
			"a: 1 # c\r\nb: 2\r\n", `{"a":1,"c":{"d":2}}`,
			"a: 1 # c\r\nc:\r\n  d: 2\r\n", "remove .b, add .c", nil,
		},
		"comments stay in their item of a List": {
			"items:\n- host: aaaa # 1\n  x: 1\n- host: aaaa # 2\n  x: 2\n",
			`{"items":[{"x":1,"host":"bbbb"},{"x":2,"at":{"host":"aaaa"}}]}`,
			"items:\n- host: bbbb # 1\n  x: 1\n- x: 2\n  at:\n    host: aaaa # 2\n",
			"set .items[0].host, add .items[1].at, move .items[1].host to .items[1].at.host", nil,
		},
		"an annotation of JSON": {
			"metadata: {name: a}\n", `{"metadata":{"name":"a","annotations":{"k":"{\"a\":1}"}}}`,
			"metadata: {name: a, annotations: {k: \"{\\\"a\\\":1}\"}}\n", "add .metadata.annotations", nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const other = "---\n# other\nother:   document\n"
			checkEdit(t, ParseYAML, tt.before+other, tt.value, tt.want+other, tt.changes, tt.lost)
		})
	}
}

func checkEdit(t *testing.T, parse func([]byte) (*File, error), before, value, want, changes string, lost []int) {
	t.Helper()
	file, err := parse([]byte(before))
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]byte, len(file.Documents))
	values[0] = []byte(value)
	result, err := file.Edit(values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(result.Text)); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	texts := make([]string, 0, len(result.Changes[0]))
	for _, change := range result.Changes[0] {
		texts = append(texts, change.String())
	}
	if diff := cmp.Diff(changes, strings.Join(texts, ", ")); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(lost, result.LostComments[0]); diff != "" {
		t.Errorf("lost comments (-want +got):\n%s", diff)
	}
}

func TestEditJSON(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, value, want, changes string }{
		"tabs and escapes": {
			"{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"x\": \"\\/\\u00e9\",\n\t\t\"y\": []\n\t}\n}\n", `{"a":2,"c":{"x":"/é","z":[1,{}]}}`,
			"{\n\t\"a\": 2,\n\t\"c\": {\n\t\t\"x\": \"\\/\\u00e9\",\n\t\t\"z\": [\n\t\t\t1,\n\t\t\t{}\n\t\t]\n\t}\n}\n",
			"set .a, rename .b to .c, remove .b.y, add .c.z",
		},
		"minified": {
			`{"a":1,"b":[1,2]}`, `{"b":[2,3],"c":{"d":null}}`, `{"b":[2,3],"c":{"d":null}}`,
			"remove .a, remove .b[0], add .b[1], add .c",
		},
		"half of a surrogate pair": {`{"a": "\ud800", "b": 1}`, `{"c":{"a":"\ud800"},"b":1}`, `{"c": {"a": "\ud800"}, "b": 1}`, "add .c, move .a to .c.a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkEdit(t, ParseJSON, tt.before, tt.value, tt.want, tt.changes, nil)
		})
	}
}

// What cannot be edited is refused, with the reason.
func TestEditRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ before, value, want string }{
		"an alias that changes":      {"a: &x {b: 1}\nc: *x\n", `{"a":{"b":1},"c":{"b":2}}`, "line 1: " + errAnchor},
		"an anchor that changes":     {"a: &x {b: 1}\nc: *x\n", `{"a":{"b":2},"c":{"b":1}}`, "line 1: " + errAnchor},
		"a merged member":            {"a: &x {b: 1}\nc:\n  <<: *x\n  d: 1\n", `{"a":{"b":1},"c":{"d":1}}`, "line 1: " + errAnchor},
		"a template in a value":      {"a: 1\nb: '{{ x }}:1'\n", `{"a":1,"c":"{{ x }}"}`, "line 2: a template in a value that changes ({{): convert what it renders to, or change it by hand"},
		"a question mark":            {"a: 1\n? b\n: c\n", `{"a":2,"b":"c"}`, "line 2: a key behind a question mark, write KEY: VALUE"},
		"another line end":           {"a: 1\rb: 2\r", `{"a":2,"b":2}`, "line 1: line ends other than LF and CRLF, replace them first"},
		"no line break at the end":   {"a: 1\nb: |\n  x", `{"a":1,"b":"x","c":1}`, "line 1: the last line has no line break, which may be part of a value: add one"},
		"another value than a map":   {"a: 1\n", `[]`, "line 1: " + errUneditable},
		"all problems of a document": {"a: &x 1\nb: *x\nc: *x\n? d\n: 1\n", `{"a":1,"b":2,"c":3,"d":1}`, "line 4: a key behind a question mark, write KEY: VALUE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := ParseYAML([]byte(tt.before))
			if err != nil {
				t.Fatal(err)
			}
			_, err = file.Edit([][]byte{[]byte(tt.value)})
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
