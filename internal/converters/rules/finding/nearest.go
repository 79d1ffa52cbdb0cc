package finding

import (
	"slices"
	"strings"
	"unicode"

	"github.com/crdconvert/webhookd/internal/editdistance"
)

// maxWord bounds the words that nearest ones are looked for, since that takes time by the product of two lengths.
const maxWord = 64

// Nearest returns the candidate that word was most likely meant to be: the same but for case and separators, a few letters
// away, or the only one that has it as a part. It returns false if none is near, or if word is a candidate itself.
func Nearest(word string, candidates []string) (string, bool) {
	if word == "" || len(word) > maxWord || slices.Contains(candidates, word) {
		return "", false
	}
	folded := fold(word)
	best, bestDistance := "", max(1, len(folded)/3)+1
	for _, c := range candidates {
		if len(c) > maxWord {
			continue
		}
		if d := editdistance.Swapping(folded, fold(c)); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best != "" {
		return best, true
	}
	return onlyPart(folded, candidates)
}

// onlyPart returns the one candidate that contains word, or is contained in it.
func onlyPart(word string, candidates []string) (string, bool) {
	const shortest = 3
	found := ""
	for _, c := range candidates {
		folded := fold(c)
		if len(c) > maxWord || min(len(word), len(folded)) < shortest {
			continue
		}
		if strings.Contains(folded, word) || strings.Contains(word, folded) {
			if found != "" {
				return "", false
			}
			found = c
		}
	}
	return found, found != ""
}

// fold writes fooBar, foo_bar, foo-bar and FooBar the same.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
