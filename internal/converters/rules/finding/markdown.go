package finding

import (
	"fmt"
	"io"
	"strings"
)

// renderMarkdown writes a table for a comment on a pull request.
func renderMarkdown(w io.Writer, findings []Finding, _ map[string][]byte) error {
	if len(findings) == 0 {
		_, err := fmt.Fprintln(w, "No findings.")
		return err
	}
	if _, err := io.WriteString(w, "| severity | where | finding |\n|---|---|---|\n"); err != nil {
		return err
	}
	for _, f := range findings {
		text := MarkdownText(f.Text())
		if f.Hint != "" {
			text += "<br>hint: " + MarkdownText(f.Hint)
		}
		if _, err := fmt.Fprintf(w, "| %s | %s | %s |\n", f.severity(), MarkdownText(f.Pos.String()), text); err != nil {
			return err
		}
	}
	return nil
}

// MarkdownText returns a text for a cell of a Markdown table, without markup.
func MarkdownText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;", "&", "&amp;", "@", "&#64;").
		Replace(Printable(text))
}
