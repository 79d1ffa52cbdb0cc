package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

// The values of --color.
const (
	colorAuto   = "auto"
	colorAlways = "always"
	colorNever  = "never"
)

// The colors of lines, as SGR parameters of ECMA-48.
const (
	red   = "31"
	green = "32"
	cyan  = "36"
	bold  = "1"
)

// colorFlag is the value of --color; it implements pflag.Value.
type colorFlag string

func (c *colorFlag) String() string { return string(*c) }
func (c *colorFlag) Type() string   { return "when" }

func (c *colorFlag) Set(text string) error {
	if !slices.Contains([]string{colorAuto, colorAlways, colorNever}, text) {
		return fmt.Errorf("write %s, %s or %s", colorAuto, colorAlways, colorNever)
	}
	*c = colorFlag(text)
	return nil
}

// colored reports whether out gets colors: with --color=auto if it is a terminal, and NO_COLOR
// (https://no-color.org) is not set.
func (p *program) colored(out io.Writer) bool {
	if p.color == colorAlways || p.color == colorNever {
		return p.color == colorAlways
	}
	return isTerminal(out) && p.variable("NO_COLOR") == "" && p.variable("TERM") != "dumb"
}

// textFor returns the format of findings for people.
func (p *program) textFor(out io.Writer) finding.Format {
	if p.colored(out) {
		return finding.Color
	}
	return finding.Text
}

// variable returns the value of an environment variable, or "".
func (p *program) variable(name string) string {
	for _, entry := range slices.Backward(p.environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// paint colors text that ends within its line.
func paint(color, text string) string { return "\x1b[" + color + "m" + text + "\x1b[0m" }

// painted returns a text for stdout.
func (p *program) painted(color, text string) string {
	if !p.colored(p.stdout) {
		return text
	}
	return paint(color, text)
}

// paintDiff colors the lines of a unified diff for stdout.
func (p *program) paintDiff(diff []byte) []byte {
	if !p.colored(p.stdout) {
		return diff
	}
	var out strings.Builder
	for line := range strings.Lines(string(diff)) {
		text, end := strings.CutSuffix(line, "\n")
		switch {
		case strings.HasPrefix(text, "+++"), strings.HasPrefix(text, "---"), strings.HasPrefix(text, "diff "):
			text = paint(bold, text)
		case strings.HasPrefix(text, "+"):
			text = paint(green, text)
		case strings.HasPrefix(text, "-"):
			text = paint(red, text)
		case strings.HasPrefix(text, "@@"):
			text = paint(cyan, text)
		}
		if out.WriteString(text); end {
			out.WriteByte('\n')
		}
	}
	return []byte(out.String())
}

// isTerminal reports whether a stream is a terminal, whose lines can be overwritten in place.
func isTerminal(stream any) bool {
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
	return helpWidth
}
