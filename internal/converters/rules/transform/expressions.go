package transform

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// expressions compiles `toHub` and `toSpoke`.
func (c *compiler) expressions() Transform {
	return c.checked(
		c.expression("toHub", c.rule.ToHub, &c.spoke, &c.hub),
		c.expression("toSpoke", c.rule.ToSpoke, &c.hub, &c.spoke),
	)
}

// expression compiles one direction. Without an expression, all outputs are absent.
func (c *compiler) expression(key string, text *syntax.Text, from, to *side) *Way {
	if text == nil {
		return &Way{run: func(*Call, []Operand, []Operand) error { return nil }}
	}
	e := c.newExpression(key, text, from)
	if e == nil {
		return failing()
	}
	total, constants := e.checkResult(to)
	compiled := e.program()
	if compiled == nil {
		return failing()
	}
	names := to.names()
	if !to.named() {
		names = nil
	}
	return &Way{Total: total, Reads: e.reads(), Constants: constants, run: func(call *Call, in, out []Operand) error {
		v, err := compiled.eval(call, in)
		if err != nil {
			return err
		}
		return putResult(v, names, out)
	}}
}

var errNoMap = errors.New("the result is not a map of the named values")

// putResult puts the result of an expression into the operands of a side, by their names if it has
// any.
func putResult(v ref.Val, names []string, out []Operand) error {
	if len(out) == 0 {
		return nil
	}
	if o, ok := v.(*types.Optional); ok {
		if !o.HasValue() {
			return nil
		}
		v = o.GetValue()
	}
	if names == nil {
		return putValue(v, &out[0], maxResult)
	}
	m, ok := v.(traits.Mapper)
	if !ok {
		return errNoMap
	}
	left, found := maxResult, 0
	for i, name := range names {
		value, present := m.Find(types.String(name))
		if !present {
			continue
		}
		found++
		if o, ok := value.(*types.Optional); ok && !o.HasValue() {
			continue
		}
		if err := putValue(value, &out[i], left); err != nil {
			return err
		}
		left -= len(out[i].Value.Text())
	}
	if m.Size() != types.Int(found) {
		return errNoMap
	}
	return nil
}

func putValue(v ref.Val, out *Operand, limit int) error {
	if s, ok := v.(types.String); ok { // the usual case; it is valid JSON already (BenchmarkConvert in package rules)
		value := jsondoc.StringValue(string(s))
		if len(value.Text()) > limit {
			return celvalue.ErrTooLarge
		}
		*out = Operand{Value: value, Present: true}
		return nil
	}
	text, err := celvalue.AppendJSON(nil, v, limit)
	if err != nil {
		return err
	}
	value, err := jsondoc.RawValue(text)
	*out = Operand{Value: value, Present: err == nil}
	return err
}

// A Guard decides whether a rule applies to an object. It is immutable and safe for concurrent use
// with different calls.
type Guard struct {
	run     func(c *Call, in []Operand) (bool, error)
	reads   []Read
	implied [][]syntax.Segment
}

// Holds reports whether the rule applies to the object, given its values on the side that is
// converted from. If the expression fails for the values, Holds returns false and an error. If
// c.Context is done, the result says nothing.
func (g *Guard) Holds(c *Call, in []Operand) (bool, error) { return g.run(c, in) }

// Reads returns what Holds reads of the object, other than its inputs. It must not be changed. A
// nil guard reads nothing.
func (g *Guard) Reads() []Read {
	if g == nil {
		return nil
	}
	return g.reads
}

// Implied returns places of the object that exist whenever the guard holds. It must not be changed.
// A nil guard implies none.
func (g *Guard) Implied() [][]syntax.Segment {
	if g == nil {
		return nil
	}
	return g.implied
}

// CompileGuard returns the guard of a rule for one direction: `whenToSpoke` if backward is true,
// else `whenToHub`; nil if the rule has none. Nodes are the schemas of the rule's paths on the side
// that is converted from, root is the schema of that version, and element what `element` is there.
func CompileGuard(e *Env, rule *syntax.Rule, backward bool, nodes []*crdschema.Node, root *crdschema.Node, element *Element) (
	*Guard, []finding.Finding,
) {
	c := &compiler{env: e, rule: rule}
	key, text, from := "whenToHub", rule.WhenToHub, &side{key: "spoke", place: rule.Spoke, nodes: nodes, root: root, element: element}
	if backward {
		key, text, from = "whenToSpoke", rule.WhenToSpoke, &side{key: "hub", place: rule.Hub, nodes: nodes, root: root, element: element}
	}
	if text == nil {
		return nil, nil
	}
	never := &Guard{run: func(*Call, []Operand) (bool, error) { return false, errNoWay }}
	x := c.newExpression(key, text, from)
	if x == nil {
		return never, c.findings
	}
	if kind := x.ast.OutputType().Kind(); kind != types.BoolKind && kind != types.DynKind {
		c.say(text.Pos, "expression-result", "compare it with something", "%s gives %s, and a guard is true or false",
			key, cel.FormatCELType(x.ast.OutputType()))
		return never, c.findings
	}
	compiled := x.program()
	if compiled == nil {
		return never, c.findings
	}
	return &Guard{reads: x.reads(), implied: implied(x.ast.NativeRep().Expr()), run: func(call *Call, in []Operand) (bool, error) {
		v, err := compiled.eval(call, in)
		if err != nil {
			return false, err
		}
		if holds, ok := v.(types.Bool); ok {
			return bool(holds), nil
		}
		return false, errEvaluation
	}}, c.findings
}

// implied returns the places of the object that exist whenever the expression is true, as far as
// its form shows it: those of each `has(object.spec.x)` that it joins with &&.
func implied(e ast.Expr) [][]syntax.Segment {
	switch e.Kind() {
	case ast.CallKind:
		if call := e.AsCall(); call.FunctionName() == operators.LogicalAnd {
			return slices.Concat(implied(call.Args()[0]), implied(call.Args()[1]))
		}
	case ast.SelectKind:
		if path, ok := objectPath(e); ok && e.AsSelect().IsTestOnly() {
			return [][]syntax.Segment{path}
		}
	case ast.ComprehensionKind, ast.IdentKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.StructKind, ast.UnspecifiedExprKind:
	}
	return nil
}

// objectPath returns the path of object.a.b.
func objectPath(e ast.Expr) ([]syntax.Segment, bool) {
	switch e.Kind() {
	case ast.IdentKind:
		return nil, e.AsIdent() == "object"
	case ast.SelectKind:
		path, ok := objectPath(e.AsSelect().Operand())
		return append(path, syntax.Segment{Kind: syntax.Field, Name: e.AsSelect().FieldName()}), ok
	case ast.CallKind, ast.ComprehensionKind, ast.ListKind, ast.LiteralKind, ast.MapKind, ast.StructKind, ast.UnspecifiedExprKind:
	}
	return nil, false
}

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
