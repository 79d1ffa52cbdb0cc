package oracle_test

import (
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/test/helpers/tlstest"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// noMetadata is what the client makes of an object whose metadata is null, whatever the answer is.
const noMetadata = "invalid metadata of type <nil> in input object"

// TestFragments holds that what server-side apply sends, objects with almost nothing in them, is
// converted, alone and in a list, and through both entries of the client (invariant I9).
func TestFragments(t *testing.T) {
	t.Parallel()
	w := serve(t, tlstest.NewCA(t, "oracle"), nil)
	const head = `"apiVersion":"example.com/v1beta1","kind":"CronTab"`
	const done = `"apiVersion":"example.com/v1","kind":"CronTab"`
	for _, tt := range []struct {
		name, in, want string
		unsent         bool   // as a single object, the client converts it itself
		err            string // of the client
	}{
		{name: "no metadata", in: `{` + head + `,"spec":{"image":"a"}}`, want: `{` + done + `,"metadata":{},"spec":{"image":"a"}}`},
		{name: "no spec", in: `{` + head + `,"metadata":{"name":"a"}}`, want: `{` + done + `,"metadata":{"name":"a"}}`},
		{name: "no spec, labels only", in: `{` + head + `,"metadata":{"labels":{"a":"b"}}}`, want: `{` + done + `,"metadata":{"labels":{"a":"b"}}}`},
		{name: "metadata empty", in: `{` + head + `,"metadata":{}}`, want: `{` + done + `,"metadata":{}}`},
		{name: "metadata null", in: `{` + head + `,"metadata":null,"spec":{}}`, err: noMetadata},
		{name: "spec null", in: `{` + head + `,"spec":null}`, want: `{` + done + `,"metadata":{},"spec":null}`},
		{name: "field null", in: `{` + head + `,"hostPort":null}`, want: `{` + done + `,"metadata":{},"host":null}`},
		{name: "status only", in: `{` + head + `,"status":{"active":[]}}`, want: `{` + done + `,"metadata":{},"status":{"active":[]}}`},
		{name: "host without a port", in: `{` + head + `,"hostPort":"localhost"}`, want: `{` + done + `,"metadata":{},"host":"localhost"}`},
		{name: "version and kind only", in: `{` + head + `}`, want: `{` + done + `,"metadata":{}}`, unsent: true},
	} {
		for _, r := range routes() {
			t.Run(tt.name+", "+r.name, func(t *testing.T) {
				t.Parallel()
				a, seen := w.client(), &recorder{}
				a.Observe = seen.observe
				c := a.Converter(t, crontabs(), []string{"v1beta1", "v1"}, r.hook(w))
				in := object(t, tt.in)

				got, err := c.To(in, "v1")
				switch {
				case tt.unsent:
					if err != nil || len(seen.all()) != 0 {
						t.Errorf("%v after %d exchanges, want none", err, len(seen.all()))
					}
				case tt.err != "":
					want := "conversion webhook for example.com/v1beta1, Kind=CronTab returned invalid metadata: " + tt.err
					if err == nil || err.Error() != want {
						t.Errorf("error\n%v, want\n%s", err, want)
					}
				case err != nil:
					t.Error(err)
				default:
					if diff := cmp.Diff(object(t, tt.want).Object, content(t, got)); diff != "" {
						t.Errorf("single object (-want +got):\n%s", diff)
					}
					out := object(t, `{`+done+`}`)
					if err := c.Into(in, out); err != nil || !cmp.Equal(out.Object, content(t, got)) {
						t.Errorf("Convert: %v, %v", out.Object, err)
					}
				}

				all, err := c.To(list("example.com/v1", "CronTab", in, in), "v1")
				if tt.err != "" {
					want := "conversion webhook for example.com/v1, Kind=CronTabList returned invalid metadata in object at index 0: " + tt.err
					if err == nil || err.Error() != want {
						t.Errorf("error\n%v, want\n%s", err, want)
					}
					return
				}
				want := list("example.com/v1", "CronTab", object(t, tt.want), object(t, tt.want))
				if diff := cmp.Diff(want, all); err != nil || diff != "" {
					t.Errorf("list: %v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// TestMixedList holds that a list of several versions keeps its order, and that what is at the
// version already is not sent (invariants I1 and I2).
func TestMixedList(t *testing.T) {
	t.Parallel()
	w := serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) { s.kinds = []converters.Kind{plain()} })
	for _, r := range routes() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			a, seen := w.client(), &recorder{}
			a.Observe = seen.observe
			in, want := list(group+"/v2", "Plain"), list(group+"/v2", "Plain")
			for i, version := range []string{"v2", "v1", "v2", "v3", "v1", "v1", "v3", "v2"} {
				name := string(rune('a' + i))
				in.Items = append(in.Items, *named(t, group+"/"+version, "Plain", name))
				want.Items = append(want.Items, *named(t, group+"/v2", "Plain", name))
			}
			got, err := a.Converter(t, madeUp("Plain"), madeUpVersions(), r.hook(w)).To(in, "v2")
			if diff := cmp.Diff(runtime.Object(want), got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if all := seen.all(); len(all) != 1 || all[0].Objects != 5 {
				t.Errorf("exchanges %v, want one with the five objects that are not at v2", all)
			}
		})
	}
}

// TestItems holds that an object with items at its top is an ordinary object, and so are its items,
// which the API server's watch cache sends as if they were the list's.
func TestItems(t *testing.T) {
	t.Parallel()
	w := serve(t, tlstest.NewCA(t, "oracle"), func(s *setup) { s.kinds = []converters.Kind{plain()} })
	c := w.client().Converter(t, madeUp("Plain"), madeUpVersions(), w.byService("v1"))

	in, want := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	for u, version := range map[*unstructured.Unstructured]string{in: "v1", want: "v2"} {
		u.Object = map[string]any{
			"apiVersion": group + "/" + version, "kind": "Plain", "metadata": map[string]any{"name": "a"},
			"items": []any{map[string]any{"a": int64(1)}, map[string]any{"apiVersion": "v1", "kind": "Pod"}, nil, "x"},
		}
	}
	got, err := c.To(in, "v2")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Object, content(t, got)); diff != "" {
		t.Errorf("object with items (-want +got):\n%s", diff)
	}

	item := func(version string, n int64) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/" + version, "kind": "Plain", "a": n}}
	}
	all, err := c.To(list(group+"/v1", "Plain", item("v1", 1), item("v1", 2)), "v2")
	if err != nil {
		t.Fatal(err)
	}
	wantItems := list(group+"/v2", "Plain", item("v2", 1), item("v2", 2))
	for i := range wantItems.Items {
		wantItems.Items[i].Object["metadata"] = map[string]any{}
	}
	if diff := cmp.Diff(wantItems, all); diff != "" {
		t.Errorf("items alone (-want +got):\n%s", diff)
	}
}

// TestIntegers holds that integers which no float64 holds survive, also in what a converter edits.
func TestIntegers(t *testing.T) {
	t.Parallel()
	w := serve(t, tlstest.NewCA(t, "oracle"), nil)
	for _, r := range routes() {
		c := w.client().Converter(t, crontabs(), []string{"v1beta1", "v1"}, r.hook(w))
		in := sample(t)
		numbers := map[string]any{
			"twoTo53Plus1": int64(9007199254740993), "most": int64(9223372036854775807), "least": int64(-9223372036854775808),
			"half": 0.5, "big": 1e21, "small": 1e-9, "none": int64(0),
		}
		in.Object["spec"] = numbers
		there, err := c.To(in, "v1")
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if diff := cmp.Diff(numbers, content(t, there)["spec"]); diff != "" {
			t.Errorf("%s: numbers (-want +got):\n%s", r.name, diff)
		}
		back, err := c.To(there, "v1beta1")
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		if diff := cmp.Diff(in.Object, content(t, back)); diff != "" {
			t.Errorf("%s: there and back (-want +got):\n%s", r.name, diff)
		}
	}
}
