package transform

import (
	"context"

	"github.com/google/cel-go/common/types/ref"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// An Operand is the value of one path of a rule: present or absent. A JSON null is present.
type Operand struct {
	Value   jsondoc.Value
	Present bool
}

// A Transform is what a rule does with its values: Forward from the version to the hub, Backward from the hub to the
// version. In and out have one operand for each path of the side, in the order of the rule; Forward and Backward set all of
// out, and leave in alone. Where all of in is absent (and there is any), all of out is absent.
//
// An error means that the values cannot be converted: all of out is absent then, and the caller must keep what was in. It
// never quotes a value. An error after which c.Context is done says nothing about the values: the conversion has to fail.
//
// A Transform is immutable, deterministic and safe for concurrent use with different calls.
type Transform interface {
	Forward(c *Call, in, out []Operand) error
	Backward(c *Call, in, out []Operand) error
	// Injective reports for Forward, or for Backward if backward is true, that wherever it gives no error the other
	// direction gives its in back exactly, as JSON values and numbers by their text, so that there is nothing to check. Numbers
	// that the API server spells another way may come back as it does: 0.50 as 0.5.
	Injective(backward bool) bool
	// Total reports for Forward, or for Backward if backward is true, that it gives a value for every path of the other
	// side, which that side's schema allows, for every in that has a value of the schema for every path: integers that are
	// int64 and spelt as the API server does, which turns 5.0 into 5.
	Total(backward bool) bool
	// Reads returns what Forward, or Backward if backward is true, reads of the object beside in. It must not be changed.
	Reads(backward bool) []Read
}

// A Call is one object that is converted, as transforms and guards see it: what bounds them, and what `object` and
// `metadata` are in CEL. It is for one object and one goroutine.
type Call struct {
	// Context ends evaluations. It must not be nil.
	Context context.Context //nolint:containedctx // a call is an argument
	// Object returns the text of the object that the values are of. It is called once, when an expression first reads it,
	// and may be nil for an object that is not known. The text must stay as it is while the call is in use.
	Object func() []byte
	// Metadata returns the text of the metadata in that, if there is one, and takes less time. It may be nil.
	Metadata func() []byte
	// Mute has all expressions and guards fail as those do that cost too much.
	Mute bool

	spent    spending
	object   *celvalue.Object
	read     bool
	metadata ref.Val
}

// A spending is what the expressions for one object have cost.
type spending struct {
	units                 uint64
	callLimit, totalLimit bool // an expression failed for it
}

// CallLimit reports whether an expression failed because it cost more than one may.
func (c *Call) CallLimit() bool { return c.spent.callLimit }

// TotalLimit reports whether an expression failed because those before it have cost what all for one object may. Which ones fail
// for that depends on their order.
func (c *Call) TotalLimit() bool { return c.spent.totalLimit }

// A GoFunc is what `go: name` means: two functions of the operands of a rule, each side in the order of its paths. They are
// pure, know fragments, and return as many operands as the other side has paths, all absent if nothing is present. An
// error means that the values cannot be converted, and is neither shown nor logged.
type GoFunc struct {
	ToHub, FromHub func(ctx context.Context, in []Operand) ([]Operand, error)
}

// A NamedNode is a place that an expression knows by a name: `self.name`. One that is alone may have no name and is `self`.
type NamedNode struct {
	Name string
	Node *crdschema.Node
}
