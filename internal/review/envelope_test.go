package review_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/review"
)

// Parts of a valid review, for tests to combine.
const (
	kindPart    = `"kind":"ConversionReview"`
	versionPart = `"apiVersion":"` + reviewV1 + `"`
	uidPart     = `"uid":"` + uid + `"`
	desiredPart = `"desiredAPIVersion":"example.com/v1"`
	objectsPart = `"objects":[]`
	requestPart = `"request":{` + uidPart + `,` + desiredPart + `,` + objectsPart + `}`
)

func members(parts ...string) []byte { return []byte("{" + strings.Join(parts, ",") + "}") }

// withRequest returns a review whose request has these members.
func withRequest(parts ...string) []byte {
	return members(kindPart, versionPart, `"request":`+string(members(parts...)))
}

func deep(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// A reviewer remembers the names of a request for the next one; it must not confuse a literal with
// escapes and its text.
func TestEnvelopeNamesAreNotMixedUp(t *testing.T) {
	t.Parallel()
	r := newReviewer(t, nothing, review.Hooks{})
	for range 3 {
		for _, kind := range []string{`Widget`, `W\u0069dget`, `W\\u0069dget`, `W\u0069dget`, `Wi\u0064get`, `widget`, ``, `W`} {
			body := request(`{"apiVersion":"example.com/v1beta1","kind":"` + kind + `","metadata":{}}`)
			got := ask(t, r, body)
			if want := kind == `Widget` || kind == `W\u0069dget` || kind == `Wi\u0064get`; want != (got.status == "Success") {
				t.Errorf("kind %s: %s %s", kind, got.status, got.message)
			}
		}
	}
}
