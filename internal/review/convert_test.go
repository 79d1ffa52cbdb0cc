package review_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/review"
)

// Convert answers for one object as a review does, without what is around the object.
func TestConvertOneObject(t *testing.T) {
	t.Parallel()
	r := newReviewer(t, failNamed, review.Hooks{})
	tricky := widget(`"metadata":{}`, `"spec":{ "a":[1.10,"],\"result\":{\"status\":\"Success\"}}}",",\"convertedObjects\":["] }`)
	for name, test := range map[string]struct{ object, to, want, err string }{
		"another version":         {tricky, "example.com/v1", strings.Replace(tricky, "v1beta1", "v1", 1), ""},
		"its own version":         {tricky, "example.com/v1beta1", tricky, ""},
		"the converter fails":     {named("bad"), "example.com/v1", "", "Widget default/bad v1beta1 -> v1: host and port are too much, keep one: .spec"},
		"an unknown version":      {named("a"), "example.com/v7", "", `Widget default/a v1beta1 -> v7: no converter for version v7, use one of v1alpha1, v1beta1, v1: .request.desiredAPIVersion`},
		"no version to go to":     {named("a"), "", "", "no version to convert to, set it to GROUP/VERSION: .request.desiredAPIVersion"},
		"a text that is not JSON": {`{"a":`, "example.com/v1", "", "body cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := r.Convert(t.Context(), []byte(test.object), test.to)
			if test.err != "" {
				if err == nil || !strings.HasPrefix(err.Error(), test.err) {
					t.Errorf("error %v, want %s", err, test.err)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}
