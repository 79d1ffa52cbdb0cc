// Package didyoumean finds the word that a user probably meant. Comparing two words takes time
// proportional to the product of their lengths, so it ignores long words and long lists of
// candidates.
package didyoumean

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// longest is the maximum length of a word in bytes.
const longest = 64

// most is the maximum number of candidates.
const most = 500

// Hint asks whether the nearest candidate was meant. If none is near, it returns other.
func Hint(word string, candidates []string, other string) string {
	if near, ok := Nearest(word, candidates); ok {
		return "did you mean " + near + "?"
	}
	return other
}

// Nearest returns the candidate that is closest to word: equal except for case and separators, a
// few letters away, a part of word, or one that contains it. It returns false if none is near, if
// word is a candidate itself, or if there are more than 500 candidates.
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
			continue // the difference in length alone is too large
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

// part returns the longest candidate that is part of word; else the first that begins with word, or
// the only one that contains it.
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

// fold maps fooBar, foo_bar, foo-bar and FooBar to the same text.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
