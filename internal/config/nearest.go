package config

import (
	"strings"
	"unicode"

	"github.com/crdconvert/webhookd/internal/editdistance"
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
		if d := editdistance.Swapping(word, k.Name); d < bestDistance {
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
