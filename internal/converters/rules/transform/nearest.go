package transform

import "github.com/crdconvert/webhookd/internal/converters/rules/finding"

// nearestOf is the hint for a word that is none of the candidates.
func nearestOf(word string, candidates []string) string {
	if near, ok := finding.Nearest(word, candidates); ok {
		return "did you mean " + near + "?"
	}
	return ""
}
