package voice

import (
	"fmt"
	"strings"

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
