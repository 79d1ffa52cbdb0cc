package conversion_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/conversion"
	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/laws/hold"
	"github.com/crdconvert/webhookd/internal/schema/apiserver"
	"github.com/crdconvert/webhookd/test/helpers/lawtest"
)

var errRefused = errors.New("refused")

// parse parses a text as webhookd's own packages have it.
func parse(t *testing.T, text string) *jsondoc.Object {
	t.Helper()
	obj, err := jsondoc.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return obj
}

// lossless returns the lossless kind of a function over unstructured objects.
func lossless(t *testing.T, crd []byte, fn func(spec map[string]any, from string) error) converters.Kind {
	t.Helper()
	kind, err := conversion.Lossless(conversion.FromUnstructured(
		func(_ context.Context, u *unstructured.Unstructured, from, _ string) error {
			spec, _ := u.Object["spec"].(map[string]any)
			return fn(spec, from)
		}), crd)
	if err != nil {
		t.Fatal(err)
	}
	return conversion.Internal(kind)
}

func joiningCRD() []byte {
	return crdOf(`
		first: {x-kubernetes-preserve-unknown-fields: true}
		second: {x-kubernetes-preserve-unknown-fields: true}
		both: {x-kubernetes-preserve-unknown-fields: true}
		c: {type: integer}`, `
		both: {x-kubernetes-preserve-unknown-fields: true}
		first: {x-kubernetes-preserve-unknown-fields: true}
		c: {type: integer}`)
}

// joining returns a kind whose first and second of v1 are one text in v2 if they have no dash.
func joining(t *testing.T) converters.Kind {
	t.Helper()
	return lossless(t, joiningCRD(),
		func(spec map[string]any, from string) error {
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
		})
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
			there := convert(t, joining(t), test.in, test.from, to)
			if seen, _ := withoutKept(t, there); !sameObject(t, seen, test.there) {
				t.Errorf("there %s, want %s", seen, test.there)
			}
			if back := convert(t, joining(t), there, to, test.from); !sameObject(t, back, test.in) {
				t.Errorf("back %s, want %s", back, test.in)
			}
		})
	}
}

// An amount is a value and a unit of v1, and one text in v2. Both are kept if v2 writes them in
// another way. An edit invalidates both, though v2 has written the unit of neither.
func TestLosslessFindsUnits(t *testing.T) {
	t.Parallel()
	kind := lossless(t, crdOf("value: {type: string}\nunit: {type: string}\nnote: {type: string}", "amount: {type: string}\nsize: {type: string}"),
		func(spec map[string]any, from string) error {
			if from == "v1" {
				value, is := spec["value"].(string)
				if thousands, found := strings.CutSuffix(value, "000"); found && spec["unit"] == "m" {
					value = thousands
				} else if spec["unit"] == "m" {
					value = "0." + value
				}
				if is {
					spec["amount"] = value
				}
				delete(spec, "value")
				delete(spec, "unit")
				delete(spec, "note")
				return nil
			}
			if amount, is := spec["amount"].(string); is {
				spec["value"] = amount
			}
			delete(spec, "amount")
			delete(spec, "size")
			return nil
		})
	const in = `{"spec":{"value":"2000","unit":"m","note":"x"}}`
	there := convert(t, kind, in, "v1", "v2")
	for edit, want := range map[string]string{
		`"amount":"2"`:            in,
		`"amount":"3"`:            `{"spec":{"note":"x","value":"3"}}`,
		`"size":"1","amount":"2"`: in,
	} {
		edited := strings.Replace(there, `"amount":"2"`, edit, 1)
		if !strings.Contains(edited, edit) {
			t.Fatalf("no amount in %s", there)
		}
		back := convert(t, kind, edited, "v2", "v1")
		if seen, _ := withoutKept(t, back); !sameObject(t, seen, want) {
			t.Errorf("after the edit %s: %s, want %s", edit, seen, want)
		}
		if again, _ := withoutKept(t, convert(t, kind, back, "v1", "v2")); !sameObject(t, again, `{"spec":{`+edit+`}}`) {
			t.Errorf("after the edit %s, v2 is %s", edit, again)
		}
	}
}

// Values that no edit contradicts return: first was edited, and second has nothing to do with it.
func TestLosslessKeepsTheNeighboursOfAnEdit(t *testing.T) {
	t.Parallel()
	there := convert(t, joining(t), `{"spec":{"first":"a","second":1}}`, "v1", "v2")
	edited := strings.Replace(there, `"both":"a-"`, `"both":"x-"`, 1)
	const want = `{"spec":{"first":"x","second":1}}`
	if seen, _ := withoutKept(t, convert(t, joining(t), edited, "v2", "v1")); edited == there || !sameObject(t, seen, want) {
		t.Errorf("after an edit %s, want %s", seen, want)
	}
}

// holdLaws holds a kind to all laws on samples.
func holdLaws(t *testing.T, kind converters.Kind, crd []byte, samples ...[]byte) {
	t.Helper()
	crds, err := apiserver.Parse("crd", crd)
	if err != nil {
		t.Fatal(err)
	}
	if err := lawtest.Hold(t.Context(), &hold.Suite{Kind: &kind, CRD: crds[0], Seed: hold.DefaultSeed}, samples...); err != nil {
		t.Error(err)
	}
}

func TestLosslessLaws(t *testing.T) {
	t.Parallel()
	holdLaws(t, joining(t), joiningCRD(),
		[]byte(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a"},"spec":{"first":"a","second":"b","c":1}}`),
		[]byte(`{"apiVersion":"g/v2","kind":"K","metadata":{"name":"a"},"spec":{"both":"a-b","c":1}}`))
}

// The conversion's own annotations are removed, in any spelling. Those of other versions and
// unreadable ones stay.
func TestLosslessTakesItsAnnotations(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, annotations, want string }{
		{"its own", `"conversion.webhookd.io/v1.spec.second":"{\"value\":1}"`, `{"spec":{"second":1}}`},
		{"with escapes", `"\u0063onversion\u002ewebhookd.io\/v1.spec.second":"{\"value\":1}"`, `{"spec":{"second":1}}`},
		{"a leftover of the version it comes from", `"conversion.webhookd.io/v2.spec.second":"{\"value\":1}"`, `{"spec":{}}`},
		{
			"of a third version", `"conversion.webhookd.io/v3.spec.second":"{\"value\":1}"`,
			`{"metadata":{"annotations":{"conversion.webhookd.io/v3.spec.second":"{\"value\":1}"}},"spec":{}}`,
		},
		{
			"malformed", `"conversion.webhookd.io/v1.spec.second":"{"`,
			`{"metadata":{"annotations":{"conversion.webhookd.io/v1.spec.second":"{"}},"spec":{}}`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := convert(t, joining(t), `{"metadata":{"annotations":{`+test.annotations+`}},"spec":{}}`, "v2", "v1")
			if !sameObject(t, strings.Replace(got, `"metadata":{},`, "", 1), test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// The reverse conversion sees an object of the other version.
func TestLosslessTriesTheWayBack(t *testing.T) {
	t.Parallel()
	var taken []string
	kind := conversion.Internal(conversion.Must(conversion.Lossless(conversion.Func(
		func(_ context.Context, obj *conversion.Object, from, to string) error {
			n, err := obj.Get("apiVersion")
			apiVersion, _ := n.Text()
			taken = append(taken, apiVersion+" "+from+"->"+to)
			return err
		}), crdOf("a: {type: string}", "a: {type: string}"))))
	convert(t, kind, `{"apiVersion":"g/v1"}`, "v1", "v2")
	if want := "g/v1 v1->v2,g/v2 v2->v1"; strings.Join(taken, ",") != want {
		t.Errorf("converted %v, want %s", taken, want)
	}
}

func TestLosslessFails(t *testing.T) {
	t.Parallel()
	for _, failing := range []string{"v1", "v2"} {
		kind := lossless(t, crdOf("a: {type: string}", "a: {type: string}"), func(_ map[string]any, from string) error {
			if from == failing {
				return errRefused
			}
			return nil
		})
		if err := kind.Convert(t.Context(), parse(t, `{}`), "v1", "v2"); !errors.Is(err, errRefused) {
			t.Errorf("the conversion from %s fails: error %v", failing, err)
		}
	}
	big := `{"spec":{"first":["` + strings.Repeat("x", 256<<10) + `"]}}`
	kind := joining(t)
	err := kind.Convert(t.Context(), parse(t, big), "v1", "v2")
	if err == nil || !strings.Contains(err.Error(), "get the object at v1 and make these fields smaller there") {
		t.Errorf("error %.100v", err)
	}
}

func TestLosslessRefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	good := crdOf("a: {type: string}", "a: {type: string}")
	one, _, _ := strings.Cut(string(good), "  - name: v2")
	same := conversion.Func(func(context.Context, *conversion.Object, string, string) error { return nil })
	for name, test := range map[string]struct {
		converter conversion.Converter
		crd       string
		want      string
	}{
		"no converter":   {nil, string(good), "conversion.Lossless: no converter"},
		"no CRD":         {same, "", "conversion.Lossless: the text has 0 CustomResourceDefinitions, want one"},
		"two CRDs":       {same, string(good) + "---\n" + strings.ReplaceAll(string(good), "ks", "js"), "conversion.Lossless: the text has 2 CustomResourceDefinitions, want one"},
		"not YAML":       {same, "\t", "conversion.Lossless: "},
		"one version":    {same, one, "conversion.Lossless: "},
		"an unknown hub": {conversion.WithHub("v9", same), string(good), `conversion.Lossless: hub "v9" is not one of the versions`},
	} {
		if _, err := conversion.Lossless(test.converter, []byte(test.crd)); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", name, err, test.want)
		}
	}
}

// The v2 list returns though it does not bring back all that v1 says: without the list, v1 says
// even less.
func TestLosslessRestoresWhatIsNotWhole(t *testing.T) {
	t.Parallel()
	kind := lossless(t, crdOf(`
		box: {type: object, properties: {list: {type: array, items: {type: string}}}}`, `
		list: {type: array, items: {type: string}}`),
		func(spec map[string]any, from string) error {
			if from == "v1" {
				box, _ := spec["box"].(map[string]any)
				if list, _ := box["list"].([]any); len(list) > 0 {
					spec["list"] = list
				}
				delete(spec, "box")
				return nil
			}
			if list, is := spec["list"].([]any); is {
				box := map[string]any{}
				if len(list) > 0 {
					box["list"] = list
				}
				spec["box"] = box
			}
			delete(spec, "list")
			return nil
		})
	kept := convert(t, kind, `{"spec":{"box":{"list":[]}}}`, "v1", "v2")
	edited := strings.Replace(kept, `"spec":{}`, `"spec":{"list":[]}`, 1)
	if edited == kept {
		t.Fatalf("no spec to edit: %s", kept)
	}
	there := convert(t, kind, edited, "v2", "v1")
	if seen, _ := withoutKept(t, there); !sameObject(t, seen, `{"spec":{"box":{"list":[]}}}`) {
		t.Errorf("there %s", seen)
	}
	back := convert(t, kind, there, "v1", "v2")
	if seen, _ := withoutKept(t, back); !sameObject(t, seen, `{"spec":{"list":[]}}`) {
		t.Errorf("back %s, want the list", seen)
	}
}

// What v2 becomes once its default is filled in converts back with the count as a text, though v1
// has a number at the same place. The note, which both versions have, is kept.
func TestLosslessFieldOfAnotherTypeNextToADefault(t *testing.T) {
	t.Parallel()
	kind := lossless(t, crdOf(`
		count: {type: integer}
		note: {type: string}`, `
		count: {type: string}
		note: {type: string}
		policy: {type: string, default: Allow}`), func(spec map[string]any, from string) error {
		delete(spec, "note")
		if n, is := spec["count"].(int64); is && from == "v1" {
			spec["count"] = strings.Repeat("|", int(n))
		} else if text, is := spec["count"].(string); is && from == "v2" {
			spec["count"] = len(text)
		} else if spec["count"] != nil {
			return errRefused
		}
		return nil
	})
	const in = `{"spec":{"count":3,"note":"x"}}`
	there := convert(t, kind, in, "v1", "v2")
	if seen, _ := withoutKept(t, there); !sameObject(t, seen, `{"spec":{"count":"|||"}}`) {
		t.Errorf("there %s", seen)
	}
	if back := convert(t, kind, there, "v2", "v1"); !sameObject(t, back, in) {
		t.Errorf("back %s", back)
	}
}
