package syntax

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
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

// BenchmarkParseOneLine reads a file of one line, in which each rule has a malformed path.
func BenchmarkParseOneLine(b *testing.B) {
	for _, n := range []int{1000, 4000, 16000} {
		text := `{"apiVersion":"conversion.webhookd.io/v1beta1","kind":"Conversion","metadata":{"name":"x"},"spec":{"hub":"v1","versions":[` +
			`{"name":"v2","rules":[` + strings.TrimSuffix(strings.Repeat(`{"spoke":"ä","hub":".b"},`, n), ",") + `]}]}}`
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, findings := Parse("f", []byte(text)); len(findings) != n {
					b.Fatalf("%d findings", len(findings))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(n), "us/each")
		})
	}
}
