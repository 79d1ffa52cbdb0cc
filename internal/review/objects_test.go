package review_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// An entry that is not a convertible object is a failure of that entry.
func TestObjectsFailed(t *testing.T) {
	t.Parallel()
	const (
		noVersion = "object without a version, set it to GROUP/VERSION: .apiVersion"
		noKind    = "object without a kind, set it: .kind"
		noKnown   = ".example.com, add rules for it or compile one in: .kind"
		noGroup   = "group is not that of desiredAPIVersion, send objects of one group: .apiVersion"
		duplicate = "duplicate name"
	)
	head := func(apiVersion, kind string) string {
		return `{"apiVersion":` + apiVersion + `,"kind":` + kind + `,"metadata":{"name":"a"}}`
	}
	tests := map[string]struct{ object, want string }{
		"null":    {`null`, "objects[0]: is null, not an object: .request.objects[0]"},
		"string":  {`"{}"`, "objects[0]: is a string, not an object: .request.objects[0]"},
		"number":  {`-1`, "objects[0]: is a number, not an object: .request.objects[0]"},
		"boolean": {`true`, "objects[0]: is a boolean, not an object: .request.objects[0]"},
		"array":   {`[{}]`, "objects[0]: is an array, not an object: .request.objects[0]"},
		"empty":   {`{}`, "objects[0]: " + noVersion},

		"apiVersion absent":           {`{"kind":"Widget"}`, "objects[0] Widget: " + noVersion},
		"apiVersion empty":            {head(`""`, `"Widget"`), noVersion},
		"apiVersion null":             {head(`null`, `"Widget"`), noVersion},
		"apiVersion of an object":     {head(`{"a":1}`, `"Widget"`), noVersion},
		"apiversion":                  {`{"apiversion":"example.com/v1beta1","kind":"Widget"}`, noVersion},
		"kind absent":                 {`{"apiVersion":"example.com/v1beta1"}`, "objects[0] v1beta1 -> v1: " + noKind},
		"kind empty":                  {head(`"example.com/v1beta1"`, `""`), noKind},
		"kind of a number":            {head(`"example.com/v1beta1"`, `1`), noKind},
		"kind absent at that version": {`{"apiVersion":"example.com/v1"}`, noKind},

		"unknown kind":          {head(`"example.com/v1beta1"`, `"Gadget"`), "objects[0] Gadget a v1beta1 -> v1: no converter for Gadget" + noKnown},
		"kind in lower case":    {head(`"example.com/v1beta1"`, `"widget"`), "no converter for widget" + noKnown},
		"kind in the plural":    {head(`"example.com/v1beta1"`, `"widgets"`), "no converter for widgets" + noKnown},
		"other group":           {head(`"example.org/v1beta1"`, `"Widget"`), "objects[0] Widget a v1beta1 -> v1: " + noGroup},
		"no group":              {head(`"v1beta1"`, `"Widget"`), noGroup},
		"slash":                 {head(`"/"`, `"Widget"`), noGroup},
		"two slashes":           {head(`"example.com/v1/v2"`, `"Widget"`), noGroup},
		"group in capitals":     {head(`"Example.com/v1beta1"`, `"Widget"`), noGroup},
		"unknown version":       {head(`"example.com/v9"`, `"Widget"`), "objects[0] Widget a v9 -> v1: no converter for version v9, use one of v1alpha1, v1beta1, v1: .apiVersion"},
		"empty version":         {head(`"example.com/"`, `"Widget"`), "no converter for version "},
		"version in capitals":   {head(`"example.com/V1beta1"`, `"Widget"`), "no converter for version V1beta1, use"},
		"version with controls": {head(`"example.com/v1\u001b[31m\n"`, `"Widget"`), "no converter for version v1?[31m?, use"},

		"name twice":                 {`{"apiVersion":"example.com/v1beta1","kind":"Widget","spec":1,"spec":2}`, duplicate},
		"name twice, escaped":        {`{"apiVersion":"example.com/v1beta1","kind":"Widget","spec":1,"sp\u0065c":2}`, duplicate},
		"kind twice":                 {`{"kind":"Gadget","apiVersion":"example.com/v1beta1","kind":"Widget"}`, duplicate},
		"name twice in metadata":     {widget(`"metadata":{"name":"a","name":"b"}`), duplicate},
		"uid twice in metadata":      {widget(`"metadata":{"uid":"a","\u0075id":"b"}`), duplicate},
		"name twice at that version": {`{"apiVersion":"example.com/v1","kind":"Widget","spec":1,"spec":2}`, duplicate},

		"metadata of a string":  {widget(`"metadata":"a"`), "is not an object, fix the stored object: .metadata"},
		"metadata of an array":  {widget(`"metadata":[]`), "is not an object, fix the stored object: .metadata"},
		"metadata of a number":  {widget(`"metadata":0`), "is not an object, fix the stored object: .metadata"},
		"metadata of a boolean": {widget(`"metadata":false`), "is not an object, fix the stored object: .metadata"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask(t, newReviewer(t, nothing, review.Hooks{}), request(tt.object)).wantFailed(t, tt.want)
		})
	}
}

// A CRD of another project may have a kind of the same name.
func TestAKindOfAnotherGroupIsNamed(t *testing.T) {
	t.Parallel()
	foreign := strings.NewReplacer("example.com", "acme.io").Replace(string(request(widget(`"metadata":{"name":"a"}`))))
	ask(t, newReviewer(t, nothing, review.Hooks{}), []byte(foreign)).wantFailed(t,
		"objects[0] Widget a v1beta1 -> v1: no converter for Widget.acme.io, only for Widget.example.com: .apiVersion")
}

// Server-side apply sends absent or null metadata; the API server wants an object back.
func TestObjectsFragments(t *testing.T) {
	t.Parallel()
	const head, to = `{"apiVersion":"example.com/v1beta1","kind":"Widget"`, `{"apiVersion":"example.com/v1","kind":"Widget"`
	tests := map[string]struct{ object, want string }{
		"no metadata":          {`,"spec":{"replicas":4}}`, `,"spec":{"replicas":4},"metadata":{}}`},
		"nothing":              {`}`, `,"metadata":{}}`},
		"metadata null":        {`,"metadata":null,"spec":{}}`, `,"metadata":{},"spec":{}}`},
		"metadata empty":       {`,"metadata":{},"spec":{}}`, `,"metadata":{},"spec":{}}`},
		"metadata with spaces": {`,"metadata": { } }`, `,"metadata": { } }`},
		"name alone":           {`,"metadata":{"name":"a"}}`, `,"metadata":{"name":"a"}}`},
		"labels null":          {`,"metadata":{"labels":null,"annotations":null}}`, `,"metadata":{"labels":null,"annotations":null}}`},
		"all null":             {`,"metadata":{"name":null},"spec":null,"status":null}`, `,"metadata":{"name":null},"spec":null,"status":null}`},
		"Metadata":             {`,"Metadata":{"name":"a"}}`, `,"Metadata":{"name":"a"},"metadata":{}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask(t, newReviewer(t, nothing, review.Hooks{}), request(head+tt.object)).wantObjects(t, to+tt.want)
		})
	}
}

// Objects of the desired version are only read for their kind.
func TestObjectsOfTheDesiredVersion(t *testing.T) {
	t.Parallel()
	never := func(context.Context, *jsondoc.Object, string, string) error { panic("converter called") }
	for name, object := range map[string]string{
		"ordinary":              `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`,
		"order and white space": "{ \"spec\" : [1.10,\t1e21],\n\"kind\":\"Widget\", \"apiVersion\":\"example.com/v1\" }",
		"no metadata":           `{"apiVersion":"example.com/v1","kind":"Widget"}`,
		"metadata null":         `{"apiVersion":"example.com/v1","kind":"Widget","metadata":null}`,
		"metadata of a string":  `{"apiVersion":"example.com/v1","kind":"Widget","metadata":"a"}`,
		"unknown kind":          `{"apiVersion":"example.com/v1","kind":"Gadget"}`,
		"escapes":               `{"apiVersion":"example.com\/v1","kind":"Widg\u0065t","metadata":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ask(t, newReviewer(t, never, review.Hooks{}), request(object)).wantObjects(t, object)
		})
	}
}

// A custom resource may have a field called items; it is not a list.
func TestObjectsWithItems(t *testing.T) {
	t.Parallel()
	items := `"items":[{"apiVersion":"v1","kind":"Secret"},null,1]`
	ask(t, newReviewer(t, nothing, review.Hooks{}), request(widget(items), `{"kind":"Widget","apiVersion":"example.com/v1",`+items+`}`)).
		wantObjects(t,
			`{"apiVersion":"example.com/v1","kind":"Widget",`+items+`,"metadata":{}}`,
			`{"kind":"Widget","apiVersion":"example.com/v1",`+items+`}`)
}

// webhookd itself sets the apiVersion of the result.
func TestObjectsVersionIsSet(t *testing.T) {
	t.Parallel()
	for name, convert := range map[string]converters.Func{
		"untouched":          nothing,
		"set":                set(`"example.com/v1"`, "apiVersion"),
		"set to another":     set(`"other.io/v7"`, "apiVersion"),
		"set to a number":    set(`7`, "apiVersion"),
		"set to an object":   set(`{"a":1}`, "apiVersion"),
		"set to null":        set(`null`, "apiVersion"),
		"object replaced":    set(`{"apiVersion":"x","kind":"Widget","metadata":{}}`),
		"object with spaces": set(` { "apiVersion" : "x" , "kind" : "Widget", "metadata":{} } `),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, newReviewer(t, convert, review.Hooks{}), request(widget(`"metadata":{}`)))
			if got.status != "Success" || !strings.Contains(strings.ReplaceAll(got.objects[0], " ", ""), `{"apiVersion":"example.com/v1","kind":"Widget"`) {
				t.Errorf("%+v", got)
			}
		})
	}
	t.Run("removed", func(t *testing.T) {
		t.Parallel()
		ask(t, newReviewer(t, remove("apiVersion"), review.Hooks{}), request(widget(`"metadata":{}`))).
			wantObjects(t, `{"kind":"Widget","metadata":{},"apiVersion":"example.com/v1"}`)
	})
}

// Each spoke is converted through the hub, and a converter sees the current version of the object.
func TestObjectsGoOverTheHub(t *testing.T) {
	t.Parallel()
	var steps []string
	convert := func(_ context.Context, obj *jsondoc.Object, from, to string) error {
		n, err := obj.Get("apiVersion")
		at, _ := n.Str()
		steps = append(steps, from+">"+to+"@"+at)
		return err
	}
	body := []byte(strings.Replace(string(request(widget(`"metadata":{}`))), `"example.com/v1"`, `"example.com/v1alpha1"`, 1))
	ask(t, newReviewer(t, convert, review.Hooks{}), body).
		wantObjects(t, `{"apiVersion":"example.com/v1alpha1","kind":"Widget","metadata":{}}`)
	if want := []string{"v1beta1>v1@example.com/v1beta1", "v1>v1alpha1@example.com/v1"}; !slices.Equal(steps, want) {
		t.Errorf("steps %q, want %q", steps, want)
	}
}

// The text of an object that a converter replaced is not in the request, so it cannot be spliced
// into the answer.
func TestObjectsReplacedByTheConverter(t *testing.T) {
	t.Parallel()
	convert := func(_ context.Context, obj *jsondoc.Object, _, _ string) error {
		other, err := jsondoc.ParseObject([]byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"}}`))
		*obj = *other
		return err
	}
	ask(t, newReviewer(t, convert, review.Hooks{}), request(widget(`"metadata":{"name":"a"}`))).
		wantFailed(t, "converter replaced the object it was given, edit that object instead")
	// The next review still works.
	r := newReviewer(t, func(ctx context.Context, obj *jsondoc.Object, from, to string) error {
		if n, _ := obj.Get("spec"); n == nil {
			return nil
		}
		return convert(ctx, obj, from, to)
	}, review.Hooks{})
	for range 3 {
		ask(t, r, request(widget(`"metadata":{}`, `"spec":1`))).wantFailed(t)
		ask(t, r, request(named("b"))).wantObjects(t, strings.Replace(named("b"), "v1beta1", "v1", 1))
	}
}
