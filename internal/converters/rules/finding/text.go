package finding

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown bounds how much of a source line is shown, in characters: a file may be a single line of 1 MiB.
const maxShown = 160

func renderText(w io.Writer, findings []Finding, sources map[string][]byte) error {
	lines := map[string][]string{}
	var shown excerptLine
	for _, f := range findings {
		if _, ok := lines[f.Pos.File]; !ok {
			lines[f.Pos.File] = SplitLines(string(sources[f.Pos.File]))
		}
		var b strings.Builder
		fmt.Fprintln(&b, f.String())
		if n := f.Pos.Line; n > 0 && n <= len(lines[f.Pos.File]) && len(sources[f.Pos.File]) > 0 {
			if shown.file != f.Pos.File || shown.number != n {
				shown = excerptLine{f.Pos.File, n, []rune(lines[f.Pos.File][n-1])}
			}
			writeExcerpt(&b, shown.runes, n, f.Pos.Column)
		}
		if f.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", printable(f.Hint))
		}
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// An excerptLine is a line in characters. A long one may have many findings.
type excerptLine struct {
	file   string
	number int
	runes  []rune
}

// writeExcerpt writes a source line and a caret below its column.
func writeExcerpt(b *strings.Builder, runes []rune, number, column int) {
	start, end := 0, len(runes)
	if end > maxShown {
		start = max(0, min(column-maxShown/2, end-maxShown))
		end = start + maxShown
	}
	gutter := strconv.Itoa(number)
	var shown, below strings.Builder
	if start > 0 {
		shown.WriteString("...")
		below.WriteString("   ")
	}
	for i, r := range runes[start:end] {
		shown.WriteString(printable(string(r)))
		if start+i+1 < column {
			below.WriteRune(blank(r))
		}
	}
	if end < len(runes) {
		shown.WriteString("...")
	}
	fmt.Fprintf(b, "  %s | %s\n", gutter, shown.String())
	if column > 0 && column <= len(runes)+1 {
		fmt.Fprintf(b, "  %s | %s^\n", strings.Repeat(" ", len(gutter)), below.String())
	}
}

// printable keeps escape sequences of a file from reaching a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

func blank(r rune) rune {
	if r == '\t' {
		return '\t'
	}
	return ' '
}

// LineStarts returns the byte at which each line of a text starts. Lines break where YAML breaks them
// (YAML 1.1, section 4.2).
func LineStarts(text string) []int {
	starts := []int{0}
	for i, r := range text {
		if strings.ContainsRune(lineBreaks, r) && !strings.HasPrefix(text[i:], "\r\n") {
			starts = append(starts, i+utf8.RuneLen(r))
		}
	}
	return starts
}

const lineBreaks = "\n\r\u0085\u2028\u2029"

// SplitLines returns the lines of a text without their breaks: line n of a [Position] is element n-1.
func SplitLines(text string) []string {
	starts := append(LineStarts(text), len(text))
	lines := make([]string, len(starts)-1)
	for i := range lines {
		lines[i] = strings.TrimRight(text[starts[i]:starts[i+1]], lineBreaks)
	}
	return lines
}
