package finding_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// findings are out of order, one is a duplicate, and their texts hold what the formats have to
// escape.
func findings() ([]finding.Finding, map[string][]byte) {
	const rules = "dir/rules, 1.yaml"
	sources := map[string][]byte{
		rules:        []byte("spec:\r\n\tfield: .spec.größe.\u001b[31mname\n  - " + strings.Repeat("äx", 200) + "\n"),
		"clean.yaml": []byte("kind: Conversion\n"),
	}
	typo := finding.Finding{
		Pos: finding.Position{File: rules, Line: 2, Column: 20}, EndColumn: 25, Code: "no-such-field",
		Message: "spoke path .spec.größe.x: no such field in v1", Hint: "did you mean .spec.grosse?",
	}
	return []finding.Finding{
		{Pos: finding.Position{File: rules, Line: 3, Column: 300}, Code: "too-long", Message: "a column far out"},
		{Pos: finding.Position{File: rules, Line: 2}, Code: "line", Message: "a whole line"},
		{Pos: finding.Position{File: rules, Line: 1, Column: 1}, Severity: finding.Note, Code: "good-to-know", Message: "no problem", Hint: "do nothing"},
		typo,
		{Pos: finding.Position{File: "gone.yaml", Line: 9, Column: 1}, Code: "gone", Message: "a source that is not there"},
		{Pos: finding.Position{File: rules}, Code: "file", Message: "50% <of> \"a, b: c\""},
		typo,
		{Pos: finding.Position{File: rules, Line: 99, Column: 1}, Code: "line", Message: "a line that is not there"},
	}, sources
}

func TestFindingsAreRenderedInEveryFormat(t *testing.T) {
	t.Parallel()
	list, sources := findings()
	for _, format := range finding.Formats() {
		var got bytes.Buffer
		if err := finding.Render(&got, format, list, sources); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join("testdata", "findings."+string(format))
		if *update {
			if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s (-file +rendered):\n%s", format, diff)
		}
	}
}

func TestNoFindingsAreRenderedToo(t *testing.T) {
	t.Parallel()
	sources := map[string][]byte{"a.yaml": nil, "b.yaml": nil}
	for format, want := range map[finding.Format]string{
		finding.Text:   "",
		finding.GitHub: "",
		finding.JSON:   `"findings": []`,
		finding.SARIF:  `"results": []`,
		finding.JUnit:  `tests="2" failures="0"`,
	} {
		var got bytes.Buffer
		if err := finding.Render(&got, format, nil, sources); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got.String(), want) || want == "" && got.Len() > 0 {
			t.Errorf("%s: %s\nwant %s", format, got.String(), want)
		}
	}
}

func TestMachineFormatsAreWellFormed(t *testing.T) {
	t.Parallel()
	list, sources := findings()
	for _, format := range []finding.Format{finding.JSON, finding.SARIF} {
		var text bytes.Buffer
		if err := finding.Render(&text, format, list, sources); err != nil || !json.Valid(text.Bytes()) {
			t.Errorf("%s: %v\n%s", format, err, text.String())
		}
	}
	var text bytes.Buffer
	if err := finding.Render(&text, finding.JUnit, list, sources); err != nil {
		t.Fatal(err)
	}
	dec := xml.NewDecoder(&text)
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnknownFormatIsAnError(t *testing.T) {
	t.Parallel()
	err := finding.Render(io.Discard, "xml", nil, nil)
	const want = "no such output format, use one of text, json, github, sarif, junit, markdown: xml"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestRenderReportsWhatTheWriterSays(t *testing.T) {
	t.Parallel()
	list, sources := findings()
	for _, format := range finding.Formats() {
		if err := finding.Render(brokenPipe{}, format, list, sources); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

// One mistake in a shared rule is one finding, which says what it holds for.
func TestFindingsThatHoldForSeveralAreOne(t *testing.T) {
	t.Parallel()
	at := finding.Position{File: "shared.yaml", Line: 6, Column: 5}
	of := func(message string, holdsFor ...string) finding.Finding {
		return finding.Finding{Pos: at, Code: "x", Message: message, For: holdsFor}
	}
	for name, tt := range map[string]struct {
		findings []finding.Finding
		want     string
	}{
		"two versions":       {[]finding.Finding{of("m", "b v1"), of("m", "a v1"), of("m", "b v1")}, "shared.yaml:6:5: a v1, b v1: m (x)\n"},
		"many versions":      {[]finding.Finding{of("m", "a", "b", "c", "d"), of("m", "e")}, "shared.yaml:6:5: a, b, c, d and 1 more: m (x)\n"},
		"always and in one":  {[]finding.Finding{of("m"), of("m", "a v1")}, "shared.yaml:6:5: m (x)\n"},
		"different messages": {[]finding.Finding{of("n", "a v1"), of("m", "a v1")}, "shared.yaml:6:5: a v1: m (x)\nshared.yaml:6:5: a v1: n (x)\n"},
	} {
		for _, list := range [][]finding.Finding{tt.findings, finding.Sort(tt.findings)} {
			var got bytes.Buffer
			if err := finding.Render(&got, finding.Text, list, nil); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

// For people, findings of one cause are one, with the list of places and a hint. For programs, each
// is one.
func TestFindingsOfOneCauseAreOneForPeople(t *testing.T) {
	t.Parallel()
	lost := func(line int, code, place, hint string) finding.Finding {
		return finding.Finding{
			Pos: finding.Position{File: "r.yaml", Line: line}, Code: code, Message: "v1 -> v2: " + place + ": no such field", Hint: hint, Place: place,
		}
	}
	list := []finding.Finding{
		lost(1, "x", ".b", "is it .c?"), lost(1, "x", ".a", ""), lost(1, "y", ".a", ""), lost(2, "x", ".a", ""),
		{Pos: finding.Position{File: "r.yaml", Line: 1}, Code: "x", Message: "no place"},
		{Pos: finding.Position{File: "r.yaml", Line: 1}, Code: "x", Message: "none here"},
	}
	const want = `r.yaml:1: no place (x)
r.yaml:1: none here (x)
r.yaml:1: v1 -> v2: each of 2 places: no such field (x)
    .a
    .b
  hint: is it .c?
r.yaml:1: v1 -> v2: .a: no such field (y)
r.yaml:2: v1 -> v2: .a: no such field (x)
`
	var text, asJSON bytes.Buffer
	if err := errors.Join(finding.Render(&text, finding.Text, list, nil), finding.Render(&asJSON, finding.JSON, list, nil)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, text.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := bytes.Count(asJSON.Bytes(), []byte(`"code"`)); n != len(list) {
		t.Errorf("%d findings as JSON, want %d", n, len(list))
	}
}
