package celvalue

import (
	"math"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// New returns the CEL value of text, which must be one valid JSON value, typed by its place in a schema: a number is a
// double where the schema says number, and else an int if it is one. A nil node says nothing. The text must not change
// while the value is in use.
func New(text []byte, node *crdschema.Node) ref.Val { return newValue(text, node, 0) }

func newValue(text []byte, node *crdschema.Node, hide hiding) ref.Val {
	if len(text) == 0 {
		return types.NewErr("no JSON")
	}
	switch text[0] {
	case '{':
		return &Object{text: text, node: node, hide: hide}
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

// number returns a double where the schema has numbers, so that expressions that were checked with doubles get them. For
// other places, what is too big for an int is a uint if it fits, or a double.
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
	if kind == crdschema.Integer && f == math.Trunc(f) && math.Abs(f) <= 1<<53 { // 3.0 and 1e3 are integers, too
		return types.Int(f)
	}
	return types.Double(f)
}
