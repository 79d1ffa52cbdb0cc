package conversion_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/crdconvert/webhookd/conversion"
)

// object parses a text as an object.
func object(t *testing.T, text string) *conversion.Object {
	t.Helper()
	obj, err := conversion.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return obj
}

func TestFromUnstructuredWritesOnlyWhatChanged(t *testing.T) {
	t.Parallel()
	spec := func(u *unstructured.Unstructured) map[string]any { return u.Object["spec"].(map[string]any) }
	for _, test := range []struct {
		name, in, want string
		change         func(u *unstructured.Unstructured)
	}{
		{
			name:   "nothing",
			in:     `{ "spec" : {"b":1.10,"a":1e21,"n":9007199254740993,"z":18446744073709551615,"t":"\u003c\/","x":null} }`,
			want:   `{ "spec" : {"b":1.10,"a":1e21,"n":9007199254740993,"z":18446744073709551615,"t":"\u003c\/","x":null} }`,
			change: func(*unstructured.Unstructured) {},
		},
		{
			name: "members keep text and place, new ones go behind, sorted",
			in:   `{"spec":{"b":1.10, "gone":1, "a":1e21, "n":1},"tail":"\u003c"}`,
			want: `{"spec":{"b":1.10, "a":1e21, "n":9007199254740993,"c":"<&>","d":[1,null,{"a":true,"b":0.5}]},"tail":"\u003c"}`,
			change: func(u *unstructured.Unstructured) {
				delete(spec(u), "gone")
				spec(u)["n"] = int64(9007199254740993)
				spec(u)["d"] = []any{int64(1), nil, map[string]any{"b": 0.5, "a": true}}
				spec(u)["c"] = "<&>"
			},
		},
		{
			name: "integers are exact and floats as encoding/json writes them",
			in:   `{"spec":{"i":9007199254740993}}`,
			want: `{"spec":{"i":9007199254740993,"f":1e+21,"g":1,"j":9007199254740993}}`,
			change: func(u *unstructured.Unstructured) {
				spec(u)["j"] = spec(u)["i"].(int64)
				spec(u)["f"], spec(u)["g"] = 1e21, float64(1)
			},
		},
		{
			name: "other Go types are what they encode to",
			in:   `{"spec":{}}`,
			want: `{"spec":{"i":3,"m":{"a":"b"}}}`,
			change: func(u *unstructured.Unstructured) {
				spec(u)["i"], spec(u)["m"] = 3, map[string]string{"a": "b"}
			},
		},
		{
			name: "kinds of values change",
			in:   `{"spec":{"a":{"b":1},"c":[1.0],"d":1,"e":null}}`,
			want: `{"spec":{"a":null,"c":{"x":1},"d":[],"e":{}}}`,
			change: func(u *unstructured.Unstructured) {
				u.Object["spec"] = map[string]any{"a": nil, "c": map[string]any{"x": int64(1)}, "d": []any{}, "e": map[string]any{}}
			},
		},
		{
			name: "elements at their index keep their text",
			in:   `{"spec":{"l":[1.10, {"a":1.0, "b":2},1e3]}}`,
			want: `{"spec":{"l":[1.10, {"a":1.0, "b":3},1e3]}}`,
			change: func(u *unstructured.Unstructured) {
				spec(u)["l"].([]any)[1].(map[string]any)["b"] = int64(3)
			},
		},
		{
			name: "elements that moved keep their text",
			in:   `{"spec":{"l":[1.10,{"a":1.0},1e3,1.10]}}`,
			want: `{"spec":{"l":[1e3,7,{"a":1.0},1.10]}}`,
			change: func(u *unstructured.Unstructured) {
				l := spec(u)["l"].([]any)
				spec(u)["l"] = []any{l[2], int64(7), l[1], l[0]}
			},
		},
		{
			name: "elements were removed and inserted",
			in:   `{"spec":{"l":[{"n":"a","v":1.10},{"n":"b","v":1e3},{"n":"c","v":2.50}]}}`,
			want: `{"spec":{"l":[{"n":"b","v":1e3},{"n":"c","v":2.50},{"n":"d"},{"n":"e"}]}}`,
			change: func(u *unstructured.Unstructured) {
				l := spec(u)["l"].([]any)
				spec(u)["l"] = append(l[1:], map[string]any{"n": "d"}, map[string]any{"n": "e"})
			},
		},
		{
			name: "metadata is for the guard to judge",
			in:   `{"metadata":{"name":"a", "labels":{}}}`,
			want: `{"metadata":{"name":"b", "labels":{"x":"y"}}}`,
			change: func(u *unstructured.Unstructured) {
				u.SetName("b")
				u.SetLabels(map[string]string{"x": "y"})
			},
		},
		{
			name:   "apiVersion is not the converter's",
			in:     `{"apiVersion":"g/v1"}`,
			want:   `{"apiVersion":"g/v1"}`,
			change: func(u *unstructured.Unstructured) { u.SetAPIVersion("g/v9") },
		},
		{
			name: "an absent apiVersion stays absent",
			in:   `{}`,
			want: `{"spec":{}}`,
			change: func(u *unstructured.Unstructured) {
				u.Object = map[string]any{"apiVersion": "g/v2", "spec": map[string]any{}}
			},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			obj := object(t, test.in)
			c := conversion.FromUnstructured(func(_ context.Context, u *unstructured.Unstructured, _, _ string) error {
				test.change(u)
				return nil
			})
			if err := c.Convert(t.Context(), obj, "v1", "v2"); err != nil {
				t.Fatal(err)
			}
			if got := string(obj.JSON()); got != test.want {
				t.Errorf("\n got %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestFromUnstructuredGivesTheVersionConvertedFrom(t *testing.T) {
	t.Parallel()
	c := conversion.FromUnstructured(func(_ context.Context, u *unstructured.Unstructured, from, to string) error {
		if got := u.GetAPIVersion() + " " + from + "->" + to; got != "g/v2 v2->v3" {
			t.Errorf("called with %s", got)
		}
		return nil
	})
	if err := c.Convert(t.Context(), object(t, `{"apiVersion":"g/v1","kind":"K"}`), "v2", "v3"); err != nil {
		t.Error(err)
	}
}

func TestFromUnstructuredFails(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, in, want string
		change         func(u *unstructured.Unstructured) error
	}{
		{name: "its own error", in: `{}`, want: "refused", change: func(*unstructured.Unstructured) error { return errRefused }},
		{name: "a number that no float64 holds", in: `{"a":1e999}`, want: "has a number too big for a float64, make it smaller or a string: ."},
		{name: "no object left", in: `{}`, want: "converter removed the whole object, fix the converter: .", change: func(u *unstructured.Unstructured) error {
			u.Object = nil
			return nil
		}},
		{name: "not a number", in: `{"spec":{"a":1}}`, want: "converter set a value that JSON cannot represent, fix the converter: .spec.a", change: func(u *unstructured.Unstructured) error {
			return unstructured.SetNestedField(u.Object, math.NaN(), "spec", "a")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := conversion.FromUnstructured(func(_ context.Context, u *unstructured.Unstructured, _, _ string) error { return test.change(u) })
			err := c.Convert(t.Context(), object(t, test.in), "v1", "v2")
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if test.want == "refused" && !errors.Is(err, errRefused) {
				t.Error("the converter's error is not wrapped")
			}
			if err != nil && strings.Contains(err.Error(), "999") {
				t.Error("the error quotes a value")
			}
		})
	}
}
