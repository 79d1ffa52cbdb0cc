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

// A CRD of another project may have a kind of the same name.
func TestAKindOfAnotherGroupIsNamed(t *testing.T) {
	t.Parallel()
	foreign := strings.NewReplacer("example.com", "acme.io").Replace(string(request(widget(`"metadata":{"name":"a"}`))))
	ask(t, newReviewer(t, nothing, review.Hooks{}), []byte(foreign)).wantFailed(t,
		"objects[0] Widget a v1beta1 -> v1: no converter for Widget.acme.io, only for Widget.example.com: .apiVersion")
}

// Objects of the desired version are only read for their kind.
func TestObjectsWithSpaceBetween(t *testing.T) {
	t.Parallel()
	body := strings.ReplaceAll(string(request(named("a"), named("b"), named("c"))), "},{", "} ,\n{")
	text, err := newReviewer(t, nothing, review.Hooks{}).Review(t.Context(), nil, []byte(body))
	if err != nil || strings.Count(string(text), "},{") != 2 {
		t.Errorf("%v: %s", err, text)
	}
}

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
