package finding

import (
	"bytes"
	"fmt"
	"strings"
)

// renderMarkdown writes a table for a comment on a pull request.
func renderMarkdown(w *bytes.Buffer, findings []Finding, _ map[string][]byte) error {
	if len(findings) == 0 {
		w.WriteString("No findings.\n")
		return nil
	}
	w.WriteString("| severity | where | finding |\n|---|---|---|\n")
	for _, f := range findings {
		text := MarkdownText(f.Text())
		if f.Hint != "" {
			text += "<br>hint: " + MarkdownText(f.Hint)
		}
		fmt.Fprintf(w, "| %s | %s | %s |\n", f.severity(), MarkdownText(f.Pos.String()), text)
	}
	return nil
}

// MarkdownText returns a text for a cell of a Markdown table, without markup.
func MarkdownText(text string) string {
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "<", "&lt;", "&", "&amp;", "@", "&#64;").
		Replace(Printable(text))
}
