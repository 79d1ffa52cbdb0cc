package finding

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Format is a way to write findings down.
type Format string

// The formats of [Render].
const (
	Text   Format = "text"   // for people: the source line and a caret below each message
	JSON   Format = "json"   // {"findings": [...]}
	GitHub Format = "github" // workflow commands: annotations in a pull request
	SARIF  Format = "sarif"  // SARIF 2.1.0, for code scanning
	JUnit  Format = "junit"  // a test case for each finding, which fails unless it is a note, and for each file without one
)

// Formats returns all formats in the order of the documentation.
func Formats() []Format { return []Format{Text, JSON, GitHub, SARIF, JUnit} }

// Render writes the findings in their order, each once. The sources are the texts of the files that were looked at; one
// that is missing costs the source lines only. Errors are those of w, or that there is no such format.
func Render(w io.Writer, format Format, findings []Finding, sources map[string][]byte) error {
	renderers := map[Format]func(io.Writer, []Finding, map[string][]byte) error{
		Text: renderText, JSON: renderJSON, GitHub: renderGitHub, SARIF: renderSARIF, JUnit: renderJUnit,
	}
	render, ok := renderers[format]
	if !ok {
		return fmt.Errorf("no such output format, use one of %s: %s", formatNames(), format)
	}
	buffered := bufio.NewWriter(w)
	if err := render(buffered, Sort(findings), sources); err != nil {
		return err
	}
	return buffered.Flush()
}

func formatNames() string {
	names := make([]string, 0, len(Formats()))
	for _, f := range Formats() {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// renderGitHub writes workflow commands: https://docs.github.com/actions, "Workflow commands".
func renderGitHub(w io.Writer, findings []Finding, _ map[string][]byte) error {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for _, f := range findings {
		var b strings.Builder
		command := "error"
		if f.IsNote() {
			command = "notice"
		}
		fmt.Fprintf(&b, "::%s file=%s", command, property.Replace(f.Pos.File))
		if f.Pos.Line > 0 {
			fmt.Fprintf(&b, ",line=%d", f.Pos.Line)
		}
		if f.Pos.Column > 0 {
			fmt.Fprintf(&b, ",col=%d", f.Pos.Column)
		}
		if f.EndColumn > f.Pos.Column {
			fmt.Fprintf(&b, ",endColumn=%d", f.EndColumn)
		}
		text := f.Message
		if f.Hint != "" {
			text += "\nhint: " + f.Hint
		}
		fmt.Fprintf(&b, ",title=%s::%s\n", property.Replace(f.Code), message.Replace(text))
		if _, err := io.WriteString(w, b.String()); err != nil {
			return err
		}
	}
	return nil
}

// fileNames returns the names of all files in order.
func fileNames(findings []Finding, sources map[string][]byte) []string {
	names := make([]string, 0, len(sources)+len(findings))
	for name := range sources {
		names = append(names, name)
	}
	for _, f := range findings {
		names = append(names, f.Pos.File)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
