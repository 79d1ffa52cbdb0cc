package voice

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
)

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
