package hostile_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	kjson "sigs.k8s.io/json"

	"github.com/crdconvert/webhookd/test/hostile"
)

// TestFigures holds the sets to the numbers of cases that they are said to have.
func TestFigures(t *testing.T) {
	t.Parallel()
	cases, sum := hostile.Cases(), 0
	for _, figure := range hostile.Figures() {
		n := hostile.Count(cases, figure.Set)
		switch figure.Set {
		case hostile.Raw:
			n = len(hostile.RawCases()) + len(hostile.SlowCases())
		case hostile.TLS:
			n = len(tlsCases())
		case hostile.Files:
			n = len(hostile.FileCases())
		}
		sum += n
		t.Logf("%s: %d cases", figure.Set, n)
		if n < figure.Cases {
			t.Errorf("%s has %d cases, want %d", figure.Set, n, figure.Cases)
		}
	}
	t.Logf("%d cases, %d requests in %s to %s", sum, len(cases), hostile.Syntax, hostile.Sizes)
	seen := map[string]bool{}
	for i := range cases {
		if path := cases[i].Path(); seen[path] {
			t.Errorf("two cases have one name: %s", path)
		} else {
			seen[path] = true
		}
	}
}

// TestSyntaxIsThatOfEncodingJSON asks another parser what is JSON, for every body whose answer RFC
// 8259 settles.
func TestSyntaxIsThatOfEncodingJSON(t *testing.T) {
	t.Parallel()
	cases := hostile.Cases()
	for i := range cases {
		c := &cases[i]
		if c.Unsettled || c.Set == hostile.Sizes {
			continue
		}
		body := c.Request.Body()
		settled := c.Want.Result != hostile.Status || !isSyntax(c.Want.Message)
		if valid := json.Valid([]byte(body)) && utf8.ValidString(body); valid != settled {
			t.Errorf("%s: encoding/json accepts it: %t, want %t: %.300q", c.Path(), valid, settled, body)
		}
	}
}

// isSyntax is true of messages about text that is not JSON.
func isSyntax(message string) bool {
	return strings.HasPrefix(message, "body cannot be read") || strings.HasPrefix(message, "unexpected") || strings.HasPrefix(message, "invalid")
}

// TestDuplicatesAreThoseOfTheAPIServer asks the API server's parser where a name appears twice.
func TestDuplicatesAreThoseOfTheAPIServer(t *testing.T) {
	t.Parallel()
	cases := hostile.Cases()
	for i := range cases {
		c := &cases[i]
		if !strings.Contains(c.Want.Message, "duplicate name") {
			continue
		}
		var into map[string]any
		found, err := kjson.UnmarshalStrict([]byte(c.Request.Body()), &into)
		if err != nil {
			t.Errorf("%s: %v", c.Path(), err)
		}
		if len(found) == 0 || !strings.Contains(found[0].Error(), "duplicate field") {
			t.Errorf("%s: the API server's parser finds no duplicate: %v", c.Path(), found)
		}
	}
}

// TestCanaries sees to it that the cases are about something: a secret is in nearly every request.
func TestCanaries(t *testing.T) {
	t.Parallel()
	cases, with := hostile.Cases(), 0
	for i := range cases {
		if c := &cases[i]; c.Set != hostile.Sizes && (c.Request.Header == nil || strings.Contains(strings.Join(c.Request.Header, ""), hostile.Canary)) {
			with++
		} else if c.Set != hostile.Sizes {
			t.Errorf("%s has no secret", c.Path())
		}
	}
	if with == 0 {
		t.Error("no case has a secret")
	}
}
