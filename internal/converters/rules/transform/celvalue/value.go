// Package celvalue lets CEL read JSON text, and writes the results of CEL as JSON.
//
// An object or array stays text until an expression looks inside. Then its members are listed, one
// level deep, and stay text themselves. So an expression that reads one field decodes that field
// alone. Integers are int64, exactly. A value that an expression hands on without a look keeps its
// text to the byte.
//
// Values are for one goroutine, as looking inside changes them.
package celvalue

import (
	"math"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// New returns the CEL value of text, which must be one valid JSON value. Its type follows the
// schema, which may be nil: a number is a double if the schema says number, else an int if it is
// one. The text must not change while the value is in use.
func New(text []byte, node *crdschema.Node) ref.Val {
	if len(text) == 0 {
		return types.NewErr("no JSON")
	}
	switch text[0] {
	case '{':
		return &object{text: text, node: node}
	case '[':
		return &list{text: text, items: node.Items()}
	case '"':
		return types.String(jsondoc.Unquote(text))
	case 't':
		return types.True
	case 'f':
		return types.False
	case 'n':
		return types.NullValue
	}
	return number(string(text), node.Kind())
}

// Object returns the CEL value of an object, which is empty if there is none. It must not be edited
// while the value is in use. What is known of its members need not be read again (BenchmarkKinds in
// package rules).
func Object(n *jsondoc.Node, node *crdschema.Node) ref.Val {
	if n.Kind() != jsondoc.Map {
		return New([]byte("{}"), node)
	}
	return &object{from: n, node: node}
}

// number returns a double if the schema says number, since the expression was type-checked so.
// Otherwise, an integer that does not fit an int is a uint if it fits that, else a double.
func number(text string, kind crdschema.Kind) ref.Val {
	if kind != crdschema.Number {
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			return types.Int(i)
		}
		if u, err := strconv.ParseUint(text, 10, 64); err == nil {
			return types.Uint(u)
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return types.NewErr("number out of range")
	}
	if kind == crdschema.Integer && f == math.Trunc(f) && math.Abs(f) <= 1<<53 { // such as 3.0 or 1e3
		return types.Int(f)
	}
	return types.Double(f)
}
