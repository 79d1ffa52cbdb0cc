package finding

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxShown bounds how much of a source line is shown, in characters: a file may be a single line of
// 1 MiB.
const maxShown = 160

func renderText(w *bytes.Buffer, findings []Finding, sources map[string][]byte) error {
	return writeText(w, findings, sources, plain)
}

// plain paints nothing.
func plain(_, text string) string { return text }

// The colors of text, as SGR parameters of ECMA-48.
const (
	red    = "31"
	yellow = "33"
	cyan   = "36"
	bold   = "1"
)

func renderColor(w *bytes.Buffer, findings []Finding, sources map[string][]byte) error {
	return writeText(w, findings, sources, func(color, text string) string { return "\x1b[" + color + "m" + text + "\x1b[0m" })
}

// headline returns the finding in one line, with its code at the end. Every position and severity
// is painted.
func (f Finding) headline(code string, paint func(color, text string) string) string {
	color, where := map[Severity]string{Error: red, Warning: yellow, Note: cyan}[f.severity()], bold
	text := Printable(f.Text()) + code
	if f.IsError() {
		where += ";" + color
	} else {
		text = paint(color, string(f.Severity)+":") + " " + text
	}
	if at := f.Pos.String(); at != "" {
		text = paint(where, Printable(at)+":") + " " + text
	}
	return text
}

// grouped returns the findings of which those with one cause are one, and the places of that.
func grouped(findings []Finding) (groups []Finding, places [][]string) {
	at := map[string]int{}
	for _, f := range findings {
		cause := strings.Replace(f.Message, f.Place, "", 1)
		key := fmt.Sprintf("%q", append([]string{f.Pos.String(), string(f.severity()), f.Code, cause}, f.For...))
		i, known := at[key]
		if !known || f.Place == "" {
			at[key] = len(groups)
			groups, places = append(groups, f), append(places, nil)
			i = len(groups) - 1
		}
		places[i] = append(places[i], f.Place)
		if groups[i].Hint == "" {
			groups[i].Hint = f.Hint
		}
	}
	for i, all := range places {
		if len(all) > 1 {
			groups[i].Message = strings.Replace(groups[i].Message, groups[i].Place, fmt.Sprintf("each of %d places", len(all)), 1)
		}
	}
	return groups, places
}

func writeText(w *bytes.Buffer, findings []Finding, sources map[string][]byte, paint func(color, text string) string) error {
	lines := map[string][]string{}
	var last Position
	var runes []rune // of the line of last: a long line may have many findings
	findings, places := grouped(findings)
	for i, f := range findings {
		if _, ok := lines[f.Pos.File]; !ok {
			lines[f.Pos.File] = SplitLines(string(sources[f.Pos.File]))
		}
		code := ""
		if f.Code != "" {
			code = " (" + f.Code + ")"
		}
		w.WriteString(f.headline(code, paint) + "\n")
		if n := f.Pos.Line; n > 0 && n <= len(lines[f.Pos.File]) && len(sources[f.Pos.File]) > 0 {
			if last.File != f.Pos.File || last.Line != n {
				last, runes = f.Pos, []rune(lines[f.Pos.File][n-1])
			}
			w.WriteString(excerpt(runes, n, f.Pos.Column, paint))
		}
		if len(places[i]) > 1 {
			w.WriteString("    " + strings.Join(places[i], "\n    ") + "\n")
		}
		if f.Hint != "" {
			w.WriteString("  " + paint(cyan, "hint:") + " " + Printable(f.Hint) + "\n")
		}
	}
	return nil
}

// excerpt returns a source line with a caret below its column.
func excerpt(line []rune, number, column int, paint func(color, text string) string) string {
	start, end := 0, len(line)
	if end > maxShown {
		start = max(0, min(column-maxShown/2, end-maxShown))
		end = start + maxShown
	}
	shown := Printable(string(line[start:end]))
	before := line[start:max(start, min(column-1, end))]
	below := strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, string(before))
	if start > 0 {
		shown, below = "..."+shown, "   "+below
	}
	if end < len(line) {
		shown += "..."
	}
	gutter := strconv.Itoa(number)
	text := fmt.Sprintf("  %s | %s\n", gutter, shown)
	if column > 0 && column <= len(line)+1 {
		text += fmt.Sprintf("  %s | %s%s\n", strings.Repeat(" ", len(gutter)), below, paint(red, "^"))
	}
	return text
}

// Printable replaces control characters, so a file cannot send escape sequences to a terminal.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\t' && !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// LineStarts returns the byte at which each line of a text starts. Lines break where YAML breaks
// them (YAML 1.1, section 4.2).
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

// SplitLines returns the lines of a text without their breaks: line n of a [Position] is element
// n-1.
func SplitLines(text string) []string {
	starts := append(LineStarts(text), len(text))
	lines := make([]string, len(starts)-1)
	for i := range lines {
		lines[i] = strings.TrimRight(text[starts[i]:starts[i+1]], lineBreaks)
	}
	return lines
}
