package config

import (
	"strings"
	"unicode"
)

// nearest returns the key that word was most likely meant to be: the same but for case and
// separators, or a few letters away, or one that has a part in common with it.
func nearest(word string, keys []Key) (string, bool) {
	const longest = 64
	if len(word) > longest {
		return "", false
	}
	word = fold(word)
	best, bestDistance := "", max(1, len(word)/4)+1
	for _, k := range keys {
		if d := distance(word, k.Name); d < bestDistance {
			best, bestDistance = k.Name, d
		}
	}
	if best != "" {
		return best, true
	}
	for _, k := range keys {
		if within(k.Name, word) && len(k.Name) > len(best) {
			best = k.Name
		}
	}
	for _, k := range keys {
		if best == "" && within(word, k.Name) {
			best = k.Name
		}
	}
	return best, best != ""
}

// within reports whether the words of a are found in b, one after the other.
func within(a, b string) bool {
	return a != "" && strings.Contains("-"+b+"-", "-"+a+"-")
}

// fold writes maxBody, MAX_BODY and max.body as max-body.
func fold(s string) string {
	var b strings.Builder
	camel := false
	for _, r := range strings.NewReplacer("_", "-", ".", "-").Replace(s) {
		if camel && unicode.IsUpper(r) {
			b.WriteByte('-')
		}
		camel = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// distance is Damerau's and Levenshtein's, by bytes: the number of letters to insert, leave out or
// replace, and of neighbours to swap, each letter at most once.
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
