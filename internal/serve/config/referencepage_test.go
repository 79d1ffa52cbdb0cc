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
			fmt.Fprintf(&b, "\n## %s\n\n", group)
		}
		fmt.Fprintf(&b, "- `%s`%s: %s\n", k.Name, k.defaults(), k.meaning())
	}
	return b.String()
}

// defaults is the text in parentheses, or nothing without a default.
func (k Key) defaults() string {
	switch {
	case k.Local != "":
		return " (`" + k.Default + "`; with self-signed `" + k.Local + "`)"
	case k.Default != "":
		return " (`" + k.Default + "`)"
	}
	return ""
}

// meaning is a sentence, then what may be written.
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
	return s
}
