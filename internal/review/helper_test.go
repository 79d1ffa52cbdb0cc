package review_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

const (
	reviewV1      = "apiextensions.k8s.io/v1"
	reviewV1beta1 = "apiextensions.k8s.io/v1beta1"
	uid           = "705ab4f5-6393-11e8-b7cc-42010a800002"
)

// newReviewer returns a reviewer that converts Widgets of example.com, between the hub v1 and the
// spokes v1alpha1 and v1beta1, with convert.
func newReviewer(tb testing.TB, convert converters.Func, hooks review.Hooks) *review.Reviewer {
	tb.Helper()
	registry, err := converters.NewRegistry(converters.Kind{
		GroupKind: schema.GroupKind{Group: "example.com", Kind: "Widget"},
		Hub:       "v1", Versions: []string{"v1alpha1", "v1beta1", "v1"}, Converter: convert,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return review.NewReviewer(func() *converters.Registry { return registry }, hooks)
}

// nothing is a converter that changes nothing.
func nothing(context.Context, *jsondoc.Object, string, string) error { return nil }

// request returns the body that the API server sends to convert objects to v1.
func request(objects ...string) []byte {
	return []byte(`{"kind":"ConversionReview","apiVersion":"` + reviewV1 + `","request":{"uid":"` + uid +
		`","desiredAPIVersion":"example.com/v1","objects":[` + strings.Join(objects, ",") + `]},` +
		`"response":{"uid":"","convertedObjects":null,"result":{"metadata":{}}}}` + "\n")
}

// widget returns an object of version v1beta1 with members, such as `"metadata":{}`, after
// apiVersion and kind.
func widget(members ...string) string {
	return "{" + strings.Join(slices.Concat([]string{`"apiVersion":"example.com/v1beta1"`, `"kind":"Widget"`}, members), ",") + "}"
}

// named returns a widget with a name in a namespace.
func named(name string) string {
	return widget(`"metadata":{"name":"` + name + `","namespace":"default"}`)
}

// An answer is a decoded answer, with the text of each object.
type answer struct {
	apiVersion, uid, status, message string
	objects                          []string
}

// ask returns the answer to a body, and fails the test if there is none.
func ask(t *testing.T, r *review.Reviewer, body []byte) answer {
	t.Helper()
	text, err := r.Review(t.Context(), nil, body)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	if _, err := checkAsClient(body, text); err != nil {
		t.Errorf("the API server would refuse the answer: %v\n%s", err, text)
	}
	return decode(t, text)
}

func decode(t *testing.T, text []byte) answer {
	t.Helper()
	var decoded apiextensionsv1.ConversionReview
	if err := json.Unmarshal(text, &decoded); err != nil || decoded.Response == nil {
		t.Fatalf("answer is not a review: %v\n%s", err, text)
	}
	a := answer{
		apiVersion: decoded.APIVersion, uid: string(decoded.Response.UID),
		status: decoded.Response.Result.Status, message: decoded.Response.Result.Message,
	}
	for _, o := range decoded.Response.ConvertedObjects {
		a.objects = append(a.objects, string(o.Raw))
	}
	return a
}

// wantFailed checks that the review failed as a whole, with all the texts in its message.
func (a answer) wantFailed(t *testing.T, texts ...string) {
	t.Helper()
	if a.status != "Failed" || len(a.objects) > 0 {
		t.Fatalf("status %s with %d objects, want Failed with none: %s", a.status, len(a.objects), a.objects)
	}
	for _, text := range texts {
		if !strings.Contains(a.message, text) {
			t.Errorf("message lacks %q: %s", text, a.message)
		}
	}
}

// wantObjects checks that the review succeeded with these objects, byte for byte.
func (a answer) wantObjects(t *testing.T, objects ...string) {
	t.Helper()
	if a.status != "Success" || a.message != "" {
		t.Fatalf("status %s %q, want Success", a.status, a.message)
	}
	if len(a.objects) != len(objects) {
		t.Fatalf("%d objects, want %d: %s", len(a.objects), len(objects), a.objects)
	}
	for i, want := range objects {
		if a.objects[i] != want {
			t.Errorf("objects[%d]\n got: %s\nwant: %s", i, a.objects[i], want)
		}
	}
}

// rejected returns the error text of a body that gets no review.
func rejected(t *testing.T, r *review.Reviewer, body []byte) string {
	t.Helper()
	text, err := r.Review(t.Context(), []byte("kept"), body)
	var refusal *review.RequestError
	if !errors.As(err, &refusal) {
		t.Fatalf("error %v, want a RequestError; answer %s", err, text)
	}
	if string(text) != "kept" {
		t.Errorf("something was appended: %s", text)
	}
	return refusal.Error()
}

// raw returns a value from JSON text.
func raw(text string) jsondoc.Value {
	v, err := jsondoc.RawValue([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

// set returns a converter that sets the value at a path.
func set(text string, path ...string) converters.Func {
	return func(_ context.Context, obj *jsondoc.Object, _, _ string) error { return obj.Set(raw(text), path...) }
}

// remove returns a converter that removes the value at a path.
func remove(path ...string) converters.Func {
	return func(_ context.Context, obj *jsondoc.Object, _, _ string) error { return obj.Remove(path...) }
}
