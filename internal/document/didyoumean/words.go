package didyoumean

import (
	"slices"
	"strings"
	"unicode"
)

// Words splits a name into words, in lower case and in the singular: keyAlgorithms into key and
// algorithm, URIs into uri.
func Words(name string) []string {
	var split strings.Builder
	at := func(i int, is func(rune) bool) bool { return i >= 0 && i < len(name) && is(rune(name[i])) }
	plural := func(i int) bool {
		return i < len(name) && name[i] == 's' && at(i-1, unicode.IsUpper) && !at(i+1, unicode.IsLower)
	}
	for i, r := range name {
		switch begins := !at(i-1, unicode.IsUpper) || at(i+1, unicode.IsLower) && !plural(i+1); {
		case plural(i): // of an acronym
			continue
		case strings.ContainsRune("-_./", r):
			r = ' '
		case unicode.IsUpper(r) && begins:
			split.WriteByte(' ')
		}
		split.WriteRune(unicode.ToLower(r))
	}
	all := strings.Fields(split.String())
	for i, word := range all {
		const shortest = 3
		switch {
		case len(word) > shortest+1 && strings.HasSuffix(word, "ies"):
			all[i] = strings.TrimSuffix(word, "ies") + "y"
		case len(word) > shortest && !strings.HasSuffix(word, "ss") && !strings.HasSuffix(word, "us"):
			all[i] = strings.TrimSuffix(word, "s")
		}
	}
	return all
}

// Similarity compares two lists of words, from 0 to 1: twice the words that they share, by all of
// their words. A short form of a word counts half: config of configuration, cmd of command.
func Similarity(a, b []string) float64 {
	const half = 0.5
	shared, all, left := 0.0, len(a)+len(b), slices.Clone(b)
	take := func(worth float64, alike func(a, b string) bool) {
		a = slices.DeleteFunc(slices.Clone(a), func(word string) bool {
			i := slices.IndexFunc(left, func(other string) bool { return alike(word, other) })
			if i >= 0 {
				left, shared = slices.Delete(left, i, i+1), shared+worth
			}
			return i >= 0
		})
	}
	take(1, func(a, b string) bool { return a == b })
	take(half, func(a, b string) bool { return ShortFor(a, b) || ShortFor(b, a) })
	return 2 * shared / float64(max(all, 1))
}

// ShortFor reports whether a word is a prefix of a longer one, or has its first letter and others
// of it in order: dow of dayofweek.
func ShortFor(short, long string) bool {
	const begin, letters = 2, 3
	if len(short) < begin || long == "" || short[0] != long[0] || len(short) < letters && !strings.HasPrefix(long, short) {
		return false
	}
	for _, r := range long {
		if short != "" && rune(short[0]) == r {
			short = short[1:]
		}
	}
	return short == ""
}
