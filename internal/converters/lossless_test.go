package converters_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/jsondoc"
	"github.com/crdconvert/webhookd/internal/roundtrip"
)

// joining returns a kind whose first is all of v1, and whose first and second are one text in v2 if
// they have no dash.
func joining(units ...converters.Unit) converters.Kind {
	return converters.Lossless(converters.Kind{
		GroupKind: schema.GroupKind{Group: "g", Kind: "K"}, Hub: "v2", Versions: []string{"v1", "v2"},
		Converter: converters.FromUnstructured(func(_ context.Context, u *unstructured.Unstructured, from, _ string) error {
			spec, _ := u.Object["spec"].(map[string]any)
			text := func(name string) string {
				s, _ := spec[name].(string)
				return s
			}
			if from == "v1" {
				if first, second := text("first"), text("second"); first+second != "" {
					spec["both"] = first + "-" + second
				}
				delete(spec, "first")
				delete(spec, "second")
				return nil
			}
			if first, second, found := strings.Cut(text("both"), "-"); found {
				spec["first"] = first
				if second != "" {
					spec["second"] = second
				}
			}
			delete(spec, "both")
			return nil
		}),
	}, units...)
}

func together() converters.Unit {
	return converters.Unit{"v1": {{"spec", "first"}, {"spec", "second"}}, "v2": {{"spec", "both"}}}
}

func TestLosslessKeepsWhatDoesNotComeBack(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, in, from, there string }{
		{"nothing has to be kept", `{"spec":{"first":"a","second":"b"}}`, "v1", `{"spec":{"both":"a-b"}}`},
		{"other types", `{"spec":{"first":1,"second":"b"}}`, "v1", `{"spec":{"both":"-b"}}`},
		{"a text that is parted elsewhere", `{"spec":{"first":"a-b","second":"c"}}`, "v1", `{"spec":{"both":"a-b-c"}}`},
		{"null", `{"spec":{"first":null}}`, "v1", `{"spec":{}}`},
		{"no dash", `{"spec":{"both":"a"}}`, "v2", `{"spec":{}}`},
		{"the other version's field", `{"spec":{"first":"a","both":{"c":"d"}}}`, "v2", `{"spec":{"first":"a"}}`},
		{"labels", `{"metadata":{"labels":{"a":"b"}},"spec":{"both":""}}`, "v2", `{"metadata":{"labels":{"a":"b"}},"spec":{}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			to := map[string]string{"v1": "v2", "v2": "v1"}[test.from]
			there := convert(t, joining(together()), test.in, test.from, to)
			if seen, _ := withoutKept(t, there); !sameObject(t, seen, test.there) {
				t.Errorf("there %s, want %s", seen, test.there)
			}
			if back := convert(t, joining(together()), there, to, test.from); !sameObject(t, back, test.in) {
				t.Errorf("back %s, want %s", back, test.in)
			}
		})
	}
}

// The values of a unit return together or not at all; other values return alone. Units add up.
func TestLosslessUnits(t *testing.T) {
	t.Parallel()
	for want, kind := range map[string]converters.Kind{
		`{"spec":{"first":"x"}}`:            converters.Lossless(joining(), together()),
		`{"spec":{"first":"x","second":1}}`: joining(converters.Unit{"v1": {{"spec", "second"}}}),
	} {
		there := convert(t, kind, `{"spec":{"first":"a","second":1}}`, "v1", "v2")
		edited := strings.Replace(there, `"both":"a-"`, `"both":"x-"`, 1)
		if seen, _ := withoutKept(t, convert(t, kind, edited, "v2", "v1")); edited == there || !sameObject(t, seen, want) {
			t.Errorf("after an edit %s, want %s", seen, want)
		}
	}
}

func TestLosslessLaws(t *testing.T) {
	t.Parallel()
	kind := joining(together())
	err := roundtrip.Laws(t.Context(), &kind,
		[]byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"},"spec":{"first":"a","second":"b","c":1}}`),
		[]byte(`{"apiVersion":"g/v2","kind":"K","metadata":{"name":"a"},"spec":{"both":"a-b","c":1}}`))
	if err != nil {
		t.Error(err)
	}
}

// The conversion's own annotations are removed, in any spelling. Those of other versions and
// unreadable ones stay.
func TestLosslessTakesItsAnnotations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, annotations, want string }{
		{"its own", `"conversion.webhookd.io/v1.spec.c":"{\"value\":1}"`, `{"spec":{"c":1}}`},
		{"with escapes", `"\u0063onversion\u002ewebhookd.io\/v1.spec.c":"{\"value\":1}"`, `{"spec":{"c":1}}`},
		{"a leftover of the version it comes from", `"conversion.webhookd.io/v2.spec.c":"{\"value\":1}"`, `{"spec":{}}`},
		{
			"of a third version", `"conversion.webhookd.io/v3.spec.c":"{\"value\":1}"`,
			`{"metadata":{"annotations":{"conversion.webhookd.io/v3.spec.c":"{\"value\":1}"}},"spec":{}}`,
		},
		{
			"malformed", `"conversion.webhookd.io/v1.spec.c":"{"`,
			`{"metadata":{"annotations":{"conversion.webhookd.io/v1.spec.c":"{"}},"spec":{}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := convert(t, joining(), `{"metadata":{"annotations":{`+test.annotations+`}},"spec":{}}`, "v2", "v1")
			if !sameObject(t, strings.Replace(got, `"metadata":{},`, "", 1), test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// The reverse conversion sees an object of the other version. After an exact conversion there is
// none.
func TestLosslessTriesTheWayBack(t *testing.T) {
	t.Parallel()
	var taken []string
	exact := false
	kind := converters.Kind{
		GroupKind: schema.GroupKind{Group: "g", Kind: "K"}, Hub: "v2", Versions: []string{"v1", "v2"},
		Converter: converters.Exact(func(_ context.Context, obj *jsondoc.Object, from, to string) (bool, error) {
			n, err := obj.Get("apiVersion")
			apiVersion, _ := n.Str()
			taken = append(taken, apiVersion+" "+from+"->"+to)
			return exact, err
		}),
	}
	kind = converters.Lossless(kind)
	for _, want := range []string{"g/v1 v1->v2,g/v2 v2->v1", "g/v1 v1->v2"} {
		if convert(t, kind, `{"apiVersion":"g/v1"}`, "v1", "v2"); strings.Join(taken, ",") != want {
			t.Errorf("converted %v, want %s", taken, want)
		}
		taken, exact = nil, true
	}
	if err := kind.Converter.Convert(t.Context(), parse(t, `{"apiVersion":"g/v3"}`), "v3", "v2"); err != nil || len(taken) != 1 {
		t.Errorf("a version that is not the kind's: converted %v, error %v", taken, err)
	}
}

func TestLosslessFails(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{"v1", "v2"} {
		kind := converters.Lossless(converters.Kind{
			GroupKind: schema.GroupKind{Group: "g", Kind: "K"}, Hub: "v2", Versions: []string{"v1", "v2"},
			Converter: converters.Func(func(_ context.Context, _ *jsondoc.Object, from, _ string) error {
				if from == failing {
					return errRefused
				}
				return nil
			}),
		})
		if err := kind.Convert(t.Context(), parse(t, `{}`), "v1", "v2"); !errors.Is(err, errRefused) {
			t.Errorf("the conversion from %s fails: error %v", failing, err)
		}
	}
	big := `{"spec":{"first":["` + strings.Repeat("x", 256<<10) + `"]}}`
	kind := joining()
	err := kind.Convert(t.Context(), parse(t, big), "v1", "v2")
	if err == nil || !strings.Contains(err.Error(), "get the object at v1 and make these fields smaller there") {
		t.Errorf("error %.100v", err)
	}
}
