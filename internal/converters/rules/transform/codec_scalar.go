package transform

import (
	"errors"
	"math"
	"regexp"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

var errWrongForm = errors.New("the value has not the form that the codec takes")

// not is both directions of Not.
func not(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	switch string(text) {
	case "true":
		return jsondoc.RawValue([]byte("false"))
	case "false":
		return jsondoc.RawValue([]byte("true"))
	}
	return jsondoc.Value{}, errWrongForm
}

// encodeInt takes integers as the API server spells them.
func encodeInt(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	i, ok := int64Of(string(text))
	if !ok {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.StringValue(strconv.FormatInt(i, 10)), nil
}

func decodeInt(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	if text[0] != '"' {
		return jsondoc.Value{}, errWrongForm
	}
	i, ok := int64Of(jsondoc.Unquote(text))
	if !ok {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.IntValue(i), nil
}

// encodeNumber writes a number as the API server spells it, so that storing it changes nothing.
func encodeNumber(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	if !jsondoc.IsNumber(text) {
		return jsondoc.Value{}, errWrongForm
	}
	number, err := jsondoc.CanonicalNumber(string(text))
	return jsondoc.StringValue(number), err
}

func decodeNumber(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	if text[0] != '"' || !validNumber(jsondoc.Unquote(text)) {
		return jsondoc.Value{}, errWrongForm
	}
	number, err := jsondoc.CanonicalNumber(jsondoc.Unquote(text))
	if err != nil {
		return jsondoc.Value{}, err
	}
	return jsondoc.RawValue([]byte(number))
}

func encodeBool(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	if text[0] != 't' && text[0] != 'f' {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.StringValue(string(text)), nil
}

func decodeBool(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	if text[0] != '"' {
		return jsondoc.Value{}, errWrongForm
	}
	switch s := jsondoc.Unquote(text); s {
	case "true", "false":
		return jsondoc.RawValue([]byte(s))
	}
	return jsondoc.Value{}, errWrongForm
}

// maxSeconds is what a time.Duration can be.
const maxSeconds = math.MaxInt64 / int64(time.Second)

// encodeSeconds writes a duration as Go and Kubernetes do (1m30s). They cannot read more seconds than they can count.
func encodeSeconds(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	seconds, ok := int64Of(string(text))
	if !ok || seconds > maxSeconds || seconds < -maxSeconds {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.StringValue((time.Duration(seconds) * time.Second).String()), nil
}

// decodeSeconds takes durations of whole seconds.
func decodeSeconds(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	if text[0] != '"' {
		return jsondoc.Value{}, errWrongForm
	}
	d, err := time.ParseDuration(jsondoc.Unquote(text))
	if err != nil || d%time.Second != 0 {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.IntValue(int64(d / time.Second)), nil
}

// countable reports whether the schema has no more seconds at a place than a time.Duration can be.
func countable(n *crdschema.Node) bool {
	if n.Kind() != crdschema.Integer {
		return false
	}
	v := n.Structural().ValueValidation
	return n.Format() == "int32" ||
		v != nil && v.Minimum != nil && v.Maximum != nil && *v.Minimum >= -float64(maxSeconds) && *v.Maximum <= float64(maxSeconds)
}

// encodeQuantity writes a quantity with the largest binary suffix that it is a multiple of: 10Gi, 1000.
func encodeQuantity(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	i, ok := int64Of(string(text))
	if !ok {
		return jsondoc.Value{}, errWrongForm
	}
	if -1024 < i && i < 1024 { // for which Quantity takes decimal suffixes: 1k
		return jsondoc.StringValue(strconv.FormatInt(i, 10)), nil
	}
	return jsondoc.StringValue(resource.NewQuantity(i, resource.BinarySI).String()), nil
}

// decodeQuantity takes quantities that are whole numbers, and numbers.
func decodeQuantity(text []byte, _ *crdschema.Node) (jsondoc.Value, error) {
	s := string(text)
	if text[0] == '"' {
		s = jsondoc.Unquote(text)
	}
	if i, ok := int64Of(s); ok {
		return jsondoc.IntValue(i), nil
	}
	if !smallQuantity(s) {
		return jsondoc.Value{}, errWrongForm
	}
	q, err := resource.ParseQuantity(s)
	if err != nil {
		return jsondoc.Value{}, errWrongForm
	}
	i := q.Value() // what is too large for it has become the largest one already
	if i == math.MaxInt64 || i <= -math.MaxInt64 || q.CmpInt64(i) != 0 {
		return jsondoc.Value{}, errWrongForm
	}
	return jsondoc.IntValue(i), nil
}

// smallQuantity keeps from the parser what would take it long, or what it would round: more digits than an int64 has.
func smallQuantity(s string) bool { return quantityForm.MatchString(s) }

var quantityForm = regexp.MustCompile(`^[+-]?[0-9]{0,24}(\.[0-9]{0,9})?([a-zA-Z]{0,2}|[eE][+-]?[0-9]{1,2})$`)
