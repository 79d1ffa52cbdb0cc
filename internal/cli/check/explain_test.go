package check

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	pages "github.com/crdconvert/webhookd/docs/reference"
)

// The page about findings has each code that check can print once, and no other. In the packages
// that make findings, all texts in kebab-case are codes.
func TestReferenceOfFindings(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile(`"([a-z]+(?:-[a-z]+)+)"|(?:Code: |\.say\([^,"]+, )"([a-z]+)"`)
	codes := map[string]bool{}
	for _, folder := range []string{"../../converters/rules", "../../serve/ruleset", "."} {
		files := os.DirFS(folder)
		err := fs.WalkDir(files, ".", func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || folder == "." && path != "live.go" {
				return err
			}
			text, err := fs.ReadFile(files, path)
			for _, m := range code.FindAllStringSubmatch(string(text), -1) {
				codes[m[1]+m[2]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(codes) < 140 {
		t.Errorf("%d codes, they are not found as they are written", len(codes))
	}
	listed := map[string]bool{}
	for _, line := range codeLines() {
		for _, code := range line.codes {
			if !codes[code] || listed[code] {
				t.Errorf("the page has %s twice, or no finding has it", code)
			}
			listed[code] = true
		}
	}
	if n := strings.Count(pages.Findings, "\n- `"); n != len(codeLines()) {
		t.Errorf("%d lines of codes, of which %d say what the code means, and how to fix it", n, len(codeLines()))
	}
	for code := range codes {
		if !listed[code] {
			t.Errorf("docs/reference/findings.md has no line for %s", code)
		}
	}
}
