package config

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed reference_head.md
var preamble string

// Reference returns docs/reference/configuration.md: every key in Markdown.
func Reference() string {
	var b strings.Builder
	b.WriteString(preamble)
	group := ""
	for _, k := range Keys() {
		if k.Group != group {
			group = k.Group
			fmt.Fprintf(&b, "\n## %s\n\n| key | default | meaning |\n|---|---|---|\n", group)
		}
		value := "none"
		if k.Default != "" {
			value = "`" + k.Default + "`"
		}
		if k.Local != "" {
			value += "; with self-signed `" + k.Local + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", k.Name, value, k.meaning())
	}
	return b.String()
}

// meaning is the last column: a sentence, then what may be written.
func (k Key) meaning() string {
	s := strings.ToUpper(k.Usage[:1]) + k.Usage[1:] + "."
	if k.Kind == Choice {
		s += " One of `" + strings.Join(k.Choices, "`, `") + "`."
	}
	if k.Max != "" {
		s += " From " + k.Min + " to " + k.Max + "."
	}
	if k.Zero != "" {
		s += " 0: " + k.Zero + "."
	}
	if k.Live {
		s += " Can change while running."
	}
	return strings.ReplaceAll(s, "|", `\|`)
}
