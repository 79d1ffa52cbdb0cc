package review_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
	"github.com/crdconvert/webhookd/test/helpers/crdschematest"
)

// A searcher is a converter with a layout for objects of v1beta1.
type searcher struct {
	layout *keep.Layout
	check  func(r *converters.Report, obj *jsondoc.Object)
}

func (s *searcher) Layout(from, to string) *keep.Layout {
	if from == "v1beta1" && to == "v1" {
		return s.layout
	}
	return nil
}

func (s *searcher) Convert(ctx context.Context, obj *jsondoc.Object, _, _ string) error {
	s.check(converters.ReportFrom(ctx), obj)
	return nil
}

// Unknown fields are found while an object is read, if its version and kind come before its parts.
// What is found is what a search of the object finds.
func TestUnknownFieldsAreFoundWhileReading(t *testing.T) {
	t.Parallel()
	const spec = `
a: {type: string}
l: {type: array, items: {type: object, properties: {b: {type: string}}}}
m: {type: object, additionalProperties: {type: object, properties: {c: {type: string}}}}
any: {type: object, x-kubernetes-preserve-unknown-fields: true}`
	roots := crdschematest.Roots(t, spec, spec)
	layout := &keep.Layout{Schema: roots[0], Other: roots[1]}
	const known = `"spec":{"a":"x","l":[{"b":"x"},{}],"m":{"k":{"c":"x"}},"any":{"z":[{"y":1}]}}`
	for name, tt := range map[string]struct {
		object        string
		read, unknown bool
	}{
		"all known":                     {widget(known), true, false},
		"metadata is not searched":      {widget(`"metadata":{"z":{"y":1}}`, known), true, false},
		"a field":                       {widget(`"spec":{"z":1}`), true, true},
		"a field of an element":         {widget(`"spec":{"l":[{},{"z":1}]}`), true, true},
		"a field in a map":              {widget(`"spec":{"m":{"k":{"z":1}}}`), true, true},
		"a field with an escape":        {widget(`"spec":{"\u0061":"x","\u007a":1}`), true, true},
		"known, of another type":        {widget(`"spec":{"a":{"z":1},"m":[{"z":1}]}`), true, false},
		"an unknown object at the top":  {widget(`"z":{"a":1}`), true, true},
		"an unknown scalar at the top":  {widget(known, `"z":1`), true, true},
		"a scalar before the kind":      {`{"apiVersion":"example.com/v1beta1","a":1,"kind":"Widget",` + known + `}`, true, true},
		"an object before the kind":     {`{"apiVersion":"example.com/v1beta1","a":{},"kind":"Widget",` + known + `}`, false, true},
		"the version behind all else":   {`{"kind":"Widget",` + known + `,"apiVersion":"example.com/v1beta1"}`, false, false},
		"no part":                       {widget(`"metadata":{}`), false, false},
		"a version that is not known":   {strings.Replace(widget(known), "v1beta1", "v1alpha1", 1), false, false},
		"a name that is there twice":    {widget(`"spec":{"a":"x","a":"y"}`), true, false},
		"deep within what has no names": {widget(`"spec":{"any":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			called := 0
			registry, err := converters.NewRegistry(converters.Kind{
				GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"}, Hub: "v1", Versions: []string{"v1alpha1", "v1beta1", "v1"},
				Converter: &searcher{layout, func(r *converters.Report, obj *jsondoc.Object) {
					if called++; called == 2 {
						return // the object in between
					}
					read, found := r.Searched.By(layout)
					if unknown := found || new(keep.Searcher).HasUnknown(obj, layout, read); read != tt.read || unknown != tt.unknown {
						t.Errorf("searched %t, want %t; unknown %t, want %t", read, tt.read, unknown, tt.unknown)
					}
					if unknown := new(keep.Searcher).HasUnknown(obj, layout, false); unknown != tt.unknown {
						t.Errorf("a search of the object says %t", unknown)
					}
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
			reviewer := review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{})
			ask(t, reviewer, request(tt.object, widget(known), tt.object)) // the same object twice, with another in between
			if called != 3 {
				t.Errorf("%d calls", called)
			}
		})
	}
}

// What is wrong with the text of a part is as it is without a search.
func TestTextIsValidatedWhileSearching(t *testing.T) {
	t.Parallel()
	roots := crdschematest.Roots(t, "l: {type: array, items: {type: object}}", "l: {type: array, items: {type: object}}")
	with := func(layout *keep.Layout) *review.Reviewer {
		registry, err := converters.NewRegistry(converters.Kind{
			GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"}, Hub: "v1", Versions: []string{"v1beta1", "v1"},
			Converter: &searcher{layout, func(*converters.Report, *jsondoc.Object) {}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return review.NewReviewer(func() *converters.Registry { return registry }, review.Hooks{})
	}
	searched, plain := with(&keep.Layout{Schema: roots[0], Other: roots[1]}), with(nil)
	for _, spec := range []string{`{"l":[{}`, `{"l":[{}]]`, `{"l":[{}}`, `{"l":[{},]}`, `{"l":[{"a":1 "b"]}`, `{"l"}`, `{"z":[}`, `{"l":[{}]}`, `{"l":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`} {
		body := request(widget(`"spec":` + spec))
		got, err := searched.Review(t.Context(), nil, body)
		want, wantErr := plain.Review(t.Context(), nil, body)
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("%s: %s, %v, want %s, %v", spec, got, err, want, wantErr)
		}
	}
}
