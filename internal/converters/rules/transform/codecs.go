package transform

import (
	"bytes"
	"encoding/base64"
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

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

// encodeJSON writes a value in canonical order, so that the order in which the API server sends it
// makes no difference. Numbers keep their spelling.
func encodeJSON(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	sorted, ok := sortedJSON(make([]byte, 0, len(text)), text, false)
	return jsondoc.StringValue(string(sorted)), ok
}

func decodeJSON(text []byte, to *crdschema.Node) (jsondoc.Value, bool) {
	return decoded([]byte(jsondoc.Unquote(text)), to)
}

// decoded returns a value with its numbers as the API server will store them, so that the way back
// already shows what is lost.
func decoded(text []byte, to *crdschema.Node) (jsondoc.Value, bool) {
	v, err := jsondoc.RawValue(text)
	if err != nil {
		return jsondoc.Value{}, false
	}
	sorted, ok := sortedJSON(make([]byte, 0, len(v.Text())), v.Text(), true)
	return rawValue(sorted), ok && Admits(to, sorted)
}

// encodeYAML writes a value as kubectl does.
func encodeYAML(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	sorted, ok := sortedJSON(make([]byte, 0, len(text)), text, false)
	if !ok {
		return jsondoc.Value{}, false
	}
	out, err := yaml.JSONToYAML(sorted)
	return jsondoc.StringValue(string(out)), err == nil && utf8.Valid(out)
}

// decodeYAML reads YAML as kubectl does. It loses comments and layout.
func decodeYAML(text []byte, to *crdschema.Node) (jsondoc.Value, bool) {
	out, err := yaml.YAMLToJSONStrict([]byte(jsondoc.Unquote(text)))
	if err != nil {
		return jsondoc.Value{}, false
	}
	return decoded(out, to)
}

// encodeBase64 encodes no empty text where the API server demands format byte, which an empty text
// does not have (k8s.io/kube-openapi/pkg/validation/strfmt, IsBase64).
func encodeBase64(text []byte, to *crdschema.Node) (jsondoc.Value, bool) {
	plain := jsondoc.Unquote(text)
	return jsondoc.StringValue(base64.StdEncoding.EncodeToString([]byte(plain))), plain != "" || to.Format() != "byte"
}

// decodeBase64 takes only encoded text, which may have line breaks.
func decodeBase64(text []byte, _ *crdschema.Node) (jsondoc.Value, bool) {
	plain, err := base64.StdEncoding.DecodeString(jsondoc.Unquote(text))
	return jsondoc.StringValue(string(plain)), err == nil && utf8.Valid(plain)
}

// int64Of returns the integer that the text spells as the API server does: not -0 or 3.0.
func int64Of(text string) (int64, bool) {
	i, err := strconv.ParseInt(text, 10, 64)
	return i, err == nil && strconv.FormatInt(i, 10) == text
}

// validNumber reports whether the text is a number as JSON spells it.
func validNumber(text string) bool {
	v, err := jsondoc.RawValue([]byte(text))
	return err == nil && jsondoc.IsNumber(v.Text()) && len(v.Text()) == len(text)
}

// valueKey returns a text that is the same for equal values: strings whatever their escapes,
// objects whatever their order, and numbers that are the same to the API server (see
// jsondoc.CanonicalNumber).
func valueKey(text []byte) string {
	if len(text) > 0 && (text[0] == 'n' || text[0] == 't' || text[0] == 'f' || text[0] == '"' && !bytes.ContainsRune(text, '\\')) {
		return string(text) // it has one form (BenchmarkKinds in package rules)
	}
	sorted, ok := sortedJSON(make([]byte, 0, len(text)), text, true)
	if !ok {
		return string(text) // a number that the API server refuses
	}
	return string(sorted)
}

// sortedJSON appends a JSON value in canonical form: names in order, no white space, no needless
// escapes. Numbers keep their spelling unless canonical is true. When members share a name, the
// last one wins.
func sortedJSON(dst, text []byte, canonical bool) ([]byte, bool) {
	switch {
	case len(text) == 0:
		return dst, false
	case text[0] == '{':
		return sortedObject(dst, text, canonical)
	case text[0] == '[':
		dst = append(dst, '[')
		ok := jsondoc.AllElements(text, func(element []byte) (ok bool) {
			if dst[len(dst)-1] != '[' {
				dst = append(dst, ',')
			}
			dst, ok = sortedJSON(dst, element, canonical)
			return ok
		})
		return append(dst, ']'), ok
	case text[0] == '"' && (bytes.IndexByte(text, '\\') >= 0 || !utf8.Valid(text)):
		return jsondoc.AppendString(dst, jsondoc.Unquote(text)), true
	case canonical && jsondoc.IsNumber(text):
		number, err := jsondoc.CanonicalNumber(string(text))
		return append(dst, number...), err == nil
	}
	return append(dst, text...), true
}

func sortedObject(dst, text []byte, canonical bool) ([]byte, bool) {
	type member struct{ name, text []byte }
	const usual = 8
	members := make([]member, 0, usual)
	s, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err == nil {
		err = s.EveryMember(func(name []byte) error {
			at, err := s.Skip()
			members = append(members, member{name, s.Text(at)})
			return err
		})
	}
	slices.Reverse(members) // the last one of a name comes first
	slices.SortStableFunc(members, func(a, b member) int { return bytes.Compare(a.name, b.name) })
	members = slices.CompactFunc(members, func(a, b member) bool { return bytes.Equal(a.name, b.name) })
	dst = append(dst, '{')
	ok := err == nil
	for i, m := range members {
		if i > 0 {
			dst = append(dst, ',')
		}
		var valid bool
		dst, valid = sortedJSON(append(jsondoc.AppendString(dst, m.name), ':'), m.text, canonical)
		ok = ok && valid
	}
	return append(dst, '}'), ok
}
