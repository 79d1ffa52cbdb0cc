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

// long is longer than a name may be.
var long = strings.Repeat("x", 1<<10+1) //nolint:gochecknoglobals // read only

func deep(levels int) string {
	return strings.Repeat("[", levels) + strings.Repeat("]", levels)
}

// A body that is no review is refused; a review of which no object can be converted is answered.
func TestEnvelopeProblems(t *testing.T) {
	t.Parallel()
	r := newReviewer(t, nothing, review.Hooks{})
	const unread = "body cannot be read, send a ConversionReview as JSON: "
	for body, want := range map[string]string{
		`[1]`:                              "not a ConversionReview, send one: .kind",
		`[1`:                               unread + "unexpected end of the text: byte 2",
		`{"kind":"a`:                       unread + "unexpected end of the text: byte 10",
		`[1] 2`:                            unread + "data after the end of the document: byte 4",
		"{\"\xff\":1}":                     unread + "invalid UTF-8: byte 2",
		`{"kind":tru}`:                     unread + "invalid literal: byte 8",
		`{"` + long + `":1}`:               unread + "name longer than 1024 bytes: byte 1",
		string(withRequest(uidPart)) + "x": unread + "data after the end of the document: byte 123",
		string(members(kindPart, versionPart, `"request":[1]`)): "review without a request, send a ConversionRequest: .request",
		string(withRequest(`"uid":"` + long + `"`)):             "longer than 1024 bytes, send the uid of the API server: .request.uid",
		string(withRequest(`"uid":17`)):                         "request without a uid, the answer could not be matched: .request.uid",
	} {
		if got := rejected(t, r, []byte(body)); got != want {
			t.Errorf("%.100s: %q, want %q", body, got, want)
		}
	}
	const noVersion = "no version to convert to, set it to GROUP/VERSION: .request.desiredAPIVersion"
	for parts, want := range map[string]string{
		`"desiredAPIVersion":"` + long + `"`:                              "longer than 1024 bytes, set it to GROUP/VERSION: .request.desiredAPIVersion",
		`"desiredAPIVersion":"/v1"`:                                       noVersion,
		`"desiredAPIVersion":"example.com/"`:                              noVersion,
		`"desiredAPIVersion":"example.com/v1/v1"`:                         noVersion,
		`"desiredAPIVersion":["example.com/v1"]`:                          noVersion,
		desiredPart + `,"objects":{"a":1}`:                                "is an object, not an array, send a list of objects: .request.objects",
		desiredPart + `,"objects":[1` + strings.Repeat(",1", 1<<17) + `]`: "more than 131072 objects, send fewer at once: .request.objects",
	} {
		if got := ask(t, r, withRequest(uidPart, parts)); got.status != "Failed" || got.message != want {
			t.Errorf("%.100s: %s %q, want %q", parts, got.status, got.message, want)
		}
	}
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
