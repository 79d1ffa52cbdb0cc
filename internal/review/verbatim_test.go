package review_test

import (
	"context"
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/review"
)

// literals returns values that decoding and encoding would rewrite or lose.
func literals() map[string]string {
	return map[string]string{
		"over 2^53":        `9007199254740993`,
		"over int64":       `9223372036854775808`,
		"over uint64":      `18446744073709551616`,
		"least int64":      `-9223372036854775808`,
		"decimal":          `1.10`,
		"integral float":   `1.0`,
		"exponent":         `1e21`,
		"exponent plus":    `1E+2`,
		"exponent minus":   `1e-7`,
		"over float64":     `1e400`,
		"minus zero":       `-0`,
		"minus zero float": `-0.0`,
		"a hundred digits": strings.Repeat("1234567890", 10) + "." + strings.Repeat("0987654321", 10),
		"null":             `null`,
		"html escapes":     `"\u003ca href=\"x\"\u003e\u0026\u2028"`,
		"html":             `"<a&b>"`,
		"other escapes":    `"\u0061\/\b\f\n\r\t\"\\\u0000\u001f\u007F"`,
		"surrogates":       `"\ud83d\ude00😀"`,
		"replacement":      `"\ufffd` + "\ufffd" + `"`,
		"NFC and NFD":      "\"\u00e9e\u0301\"",
		"order":            `{"z":1,"a":2,"m":{"b":1,"a":2}}`,
		"repeated deep":    `{"a":{"b":1,"b":2}}`,
		"names of all":     `{"":1," ":2,"a.b/c":3,"\u0061":4,"` + "\U0001f600" + `":5}`,
		"white space":      "{ \"a\" :\t[ 1 ,\r\n2 ] }",
		"empties":          `[{},[],"",null,false,0]`,
		"deep":             deep(500),
		"quantities":       `{"cpu":"1000m","memory":"1Gi","port":"08"}`,
	}
}

// touch edits an object next to the text that must stay.
func touch(_ context.Context, obj *jsondoc.Object, _, to string) error {
	if err := obj.Set(jsondoc.StringValue(to), "spec", "new"); err != nil {
		return err
	}
	return obj.Remove("spec", "old")
}

// The text of the request is not changed, and the answer does not share its memory.
func TestVerbatimRequest(t *testing.T) {
	t.Parallel()
	body := request(widget(`"metadata":{"labels":{"a":"b"}}`, `"spec":{"old":1}`), `{"apiVersion":"example.com/v1","kind":"Widget","spec":"verbatim"}`)
	was := string(body)
	answer, err := newReviewer(t, all(touch, set(`"x"`, "metadata", "labels", "c")), review.Hooks{}).Review(t.Context(), nil, body)
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != was {
		t.Errorf("request was changed:\n%s\n%s", was, body)
	}
	text := string(answer)
	clear(body)
	if string(answer) != text {
		t.Error("answer shares its memory with the request")
	}
}

// The answer is appended.
func TestVerbatimDestination(t *testing.T) {
	t.Parallel()
	r := newReviewer(t, touch, review.Hooks{})
	alone, err := r.Review(t.Context(), nil, request(named("a")))
	if err != nil {
		t.Fatal(err)
	}
	dst := append(make([]byte, 0, 1<<16), "before"...)
	behind, err := r.Review(t.Context(), dst, request(named("a")))
	if err != nil || string(behind) != "before"+string(alone) || &behind[0] != &dst[0] {
		t.Errorf("%s %v", behind, err)
	}
	if !strings.HasSuffix(string(alone), "}\n") {
		t.Errorf("no line end: %q", alone)
	}
}
