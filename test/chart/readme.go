package chart

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The text between these lines of the README is generated.
const (
	tablesBegin = "<!-- Generated from values.yaml; after a change there run in test/chart: go test . -run TestReference -update -->"
	tablesEnd   = "<!-- End of what is generated. -->"
)

// Tables returns the documentation of the values, a table for each section.
func Tables(values []Value) (string, error) {
	var b strings.Builder
	section := ""
	for _, v := range values {
		if v.Section != section {
			section = v.Section
			fmt.Fprintf(&b, "\n### %s\n\n| value | default | meaning |\n|---|---|---|\n", section)
		}
		def, err := inline(v.Default)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", v.Name(), def, strings.ReplaceAll(v.Text, "|", `\|`))
	}
	return b.String(), nil
}

// inline writes a default on one line; an empty text becomes "empty".
func inline(value any) (string, error) {
	if value == "" {
		return "empty", nil
	}
	if text, is := value.(string); is {
		return "`" + text + "`", nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	return "`" + string(text) + "`", nil
}

// WithTables returns the README with its tables replaced.
func WithTables(readme, tables string) (string, error) {
	before, rest, begins := strings.Cut(readme, tablesBegin)
	_, after, ends := strings.Cut(rest, tablesEnd)
	if !begins || !ends {
		return "", fmt.Errorf("the README has no line %s and %s", tablesBegin, tablesEnd)
	}
	return before + tablesBegin + "\n" + tables + "\n" + tablesEnd + after, nil
}
