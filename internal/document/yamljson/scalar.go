package yamljson

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// scalarKind is how kubectl reads a scalar.
type scalarKind int

const (
	otherScalar scalarKind = iota
	stringScalar
	nullScalar
	boolScalar
	intScalar
	floatScalar
)

// kindOf resolves a scalar as kubectl does: dates are strings, old booleans are booleans.
func kindOf(n *yaml.Node) scalarKind {
	switch n.ShortTag() {
	case "!!str":
		if _, old := oldBool(n.Value); old && n.Style == 0 {
			return boolScalar
		}
		return stringScalar
	case "!!null":
		return nullScalar
	case "!!bool":
		return boolScalar
	case "!!int":
		if signedOctal.MatchString(n.Value) && n.Style&yaml.TaggedStyle == 0 {
			return stringScalar
		}
		return intScalar
	case "!!float":
		return floatScalar
	case "!!timestamp", "!!merge":
		if n.Style&yaml.TaggedStyle == 0 {
			return stringScalar
		}
	}
	return otherScalar
}

// signedOctal is a number to newer parsers only.
var signedOctal = regexp.MustCompile(`^0_*o_*[-+]`)

// oldBool reads a boolean of YAML 1.1 (yaml.org/type/bool.html) that newer parsers dropped.
func oldBool(text string) (value, ok bool) {
	switch text {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return true, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return false, true
	}
	return false, false
}

// scalar returns the JSON of a scalar.
func scalar(n *yaml.Node) ([]byte, error) {
	switch kindOf(n) {
	case stringScalar:
		if n.Style == 0 && isJSONNumber(n.Value) {
			return nil, fail(n, "a number too large for kubectl, which takes it for a string; put it in quotes")
		}
		return quote(n.Value), nil
	case nullScalar:
		return []byte("null"), nil
	case boolScalar:
		return boolean(n)
	case intScalar, floatScalar:
		return number(n)
	case otherScalar:
	}
	return nil, fail(n, "tags are not supported, remove it: %s", n.Tag)
}

func boolean(n *yaml.Node) ([]byte, error) {
	value, old := oldBool(n.Value)
	if !old {
		if err := n.Decode(&value); err != nil {
			return nil, fail(n, "not a boolean, write true or false")
		}
	}
	return strconv.AppendBool(nil, value), nil
}

// jsonNumber is the grammar of RFC 8259, section 6.
var jsonNumber = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$`)

func isJSONNumber(text string) bool { return jsonNumber.MatchString(text) }

// number keeps the spelling of a JSON number, and converts YAML's others: octal, hexadecimal and
// binary ones, and those with underscores, a plus or a bare point.
func number(n *yaml.Node) ([]byte, error) {
	if isJSONNumber(n.Value) {
		return []byte(n.Value), nil
	}
	var value any
	if err := n.Decode(&value); err != nil {
		return nil, fail(n, "not a number, write it in decimal digits")
	}
	switch v := value.(type) {
	case int:
		return strconv.AppendInt(nil, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(nil, v, 10), nil
	case uint64:
		return strconv.AppendUint(nil, v, 10), nil
	case float64:
		if text := plainDecimal(n.Value); isJSONNumber(text) && !math.IsInf(v, 0) && !math.IsNaN(v) {
			return []byte(text), nil
		}
	}
	return nil, fail(n, "a number that JSON cannot spell, write it in decimal digits or put it in quotes")
}

// plainDecimal spells +1.5, 1_000.5, .5, 5. and 05.5 as JSON does.
func plainDecimal(text string) string {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "_", ""), "+")
	digits, negative := strings.CutPrefix(text, "-")
	for len(digits) > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9' {
		digits = digits[1:]
	}
	if strings.HasPrefix(digits, ".") {
		digits = "0" + digits
	}
	if before, after, ok := strings.Cut(digits, "."); ok && (after == "" || after[0] == 'e' || after[0] == 'E') {
		digits = before + ".0" + after
	}
	if negative {
		return "-" + digits
	}
	return digits
}
