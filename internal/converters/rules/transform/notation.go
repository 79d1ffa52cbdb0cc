package transform

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// SameValue reports whether two JSON texts are one value in two notations that a codec reads, such
// as "90s" and "1m30s". The comments of YAML are more than notation, and so are the digits of texts
// that are numbers: "1.10" may be a release.
func SameValue(a, b []byte) bool {
	if isNumeric(a) && isNumeric(b) {
		return false
	}
	return slices.ContainsFunc(codecs(), func(k codec) bool {
		if k.name == "YAML" || !textIsOneOf(a, k.encoded) || !textIsOneOf(b, k.encoded) {
			return false
		}
		x, readA := k.decode(a, nil)
		y, readB := k.decode(b, nil)
		return readA && readB && bytes.Equal(x.Text(), y.Text())
	})
}

// isNumeric reports whether a text is a string with nothing but a number.
func isNumeric(text []byte) bool {
	return len(text) > 0 && text[0] == '"' && validNumber(jsondoc.Unquote(text))
}
