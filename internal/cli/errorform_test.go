package cli

import (
	"regexp"
	"strings"
	"testing"
)

// A name is what may be wrong: a flag, a quoted text, a path, an object, a file or stdin.
const aName = `(?:--?[a-z-]+(?: "[^"]*")?|"[^"]*"|\.[\w.\[\]]+|[\w-]+(?:[./][\w-]+)+|stdin|-)`

// What the command line says to stderr, as the scripts have it, begins with the file, flag or
// object that is wrong; then comes what is wrong, and then what to do, without a full stop. The
// name of something else is at its end at most where the line begins with one.
func TestErrorsAreOfOneForm(t *testing.T) {
	t.Parallel()
	said := regexp.MustCompile(`(?m)^(?:stderr '\^?)?webhookd: (.*?)\$?'?$`)
	begins, ends := regexp.MustCompile(`^(?:`+aName+`|[\w-]+)(?: [\w>=-]+)*(?: \([^)]*\))?(?::\d+)?: `), regexp.MustCompile(`: `+aName+`$`)
	lines := 0
	for _, file := range filesBelow(t, "testdata", ".txtar", "usage.txt") {
		for _, m := range said.FindAllStringSubmatch(read(t, file), -1) {
			lines++
			line := strings.NewReplacer(`\.`, ".", `\[`, "[", `\]`, "]", `\(`, "(", `\)`, ")").Replace(m[1])
			switch {
			case ends.MatchString(line) && !begins.MatchString(line), strings.HasPrefix(line, "unknown flag"), strings.HasPrefix(line, "unknown command"):
				t.Errorf("%s: begin with what is wrong: %s", file, line)
			case regexp.MustCompile(`\w\.$`).MatchString(line), regexp.MustCompile(`^[A-Z][a-z]+ `).MatchString(line):
				t.Errorf("%s: no sentence: %s", file, line)
			}
		}
	}
	if lines < 100 {
		t.Errorf("only %d lines", lines)
	}
}

// Nor does any other error end with the name of what is wrong.
func TestErrorsBeginWithTheirCulprit(t *testing.T) {
	t.Parallel()
	atEnd := regexp.MustCompile(`(?:Errorf|errors\.New|voice\.Problem)\((?:[^"\n]*, )?"([^"]*: (?:%[qsv](?:/%s)?|--[a-z-]+(?: %[qsvdg]| -)?))"`)
	allowed := map[string]string{
		"interrupted: every file is either converted or as it was, run it again for the rest: %s": "a count",
		"review failed: %s":                "the message of an answer",
		"--%s %q: %s":                      "the flag is first",
		"%s: %s":                           "the object is first",
		"%s: no good answer within %s: %s": "the object is first",
		"%s: Crossplane makes this CRD of an XRD, take the next step there and run this again: %s": "the object is first",
	}
	for _, folder := range []string{".", "../cluster"} {
		for _, file := range filesBelow(t, folder, ".go") {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, m := range atEnd.FindAllStringSubmatch(read(t, file), -1) {
				if allowed[m[1]] == "" {
					t.Errorf("%s: begin with what is wrong: %q", file, m[1])
				}
			}
		}
	}
}
