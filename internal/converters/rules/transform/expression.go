package transform

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// An expression is a compiled expression of CEL.
type expression struct {
	program cel.Program
	loops   bool   // only comprehensions are stopped on the way
	cost    uint64 // where it is not counted
	self    []NamedNode
	named   bool
	root    *crdschema.Node
}

// What can be wrong with an evaluation. Errors of CEL itself quote values.
var (
	errCost       = errors.New("the expression costs more than 1000000 units")
	errObjectCost = errors.New("the expressions for one object cost more than 10000000 units")
	errEvaluation = errors.New("the expression fails for the value")
	errStopped    = errors.New("the expression was stopped")
)

// eval returns the value of the expression for an object of call and the values of the rule.
func (e *expression) eval(c *Call, in []Operand) (ref.Val, error) {
	spent := &c.spent
	if c.Mute || spent.units > maxObjectCost {
		spent.totalLimit = true
		return nil, errObjectCost
	}
	before := spent.units
	v, details, err := e.run(c.Context, &activation{call: c, expression: e, in: in})
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

// run evaluates the expression. CEL looks at the context in comprehensions alone, and without them need not be given it
// (BenchmarkConvert in package rules).
func (e *expression) run(ctx context.Context, vars *activation) (ref.Val, *cel.EvalDetails, error) {
	if e.loops {
		return e.program.ContextEval(ctx, vars)
	}
	return e.program.Eval(vars)
}

// evaluationError says what is wrong without a value.
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

// activation resolves the variables of one evaluation, each when it is asked for.
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

// selfValue returns the value, the map of the named values that are present, or nil if there is none.
func (a *activation) selfValue() ref.Val {
	e := a.expression
	if !e.named {
		if len(a.in) != 1 || !a.in[0].Present {
			return nil
		}
		return celvalue.New(a.in[0].Value.Text(), e.self[0].Node)
	}
	present := make(map[ref.Val]ref.Val, len(a.in))
	for i := range a.in {
		if a.in[i].Present && i < len(e.self) {
			present[types.String(e.self[i].Name)] = celvalue.New(a.in[i].Value.Text(), e.self[i].Node)
		}
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, present)
}

// view returns the object of the call, read when it is first asked for, or nil if it is not known.
func (c *Call) view(root *crdschema.Node) *celvalue.Object {
	if !c.read && c.Object != nil {
		c.read = true
		if text := c.Object(); len(text) > 0 {
			c.object = celvalue.Root(text, root)
		}
	}
	return c.object
}

// viewMetadata returns the metadata of the object, an empty one if it has none, or nil if the object is not known.
func (c *Call) viewMetadata(root *crdschema.Node) ref.Val {
	if c.metadata == nil {
		c.metadata = c.metadataOf(root)
	}
	return c.metadata
}

func (c *Call) metadataOf(root *crdschema.Node) ref.Val {
	if c.Metadata != nil {
		if text := c.Metadata(); len(text) > 0 && string(text) != "null" {
			return celvalue.Metadata(text, root.Property("metadata"))
		}
	} else if o := c.view(root); o == nil {
		return nil
	} else if metadata, found := o.Find(types.String("metadata")); found && metadata != types.NullValue {
		return metadata
	}
	return celvalue.New([]byte("{}"), nil)
}
