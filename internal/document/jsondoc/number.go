package jsondoc

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// IsNumber reports whether valid JSON is a number.
func IsNumber(text []byte) bool {
	return len(text) > 0 && (text[0] == '-' || '0' <= text[0] && text[0] <= '9')
}

// IsInteger reports whether valid JSON is a whole number, in any spelling: 3, 3.0 or 3e0.
func IsInteger(text []byte) bool {
	if !IsNumber(text) {
		return false
	}
	if _, err := strconv.ParseInt(string(text), 10, 64); err == nil {
		return true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	const most = 1<<53 - 1 // larger ones are not integers in github.com/go-openapi/swag/conv
	return err == nil && f == math.Trunc(f) && math.Abs(f) <= most
}

// CanonicalNumber returns a JSON number as the API server decodes and stores it
// (k8s.io/apimachinery/pkg/util/json): an int64 that is spelt as one, or the shortest text of a
// float64. So 1.0 is 1, 0.50 is 0.5, and 9007199254740993 stays. It fails for numbers beyond a
// float64.
func CanonicalNumber(text string) (string, error) {
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return strconv.FormatInt(i, 10), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return "", errors.New("a number is too large")
	}
	return string(AppendFloat(nil, f)), nil
}

// AppendFloat appends a finite f as encoding/json, and so the API server, encodes it.
func AppendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0') // not -0
	}
	text, _ := json.Marshal(f)
	return append(dst, text...)
}
