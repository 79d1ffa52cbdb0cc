package cli

import (
	"regexp"
	"strings"
	"testing"
)

// An error begins with the file, flag or object that is wrong. What is at its end is a text of
// something else.
func TestErrorsBeginWithTheirCulprit(t *testing.T) {
	t.Parallel()
	atEnd := regexp.MustCompile(`(?:Errorf|errors\.New|voice\.Problem)\((?:[^"\n]*, )?"([^"]*: (?:%[qsv]|--[a-z-]+(?: %[qsvd]| -)?))"`)
	allowed := map[string]string{
		"interrupted: every file is either converted or as it was, run it again for the rest: %s": "a count",
		"review failed: %s": "the message of an answer",
		"%w: %s":            "of a request: its URL",
		"--%s %q: %s":       "the flag is first",
	}
	for _, file := range filesBelow(t, ".", ".go") {
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
