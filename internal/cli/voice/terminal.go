package voice

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// HelpWidth is the width of help, in columns.
const HelpWidth = 80

// The values of --color.
const (
	ColorAuto   = "auto"
	ColorAlways = "always"
	ColorNever  = "never"
)

// The colors of lines, as SGR parameters of ECMA-48.
const (
	Red   = "31"
	Green = "32"
	cyan  = "36"
	bold  = "1"
)

// A Color is the value of --color; it implements pflag.Value.
type Color string

// String returns the value.
func (c *Color) String() string { return string(*c) }

// Type returns the word for a value in help.
func (c *Color) Type() string { return "when" }

// Set sets the value.
func (c *Color) Set(text string) error {
	if !slices.Contains([]string{ColorAuto, ColorAlways, ColorNever}, text) {
		return fmt.Errorf("write %s, %s or %s", ColorAuto, ColorAlways, ColorNever)
	}
	*c = Color(text)
	return nil
}

// Colored reports whether out gets colors: with --color=auto if it is a terminal, and NO_COLOR
// (https://no-color.org) is not set.
func (p *Program) Colored(out io.Writer) bool {
	if p.Color == ColorAlways || p.Color == ColorNever {
		return p.Color == ColorAlways
	}
	return IsTerminal(out) && p.variable("NO_COLOR") == "" && p.variable("TERM") != "dumb"
}

// TextFor returns the format of findings for people.
func (p *Program) TextFor(out io.Writer) finding.Format {
	if p.Colored(out) {
		return finding.Color
	}
	return finding.Text
}

// paint colors text that ends within its line.
func paint(color, text string) string { return "\x1b[" + color + "m" + text + "\x1b[0m" }

// Painted returns a text for stdout.
func (p *Program) Painted(color, text string) string {
	if !p.Colored(p.Stdout) {
		return text
	}
	return paint(color, text)
}

// PaintDiff colors the lines of a unified diff for stdout.
func (p *Program) PaintDiff(diff []byte) []byte {
	if !p.Colored(p.Stdout) {
		return diff
	}
	var out strings.Builder
	for line := range strings.Lines(string(diff)) {
		text := strings.TrimSuffix(line, "\n")
		end := line[len(text):]
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"), strings.HasPrefix(text, "diff "):
			text = paint(bold, text)
		case strings.HasPrefix(text, "+"):
			text = paint(Green, text)
		case strings.HasPrefix(text, "-"):
			text = paint(Red, text)
		case strings.HasPrefix(text, "@@"):
			text = paint(cyan, text)
		}
		out.WriteString(text + end)
	}
	return []byte(out.String())
}

// IsTerminal reports whether a stream is a terminal, whose lines can be overwritten in place.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// widthOf returns the number of columns of a terminal.
func widthOf(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return HelpWidth
}

// CountBySeverity returns a text such as "2 errors, 1 warning".
func CountBySeverity(findings []finding.Finding) string {
	var parts []string
	before := 0
	for _, s := range finding.Severities() {
		n := len(finding.Worst(findings, s))
		if n > before {
			parts = append(parts, Count(n-before, string(s)))
		}
		before = n
	}
	return strings.Join(parts, ", ")
}

// Count returns a number with its noun, such as "2 files".
func Count[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Table aligns rows of cells in columns. Lines do not end in blanks.
func Table(rows [][]string) string {
	var aligned, out strings.Builder
	table := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	_ = table.Flush() // into memory
	for line := range strings.Lines(aligned.String()) {
		out.WriteString(strings.TrimRight(line, " \n") + "\n")
	}
	return out.String()
}
