package finding

import (
	"strings"
	"testing"
)

// A cell of a table has no markup, whatever a rule says.
func TestMarkdownHasNoMarkupOfRules(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	err := Render(&out, Markdown, []Finding{{
		Pos: Position{File: "a_b.yaml", Line: 3}, Severity: Warning, Message: "a|b `c` <img> @you [x](y)\x1b", Hint: "*no*",
	}}, nil)
	want := "| severity | where | finding |\n|---|---|---|\n" +
		"| warning | a\\_b.yaml:3 | a\\|b \\`c\\` &lt;img> &#64;you \\[x](y)\ufffd<br>hint: \\*no\\* |\n"
	if err != nil || out.String() != want {
		t.Errorf("got  %q %v\nwant %q", out.String(), err, want)
	}
}

// Colors surround positions and severities, and change nothing else.
func TestColorIsTextWithColors(t *testing.T) {
	t.Parallel()
	findings := []Finding{
		{Pos: Position{File: "a.yaml", Line: 1, Column: 2}, Message: "wrong", Hint: "do"},
		{Pos: Position{File: "a.yaml", Line: 1, Column: 3}, Severity: Note, Message: "known"},
	}
	sources := map[string][]byte{"a.yaml": []byte("abc\n")}
	var colored, plain strings.Builder
	if Render(&colored, Color, findings, sources) != nil || Render(&plain, Text, findings, sources) != nil {
		t.Fatal("not rendered")
	}
	got := colored.String()
	for _, code := range []string{"\x1b[1;31m", "\x1b[31m", "\x1b[36m", "\x1b[1m", "\x1b[0m"} {
		if !strings.Contains(got, code) {
			t.Errorf("no %q in %q", code, got)
		}
		got = strings.ReplaceAll(got, code, "")
	}
	if got != plain.String() {
		t.Errorf("without colors: %q, want %q", got, plain.String())
	}
}
