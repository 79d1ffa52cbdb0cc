package finding

import (
	"slices"
	"strings"
	"unicode"
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
		if d := distance(folded, fold(c)); d < bestDistance {
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

// distance is Damerau's and Levenshtein's, by bytes: the number of letters to insert, leave out or replace, and of
// neighbours to swap, each letter at most once.
func distance(a, b string) int {
	var older []int // the row before row
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			cost := row[j]
			if a[i] != b[j] {
				cost++
			}
			next[j+1] = min(cost, next[j]+1, row[j+1]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], older[j-1]+1)
			}
		}
		older, row = row, next
	}
	return row[len(b)]
}
