package transform

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

var errWrongForm = errors.New("the value does not have the form that the codec takes")

// encodeInt takes integers as the API server spells them.
func encodeInt(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	i, ok := int64Of(string(text))
	return jsondoc.StringValue(strconv.FormatInt(i, 10)), ok
}

func decodeInt(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	i, ok := int64Of(stringIn(text))
	return jsondoc.IntValue(i), ok
}

// stringIn returns the string that text is, or an empty one if it is something else.
func stringIn(text []byte) string {
	if text[0] != '"' {
		return ""
	}
	return jsondoc.Unquote(text)
}

// encodeNumber writes a number as the API server spells it, so that storing it changes nothing.
func encodeNumber(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	number, err := jsondoc.CanonicalNumber(string(text))
	return jsondoc.StringValue(number), err == nil
}

func decodeNumber(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	s := stringIn(text)
	if !validNumber(s) {
		return jsondoc.Value{}, false
	}
	number, err := jsondoc.CanonicalNumber(s)
	return rawValue([]byte(number)), err == nil
}

func encodeBool(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	return jsondoc.StringValue(string(text)), true
}

func decodeBool(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	s := jsondoc.Unquote(text)
	return rawValue([]byte(s)), s == "true" || s == "false"
}

// maxSeconds bounds a time.Duration.
const maxSeconds = math.MaxInt64 / int64(time.Second)

// encodeSeconds writes a duration as Go and Kubernetes do: 1m30s.
func encodeSeconds(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	seconds, ok := int64Of(string(text))
	return jsondoc.StringValue((time.Duration(seconds) * time.Second).String()), ok && -maxSeconds <= seconds && seconds <= maxSeconds
}

// decodeSeconds takes durations of whole seconds.
func decodeSeconds(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	d, ok := parseDuration(jsondoc.Unquote(text))
	return jsondoc.IntValue(int64(d / time.Second)), ok && d%time.Second == 0
}

// encodeNanoseconds writes a time.Duration as Go and Kubernetes do.
func encodeNanoseconds(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	d, ok := int64Of(string(text))
	return jsondoc.StringValue(time.Duration(d).String()), ok
}

func decodeNanoseconds(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	d, ok := parseDuration(jsondoc.Unquote(text))
	return jsondoc.IntValue(int64(d)), ok
}

// parseDuration takes weeks and days in front of what time.ParseDuration takes, as the API server
// does for `format: duration` (k8s.io/kube-openapi/pkg/validation/strfmt).
func parseDuration(text string) (time.Duration, bool) {
	parts := weeksAndDays.FindStringSubmatch(text)
	weeks, _ := strconv.Atoi(parts[1])
	days, _ := strconv.Atoi(parts[2])
	d := time.Duration(7*weeks+days) * 24 * time.Hour
	rest := parts[3]
	if rest == "" && text != "" {
		return d, true
	}
	more, err := time.ParseDuration(rest)
	signed := rest != text && (rest[0] == '-' || rest[0] == '+')
	return d + more, err == nil && !signed && more <= math.MaxInt64-d
}

var weeksAndDays = regexp.MustCompile(`(?s)^(?:(\d{1,4})w)?(?:(\d{1,4})d)?(.*)$`)

// countable reports whether all values of a place fit into a time.Duration as seconds.
func countable(n *crdschema.Node) bool {
	if n.Kind() != crdschema.Integer {
		return false
	}
	v := n.Structural().ValueValidation
	return n.Format() == "int32" ||
		v != nil && v.Minimum != nil && v.Maximum != nil && *v.Minimum >= -float64(maxSeconds) && *v.Maximum <= float64(maxSeconds)
}

// encodeQuantity writes a quantity with the largest binary suffix that divides it: 10Gi, 1000.
func encodeQuantity(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	i, ok := int64Of(string(text))
	if -1024 < i && i < 1024 { // Quantity would use a decimal suffix: 1k
		return jsondoc.StringValue(strconv.FormatInt(i, 10)), ok
	}
	return jsondoc.StringValue(resource.NewQuantity(i, resource.BinarySI).String()), ok
}

// decodeQuantity takes quantities that are whole numbers, and numbers.
func decodeQuantity(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	s := string(text)
	if text[0] == '"' {
		s = jsondoc.Unquote(text)
	}
	if i, ok := int64Of(s); ok {
		return jsondoc.IntValue(i), true
	}
	if !quantityForm.MatchString(s) {
		return jsondoc.Value{}, false
	}
	q, err := resource.ParseQuantity(s)
	i := q.Value() // the largest int64 if the quantity is larger
	return jsondoc.IntValue(i), err == nil && i != math.MaxInt64 && i > -math.MaxInt64 && q.CmpInt64(i) == 0
}

// quantityForm excludes quantities that the parser would take long to read or would round, as they
// have more digits than an int64.
var quantityForm = regexp.MustCompile(`^[+-]?[0-9]{0,24}(\.[0-9]{0,9})?([a-zA-Z]{0,2}|[eE][+-]?[0-9]{1,2})$`)
