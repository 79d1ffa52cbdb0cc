package transform

import (
	"bytes"
	"slices"
)

// SameValue reports whether two JSON texts are one value in two notations that a codec reads, such
// as "90s" and "1m30s". The comments of YAML are more than notation.
func SameValue(a, b []byte) bool {
	return slices.ContainsFunc(codecs(), func(k codec) bool {
		if k.name == "YAML" || !textIsOneOf(a, k.encoded) || !textIsOneOf(b, k.encoded) {
			return false
		}
		x, readA := k.decode(a, nil)
		y, readB := k.decode(b, nil)
		return readA && readB && bytes.Equal(x.Text(), y.Text())
	})
}
