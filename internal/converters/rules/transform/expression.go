package transform

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An expression is a compiled expression of CEL.
type expression struct {
	program cel.Program
	loops   bool   // it can be stopped only in a comprehension
	cost    uint64 // if it is not counted
	self    []namedNode
	named   bool
	root    *crdschema.Node
	element *Element
}

// The errors of evaluations. They replace those of CEL, which quote values.
var (
	errCost       = errors.New("the expression costs more than 1000000 units")
	errObjectCost = errors.New("the expressions for one object cost more than 10000000 units")
	errEvaluation = errors.New("the expression fails for the value")
	errStopped    = errors.New("the expression was stopped")
)

// eval returns the value of the expression for the object of a call and the values of the rule.
func (e *expression) eval(c *Call, in []Operand) (ref.Val, error) {
	spent := &c.spent
	if c.Mute || spent.units > maxObjectCost {
		spent.totalLimit = true
		return nil, errObjectCost
	}
	before := spent.units
	vars := &activation{call: c, expression: e, in: in}
	var v ref.Val
	var details *cel.EvalDetails
	var err error
	if e.loops {
		v, details, err = e.program.ContextEval(c.Context, vars)
	} else { // CEL would not look at the context, which costs time (BenchmarkConvert in package rules)
		v, details, err = e.program.Eval(vars)
	}
	if details != nil && details.ActualCost() != nil {
		spent.units += *details.ActualCost()
	} else {
		spent.units += e.cost
	}
	if stopped := c.Context.Err(); stopped != nil {
		return nil, fmt.Errorf("%w: %w", errStopped, stopped)
	}
	if err == nil {
		return v, nil
	}
	if err = evaluationError(err); errors.Is(err, errCost) {
		spent.callLimit = true
		if spent.units == before {
			spent.units += maxCallCost
		}
	}
	return nil, err
}

// evaluationError returns the error of an evaluation without the values that it quotes.
func evaluationError(err error) error {
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) && cancelled.Cause == interpreter.CostLimitExceeded || errors.Is(err, errCost) {
		return errCost
	}
	for _, known := range []string{
		"no such key", "no such attribute", "no such overload", "index out of bounds", "division by zero", "modulus by zero",
		"integer overflow", "optional.none() dereference",
	} {
		if strings.Contains(err.Error(), known) {
			return errors.New("the expression fails for the value: " + known)
		}
	}
	return errEvaluation
}

// An activation resolves the variables of one evaluation when they are read.
type activation struct {
	call       *Call
	expression *expression
	in         []Operand
	self       ref.Val
}

// ResolveName implements cel.Activation.
func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case "self":
		if a.self == nil {
			a.self = a.selfValue()
		}
		return a.self, a.self != nil
	case "element":
		if e := a.call.Element; e.Present && a.expression.element != nil {
			return celvalue.New(e.Value.Text(), a.expression.element.Node), true
		}
	case "object":
		o := a.call.view(a.expression.root)
		return o, o != nil
	case "metadata":
		metadata := a.call.viewMetadata(a.expression.root)
		return metadata, metadata != nil
	}
	return nil, false
}

// Parent implements cel.Activation.
func (a *activation) Parent() cel.Activation { return nil }

// selfValue returns the value, or the map of the named values that are present, or nil if there is
// none.
func (a *activation) selfValue() ref.Val {
	e := a.expression
	if !e.named {
		if len(a.in) != 1 || !a.in[0].Present {
			return nil
		}
		return celvalue.New(a.in[0].Value.Text(), e.self[0].node)
	}
	present := make(map[ref.Val]ref.Val, len(a.in))
	for i := range a.in {
		if a.in[i].Present && i < len(e.self) {
			present[types.String(e.self[i].name)] = celvalue.New(a.in[i].Value.Text(), e.self[i].node)
		}
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, present)
}

// view returns the object of the call, or nil if there is none.
func (c *Call) view(root *crdschema.Node) ref.Val {
	if c.object == nil && c.Source != nil {
		if text := c.Source.Object(); len(text) > 0 {
			c.object = celvalue.New(text, root)
		}
	}
	return c.object
}

// viewMetadata returns the metadata of the object, which is empty if the object has none, or nil if
// there is no object.
func (c *Call) viewMetadata(root *crdschema.Node) ref.Val {
	if c.metadata == nil && c.Source != nil {
		c.metadata = celvalue.Object(c.Source.Metadata(), root.Property("metadata"))
	}
	return c.metadata
}
