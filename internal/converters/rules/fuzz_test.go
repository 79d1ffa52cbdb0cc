package rules_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// Each takes a processor about half a millisecond: make laws takes 400.
//
//nolint:gochecknoglobals // a flag
var objects = flag.Uint64("objects", 25, "random objects of each version that each rule of the tests is held to the laws on")

// Random objects of both schemas satisfy all laws.
func TestLawsOnRandomObjects(t *testing.T) {
	t.Parallel()
	for _, test := range allCases() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := test.suite(t).Fuzz(t.Context(), *objects); err != nil {
				t.Error(err)
			}
		})
	}
}

// FuzzConvert converts any object there and back by the rules of one of the cases. JSON stays JSON,
// the result is the same every time, and nothing panics.
func FuzzConvert(f *testing.F) {
	cases := allCases()
	kinds := make([]*converters.Kind, 0, len(cases))
	for i, test := range cases {
		kinds = append(kinds, test.pair.kind(f))
		for _, s := range test.samples {
			f.Add(uint16(i), s.from == "v1", head(s.from, s.rest))
			f.Add(uint16(i), s.from != "v1", convert(f, kinds[i], head(s.from, s.rest), s.from, other(s.from)))
		}
	}
	f.Add(uint16(0), true, head("v1", `,"spec":{"params":{"a":"x","a":"y"}}`))
	f.Fuzz(func(t *testing.T, i uint16, down bool, text string) {
		kind, from, to := kinds[int(i)%len(kinds)], "v1beta1", "v1"
		if down {
			from, to = to, from
		}
		there := converted(t, kind, []byte(text), from, to)
		if again := converted(t, kind, []byte(text), from, to); !bytes.Equal(there, again) {
			t.Errorf("%s, then %s", there, again)
		}
		if there != nil && converted(t, kind, there, to, from) == nil {
			t.Errorf("it does not convert back: %s", there)
		}
	})
}

// Wherever a rule may look, repeated names convert there and back as kube-apiserver reads them.
func TestNamesThatStandTwice(t *testing.T) {
	t.Parallel()
	tried := 0
	for _, test := range allCases() {
		kind := test.pair.kind(t)
		for _, s := range test.samples {
			for _, rest := range namedTwice(s.rest) {
				text := []byte(head(s.from, rest))
				there := converted(t, kind, text, s.from, other(s.from))
				plain := converted(t, kind, jsondoc.LastOfEach(text), s.from, other(s.from))
				if (there == nil) != (plain == nil) {
					t.Errorf("%s: %s converts: %t, without what does not count: %t", test.name, text, there != nil, plain != nil)
				}
				if there == nil {
					continue
				}
				tried++
				if !bytes.Equal(compact(t, there), compact(t, plain)) {
					t.Errorf("%s: %s converts to\n%s\nwithout what does not count to\n%s", test.name, text, there, plain)
				}
				if back := converted(t, kind, there, other(s.from), s.from); back == nil {
					t.Errorf("%s: %s does not convert back", test.name, there)
				} else if !bytes.Equal(compact(t, back), compact(t, converted(t, kind, plain, other(s.from), s.from))) {
					t.Errorf("%s: %s comes back as %s", test.name, text, back)
				}
			}
		}
	}
	if tried < 200 {
		t.Errorf("%d objects", tried)
	}
}

// namedTwice returns a text once for each object in it, with the object's first name repeated. The
// first of the two has another value.
func namedTwice(text string) []string {
	var texts []string
	for i := range text {
		rest, isObject := strings.CutPrefix(text[i:], `{"`)
		if !isObject {
			continue
		}
		name, _, _ := strings.Cut(rest, `"`)
		for _, value := range []string{`0`, `"x"`, `{"x":[null]}`} {
			texts = append(texts, text[:i]+`{"`+name+`":`+value+`,"`+rest)
		}
	}
	return texts
}

// compact returns an object in canonical form: names in order, and only the last member of each
// name, in annotations as well.
func compact(t *testing.T, text []byte) []byte {
	t.Helper()
	if text == nil {
		return nil
	}
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(jsondoc.LastOfEach(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	if annotations, ok := v["metadata"].(map[string]any)["annotations"].(map[string]any); ok {
		for name, kept := range annotations {
			annotations[name] = string(jsondoc.LastOfEach([]byte(kept.(string))))
		}
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return sorted
}

// converted returns nil if the text is not an object that can be converted.
func converted(t *testing.T, kind *converters.Kind, text []byte, from, to string) []byte {
	t.Helper()
	obj, err := jsondoc.ParseObject(text)
	if err != nil {
		return nil
	}
	if err := kind.Convert(t.Context(), obj, from, to); err != nil {
		return nil
	}
	if !json.Valid(obj.Text()) {
		t.Errorf("no JSON: %s", obj.Text())
	}
	return bytes.Clone(obj.Text())
}
