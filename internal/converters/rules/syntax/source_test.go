package syntax

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/crdconvert/webhookd/test/helpers/costtest"
)

// The position of a byte of a long line counts its characters, and leads back to the byte.
func TestPositionsInALongLine(t *testing.T) {
	t.Parallel()
	for _, mark := range []string{"", "\ufeff"} {
		text := mark + strings.Repeat("aä€", 1000) + "\n" + strings.Repeat("b", 10) + "\n" + strings.Repeat("ü", 1000)
		s := newSource("f", []byte(text))
		line, column := 1, 1
		for at, r := range text {
			if at < len(mark) {
				continue
			}
			if got, want := s.position(at), (Position{File: "f", Line: line, Column: column}); got != want {
				t.Fatalf("byte %d: %v, want %v", at, got, want)
			}
			if got := s.offset(line, column); got != at {
				t.Fatalf("%d:%d is byte %d, want %d", line, column, got, at)
			}
			if column++; r == '\n' {
				line, column = line+1, 1
			}
		}
		if got := s.offset(3, utf8.RuneCountInString(text)); got != -1 {
			t.Errorf("behind the end is byte %d", got)
		}
	}
}

// A file of one line, in which each rule has a malformed path, takes no more than its size.
func TestManyFindingsInALine(t *testing.T) { //nolint:paralleltest // it measures
	costtest.Linear(t, 2000, func(n int) func() {
		text := `{"apiVersion":"conversion.webhookd.io/v1beta1","kind":"Conversion","metadata":{"name":"x"},"spec":{"hub":"v1","versions":[` +
			`{"name":"v2","rules":[` + strings.TrimSuffix(strings.Repeat(`{"spoke":"ä","hub":".b"},`, n), ",") + `]}]}}`
		return func() {
			if _, findings := Parse("f", []byte(text)); len(findings) != n {
				t.Errorf("%d findings", len(findings))
			}
		}
	})
}
