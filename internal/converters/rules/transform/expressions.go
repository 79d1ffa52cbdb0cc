package transform

import (
	"errors"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

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
