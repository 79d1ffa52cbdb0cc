package keep

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// A value that does not fit its place is not restored (L13).
func TestWhatFits(t *testing.T) {
	t.Parallel()
	l := &Layout{Schema: testSchema(t)}
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for place, test := range map[string]struct{ fits, not []string }{
		"s":       {[]string{`""`}, []string{`1`, `{}`, `[]`, `true`, `null`}},
		"null":    {[]string{`""`, `null`}, []string{`1`}},
		"i":       {[]string{`1`, `1.0`, `1e3`, `9223372036854775807`}, []string{`"1"`, `1.5`, `1e999`, `99999999999999999999`, `null`}},
		"n":       {[]string{`1`, `1.5`, `-1e-999`}, []string{`"1"`, `1e999`}},
		"either":  {[]string{`1`, `"1"`}, []string{`1.5`, `true`, `{}`}},
		"o":       {[]string{`{}`, `{"s":null}`, `{"fresh":[null]}`, `{"a":1,"a":{}}`, `{"s":1,"\u0073":"last"}`}, []string{`[]`, `{"s":1}`, `{"l":[null]}`, `{"s":"last","s":1}`}},
		"values":  {[]string{`{"a":""}`, `{"a":null}`}, []string{`{"a":1}`, `{"a":{}}`}},
		"l":       {[]string{`["a","a"]`}, []string{`{}`, `[1]`, `[null]`, `["a",null]`}},
		"nulls":   {[]string{`[null]`}, []string{`[1]`}},
		"set":     {[]string{`["a","b"]`}, []string{`["a","a"]`, `["a","\u0061"]`}},
		"keyed":   {[]string{`[{}]`, `[{"k":"a"},{"k":"b"},{}]`, `[{"k":"a"},{"k":"a","d":"y"}]`}, []string{`[{},{}]`, `[{"k":"a"},{"k":"a","d":"x"}]`, `[{"k":"a"},{"k":"a","d":null}]`, `[{"k":null},{}]`, `[null]`}},
		"any":     {[]string{`null`, `[null,{"a":[1]}]`, deep(jsondoc.MaxDepth - 2), `[{"a":{"b":1,"b":2}}]`}, []string{`[1e999]`, `{"a":1e999,"a":2}`, deep(jsondoc.MaxDepth - 1)}},
		"unknown": {[]string{`null`, `{"a":1}`, `{"a":1,"a":2}`}, []string{`1e999`}},
	} {
		c := l.root(nil, nil, nil).member("spec", 1, nil, nil).member(place, 2, nil, nil)
		for _, text := range test.fits {
			if !c.fits([]byte(text)) {
				t.Errorf("%s does not fit at %s", text, place)
			}
		}
		for _, text := range test.not {
			if c.fits([]byte(text)) {
				t.Errorf("%s fits at %s", text, place)
			}
		}
	}
}

// A value made of several kept values fits as a whole, and a list stays one that the API server
// accepts.
func TestWhatIsMadeFits(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ spec, at, text, want string }{
		"an object at the place of a string":    {`{}`, "s.a", `{"value":1,"in":0}`, `{}`},
		"a list at the place of an object":      {`{}`, "o", `{"parts":[{"path":[{"name":"a"},"x"],"value":1,"in":0}]}`, `{}`},
		"a list at the place of a string":       {`{}`, "s", `{"parts":[{"path":[{"name":"a"},"x"],"value":1,"in":0}]}`, `{}`},
		"a key of another type":                 {`{"keyed":[]}`, "keyed", `{"parts":[{"path":[{"k":1}],"value":{}}]}`, `{"keyed":[]}`},
		"an element of a new list":              {`{}`, "keyed", `{"parts":[{"path":[{"k":"a"}],"value":{},"in":0}]}`, `{"keyed":[{"k":"a"}]}`},
		"two elements that a default makes one": {`{}`, "keyed", `{"parts":[{"path":[{"k":"a"}],"value":{},"in":0},{"path":[{"k":"a","d":"x"}],"value":{},"in":0}]}`, `{}`},
		"an element that is there by default":   {`{"keyed":[{"k":"a"}]}`, "keyed", `{"parts":[{"path":[{"k":"a","d":"x"}],"value":{}},{"path":[{"k":"b"}],"value":{}}]}`, `{"keyed":[{"k":"a"},{"k":"b"}]}`},
		"elements that have no keys":            {`{"keyed":[]}`, "keyed", `{"parts":[{"path":[{"o":1}],"value":{}},{"path":[{"o":2}],"value":{}}]}`, `{"keyed":[{"o":1}]}`},
		"more elements of a set":                {`{"set":["a"]}`, "set", `{"list":{"length":0,"added":[{"after":0,"value":"a"},{"after":0,"value":"b"},{"after":0,"value":null}]}}`, `{"set":["b","a"]}`},
		"a key that another element has": {
			`{"keyed":[{"k":"a"},{"o":1}]}`, "keyed", `{"parts":[{"path":[{"o":1},"k"],"value":"a"},{"path":[{"k":"b"}],"value":{}}]}`, `{"keyed":[{"k":"a"},{"o":1}]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kept, taken := takeText(t, named(pathOf(append([]string{"spec"}, strings.Split(test.at, ".")...)...)), test.text)
			if !taken {
				t.Fatal("the annotation is none")
			}
			obj, y := parseTest(t, `{"spec":`+test.spec+`}`), parseTest(t, `{"spec":`+test.spec+`}`)
			if _, err := Restore(t.Context(), &Memory{}, obj, y, nil, kept, &Layout{Schema: testSchema(t)}); err != nil {
				t.Fatal(err)
			}
			if got, want := string(obj.Text()), `{"spec":`+test.want+`}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// testSchema has a place of each kind.
func testSchema(t *testing.T) *crdschema.Node {
	t.Helper()
	return crdschematest.Roots(t, `
s: {type: string}
"null": {type: string, nullable: true}
i: {type: integer}
"n": {type: number}
either: {x-kubernetes-int-or-string: true}
o: {type: object, properties: {s: {type: string}, l: {type: array, items: {type: string}}}}
values: {type: object, additionalProperties: {type: string}}
l: {type: array, items: {type: string}}
nulls: {type: array, items: {type: string, nullable: true}}
set: {type: array, items: {type: string}, x-kubernetes-list-type: set}
keyed:
  type: array
  x-kubernetes-list-type: map
  x-kubernetes-list-map-keys: [k, d]
  items: {type: object, required: [k], properties: {k: {type: string}, d: {type: string, default: x}}}
any: {x-kubernetes-preserve-unknown-fields: true}
`)[0]
}
