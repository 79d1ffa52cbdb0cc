package suggest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// words splits a name into words, in lower case and in the singular: keyAlgorithms into key and
// algorithm, URIs into uri.
func words(name string) []string {
	runes := []rune(name)
	var all []string
	start := 0
	end := func(i int) {
		if i > start {
			all = append(all, singular(strings.ToLower(string(runes[start:i]))))
		}
		start = i
	}
	for i, r := range runes {
		switch {
		case r == '-' || r == '_' || r == '.' || r == '/':
			end(i)
			start = i + 1
		case unicode.IsUpper(r) && i > 0:
			before := !unicode.IsUpper(runes[i-1])
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1]) && string(runes[i+1:]) != "s"
			if before || after {
				end(i)
			}
		}
	}
	end(len(runes))
	return all
}

func singular(word string) string {
	const shortest = 3
	switch {
	case len(word) > shortest+1 && strings.HasSuffix(word, "ies"):
		return word[:len(word)-len("ies")] + "y"
	case len(word) <= shortest || strings.HasSuffix(word, "ss") || strings.HasSuffix(word, "us"):
		return word
	case strings.HasSuffix(word, "s"):
		return word[:len(word)-1]
	}
	return word
}

// common returns how many words two lists share. A short form of a word counts as half of it:
// config and configuration, cmd and command.
func common(a, b []string) float64 {
	const part = 0.5
	used := make([]bool, len(b))
	shared := 0.0
	for _, word := range a {
		best, at := 0.0, -1
		for j, other := range b {
			score := 0.0
			switch {
			case used[j]:
			case word == other:
				score = 1
			case isShort(word, other) || isShort(other, word):
				score = part
			}
			if score > best {
				best, at = score, j
			}
		}
		if at >= 0 {
			used[at] = true
			shared += best
		}
	}
	return shared
}

// isShort reports whether a word is a prefix of a longer one, or has its first letter and others of
// it in order.
func isShort(short, long string) bool {
	const begin, letters = 2, 3
	if len(short) < begin || strings.HasPrefix(long, short) {
		return len(short) >= begin
	}
	if len(short) < letters || long == "" || short[0] != long[0] {
		return false
	}
	rest := short
	for _, r := range long {
		if rest != "" && rune(rest[0]) == r {
			rest = rest[1:]
		}
	}
	return rest == ""
}

// likeness compares two lists of words: from 0, nothing in common, to 1, the same.
func likeness(a, b []string) float64 {
	if len(a)+len(b) == 0 {
		return 0
	}
	return 2 * common(a, b) / float64(len(a)+len(b))
}

// alike compares two names by their words and by their letters.
func alike(a, b []string) float64 {
	const enoughLetters = 0.6
	score := likeness(a, b)
	if letters := didyoumean.Likeness(strings.Join(a, ""), strings.Join(b, "")); letters >= enoughLetters {
		score = max(score, letters)
	}
	return max(score, ending(strings.Join(a, ""), strings.Join(b, "")))
}

// ending returns how much of two words is the same at their ends, if that is long: pipelines.
func ending(a, b string) float64 {
	const long = 6
	n := 0
	for n < min(len(a), len(b)) && a[len(a)-n-1] == b[len(b)-n-1] {
		n++
	}
	if n < long {
		return 0
	}
	return 2 * float64(n) / float64(len(a)+len(b))
}

func shareWord(a, b []string) bool {
	return slices.ContainsFunc(a, func(word string) bool { return slices.Contains(b, word) })
}
