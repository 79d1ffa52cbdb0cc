// Package didyoumean finds what a user meant to write. Comparing two words takes time in proportion
// to the product of their lengths, so it skips long words and long lists.
package didyoumean

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// longest bounds words in bytes.
const longest = 64

// most bounds candidates: if there are more, Nearest finds none.
const most = 500

// Hint asks whether the nearest of the candidates was meant, or is another hint if none is near.
func Hint(word string, candidates []string, other string) string {
	if near, ok := Nearest(word, candidates); ok {
		return "did you mean " + near + "?"
	}
	return other
}

// Nearest returns the candidate that word was most likely meant to be: one that differs in case,
// separators or a few letters, or that contains the word or is contained in it. It returns false if
// none is near, if word is a candidate itself, or if there are more than 500 candidates.
func Nearest(word string, candidates []string) (string, bool) {
	if word == "" || len(word) > longest || len(candidates) > most || slices.Contains(candidates, word) {
		return "", false
	}
	folded := fold(word)
	best, bestDistance := "", max(1, len(folded)/3)+1
	for _, c := range candidates {
		if len(c) > longest {
			continue
		}
		there := fold(c)
		if max(len(folded), len(there))-min(len(folded), len(there)) >= bestDistance {
			continue // at least that many letters differ
		}
		if d := distance(folded, there); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best == "" {
		best = part(folded, candidates)
	}
	return best, best != ""
}

// part returns the longest candidate that the word contains, else the first one that begins with
// the word, else the only one that contains it.
func part(word string, candidates []string) string {
	const shortest = 3
	var inside, begins string
	var around []string
	for _, c := range candidates {
		switch folded := fold(c); {
		case len(c) > longest || min(len(word), len(folded)) < shortest:
		case strings.Contains(word, folded) && len(c) > len(inside):
			inside = c
		case strings.HasPrefix(folded, word) && begins == "":
			begins = c
		case strings.Contains(folded, word):
			around = append(around, c)
		}
	}
	if inside == "" && begins == "" && len(around) == 1 {
		return around[0]
	}
	return cmp.Or(inside, begins)
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
