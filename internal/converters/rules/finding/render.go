package finding

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// A Format is a way to write findings.
type Format string

// The formats of [Render].
const (
	Text   Format = "text"   // for people: the source line and a caret below each message
	JSON   Format = "json"   // {"findings": [...]}
	GitHub Format = "github" // workflow commands: annotations in a pull request
	SARIF  Format = "sarif"  // SARIF 2.1.0, for code scanning
	JUnit  Format = "junit"  // a test case for each finding, failed if it is an error, and for each file without one
	// Markdown is a table for a comment on a pull request.
	Markdown Format = "markdown"
	Color    Format = "color" // Text for a terminal that has colors; not one of Formats
)

// Formats returns all formats in the order of the documentation.
func Formats() []Format { return []Format{Text, JSON, GitHub, SARIF, JUnit, Markdown} }

// Render writes the findings in order, each once. The sources are the texts of the files; without
// one, only the source lines are missing. It fails if w fails, or if the format does not exist.
func Render(w io.Writer, format Format, findings []Finding, sources map[string][]byte) error {
	renderers := map[Format]func(*bytes.Buffer, []Finding, map[string][]byte) error{
		Text: renderText, Color: renderColor, JSON: renderJSON, GitHub: renderGitHub, SARIF: renderSARIF, JUnit: renderJUnit, Markdown: renderMarkdown,
	}
	render, ok := renderers[format]
	if !ok {
		names := fmt.Sprint(Formats()) // [text json ...]
		return fmt.Errorf("no such output format, use one of %s: %s", strings.ReplaceAll(strings.Trim(names, "[]"), " ", ", "), format)
	}
	var text bytes.Buffer
	if err := render(&text, Sort(findings), sources); err != nil {
		return err
	}
	_, err := text.WriteTo(w)
	return err
}

// renderGitHub writes workflow commands: https://docs.github.com/actions, "Workflow commands".
func renderGitHub(w *bytes.Buffer, findings []Finding, _ map[string][]byte) error {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	for _, f := range findings {
		command := map[Severity]string{Error: "error", Warning: "warning", Note: "notice"}[f.severity()]
		at := "file=" + property.Replace(f.Pos.File)
		if f.Pos.Line > 0 {
			at += fmt.Sprintf(",line=%d", f.Pos.Line)
		}
		if f.Pos.Column > 0 {
			at += fmt.Sprintf(",col=%d", f.Pos.Column)
		}
		if f.EndColumn > f.Pos.Column {
			at += fmt.Sprintf(",endColumn=%d", f.EndColumn)
		}
		text := f.Text()
		if f.Hint != "" {
			text += "\nhint: " + f.Hint
		}
		fmt.Fprintf(w, "::%s %s,title=%s::%s\n", command, at, property.Replace(f.Code), message.Replace(text))
	}
	return nil
}
