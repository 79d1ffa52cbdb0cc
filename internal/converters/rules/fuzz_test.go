package rules_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Each takes a processor about half a millisecond: raise it for a change to the engine.
//
//nolint:gochecknoglobals // a flag
var objects = flag.Uint64("objects", 200/fewer, "random objects of each version that each rule of the tests is held to the laws on")

// Random objects of both schemas are held to all laws.
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

// FuzzConvert converts any object by the rules of one of the cases, there and back: what is JSON stays JSON, the same every time,
// and nothing panics.
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

// converted returns nil for what is no object that could be converted.
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
