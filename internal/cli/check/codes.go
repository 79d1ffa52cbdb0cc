package check

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	pages "github.com/crdconvert/webhookd/docs/reference"
	"github.com/crdconvert/webhookd/internal/cli/voice"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// A codeLine is what the page about findings says of some codes.
type codeLine struct {
	codes    []string
	severity string
	means    string // and why it matters
	fix      string
}

var (
	// linesOfCodes matches the lines of codes: their names, a severity, and a text.
	linesOfCodes = regexp.MustCompile("(?m)^- (`[a-z-]+`(?:, `[a-z-]+`)*):(?: \\((note|warning)\\))? ((?:.|\n  )+?)\\s+Fix: ((?:.|\n  )+)$")
	links        = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)
)

// codeLines reads the page about findings, which is the one table of codes.
func codeLines() []codeLine {
	plain := func(text string) string {
		return links.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
	}
	lines := linesOfCodes.FindAllStringSubmatch(pages.Findings, -1)
	all := make([]codeLine, 0, len(lines))
	for _, m := range lines {
		line := codeLine{codes: strings.Split(strings.ReplaceAll(m[1], "`", ""), ", "), severity: m[2], means: plain(m[3]), fix: plain(m[4])}
		if line.severity == "" {
			line.severity = "error"
		}
		all = append(all, line)
	}
	return all
}

// isCode reports whether an argument is a code, or is written as one and no file has that name.
func isCode(arg string) bool {
	if slices.ContainsFunc(codeLines(), func(l codeLine) bool { return slices.Contains(l.codes, arg) }) {
		return true
	}
	_, err := os.Stat(arg)
	return err != nil && regexp.MustCompile(`^[a-z]+(-[a-z]+)+$`).MatchString(arg)
}

// explainCode says what the code of a finding means, why, and how to fix it.
func explainCode(p *voice.Program, code string) error {
	var codes []string
	for _, line := range codeLines() {
		if slices.Contains(line.codes, code) {
			_, err := fmt.Fprintf(p.Stdout, "%s (%s)\n  %s\n  Fix: %s\n", code, line.severity, line.means, line.fix)
			return err
		}
		codes = append(codes, line.codes...)
	}
	return voice.Usage(fmt.Errorf("%s: no such code of a finding, file or object", code), didyoumean.Hint(code, codes, "webhookd check prints the codes"))
}
