package transform

import (
	"errors"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform/celvalue"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// expressions compiles `toHub` and `fromHub`.
func (c *compiler) expressions() Transform {
	return c.oneWays(
		c.expression("toHub", c.rule.ToHub, &c.field, &c.hub),
		c.expression("fromHub", c.rule.FromHub, &c.hub, &c.field),
	)
}

// expression compiles one direction. One that is not given gives nothing.
func (c *compiler) expression(key string, text *syntax.Text, from, to *side) oneWay {
	if text == nil {
		return oneWay{run: func(*Call, []Operand, []Operand) error { return nil }}
	}
	e := c.newExpression(key, text, from)
	if e == nil {
		return failing()
	}
	total := e.checkResult(to)
	compiled := e.program()
	if compiled == nil {
		return failing()
	}
	r := result{names: to.names(), named: to.named()}
	return oneWay{total: total, reads: e.reads(), run: func(call *Call, in, out []Operand) error {
		v, err := compiled.eval(call, in)
		if err != nil {
			return err
		}
		return r.put(v, out)
	}}
}

// A result puts what an expression gives into the operands of a side.
type result struct {
	names []string
	named bool
}

var errNoMap = errors.New("the expression gives no map of the named values")

func (r *result) put(v ref.Val, out []Operand) error {
	if o, ok := v.(*types.Optional); ok {
		if !o.HasValue() {
			return nil
		}
		v = o.GetValue()
	}
	if !r.named {
		if len(out) == 0 {
			return nil
		}
		return putValue(v, &out[0], maxResult)
	}
	m, ok := v.(traits.Mapper)
	if !ok {
		return errNoMap
	}
	left, found := maxResult, 0
	for i, name := range r.names {
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
	if s, ok := v.(types.String); ok { // the usual one: what StringValue makes is JSON (BenchmarkConvert in package rules)
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

// A Guard tells whether a rule is for an object. It is immutable and safe for concurrent use with different calls.
type Guard struct {
	run   func(c *Call, in []Operand) (bool, error)
	reads []Read
}

// Holds reports whether the rule is for the object: in are the values of the rule on the side that is converted from. An error
// means that its expression fails for the values, which the caller should take for false; one after which c.Context is
// done says nothing.
func (g *Guard) Holds(c *Call, in []Operand) (bool, error) { return g.run(c, in) }

// Reads returns what Holds reads of the object beside in. It must not be changed; a nil guard reads nothing.
func (g *Guard) Reads() []Read {
	if g == nil {
		return nil
	}
	return g.reads
}

// CompileGuard returns the guard of a rule for one direction: `whenHub` if backward is true, else `when`; nil if the rule
// has none. Nodes are the places of the rule's paths on the side that is converted from, root that version's schema.
func CompileGuard(e *Env, rule *syntax.Rule, backward bool, nodes []*crdschema.Node, root *crdschema.Node) (
	*Guard, []finding.Finding,
) {
	c := &compiler{env: e, rule: rule}
	key, text, from := "when", rule.When, &side{key: "field", place: rule.Field, nodes: nodes, root: root}
	if backward {
		key, text, from = "whenHub", rule.WhenHub, &side{key: "hub", place: rule.Hub, nodes: nodes, root: root}
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
			key, typeName(x.ast.OutputType()))
		return never, c.findings
	}
	compiled := x.program()
	if compiled == nil {
		return never, c.findings
	}
	return &Guard{reads: x.reads(), run: func(call *Call, in []Operand) (bool, error) {
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
