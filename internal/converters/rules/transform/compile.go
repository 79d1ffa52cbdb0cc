package transform

import (
	"errors"
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Compile returns the transform of a rule with two sides, or with one side and an expression for it. Field and hub are the
// places of the rule's paths in their order (empty for a side that is not there; nil for a place that is unknown, which
// takes any value); the roots are those of the two versions. Findings are what is wrong with the rule itself and its
// types. There is always a transform; one with findings that leave nothing to run fails for every value. `use`, `when`,
// `default` and `drop` are not Compile's business, but for the findings that they make needless: the values of a pair with
// `use` need not fit.
func Compile(e *Env, rule *syntax.Rule, field, hub []*crdschema.Node, fieldRoot, hubRoot *crdschema.Node) (
	Transform, []finding.Finding,
) {
	c := &compiler{
		env: e, rule: rule,
		field: side{key: "field", place: rule.Field, nodes: field, root: fieldRoot},
		hub:   side{key: "hub", place: rule.Hub, nodes: hub, root: hubRoot},
	}
	t := c.compile()
	if t == nil {
		t = c.oneWays(failing(), failing())
	}
	return t, c.findings
}

type compiler struct {
	env        *Env
	rule       *syntax.Rule
	field, hub side
	findings   []finding.Finding
}

// A side of a rule: its paths, and what the schema has there.
type side struct {
	key   string // in the file
	place *syntax.Place
	nodes []*crdschema.Node
	root  *crdschema.Node
}

func (s *side) single() bool { return s.place != nil && !s.place.Named && len(s.nodes) == 1 }

func (s *side) named() bool { return s.place != nil && s.place.Named }

// node returns the place of a side with one path.
func (s *side) node() *crdschema.Node {
	if len(s.nodes) != 1 {
		return nil
	}
	return s.nodes[0]
}

// path returns a path as it was written.
func (s *side) path(i int) string {
	if s.place == nil || i >= len(s.place.Paths) {
		return s.key
	}
	return s.place.Paths[i].Path.Text
}

// index returns which path has the name, or -1.
func (s *side) index(name string) int {
	if s.place != nil {
		for i := range s.place.Paths {
			if s.place.Paths[i].Name == name {
				return i
			}
		}
	}
	return -1
}

func (s *side) names() []string {
	if s.place == nil {
		return nil
	}
	names := make([]string, len(s.place.Paths))
	for i := range s.place.Paths {
		names[i] = s.place.Paths[i].Name
	}
	return names
}

func (c *compiler) compile() Transform {
	switch r := c.rule; {
	case r.Go != nil:
		return c.goFunc()
	case r.ToHub != nil || r.FromHub != nil:
		return c.expressions()
	case r.Template != nil:
		return c.template()
	case r.Codec != nil:
		return c.codec()
	case r.Values != nil || r.HubValues != nil:
		return c.values()
	}
	return c.identity()
}

// say adds a finding about a part of the rule.
func (c *compiler) say(pos syntax.Position, code, hint, format string, args ...any) {
	c.findings = append(c.findings, finding.Finding{
		Pos: pos, Code: code, Message: c.rule.String() + ": " + fmt.Sprintf(format, args...), Hint: hint,
	})
}

// sayText is say for a stretch of a text, in bytes.
func (c *compiler) sayText(t *syntax.Text, from, to int, code, hint, format string, args ...any) {
	pos, end := t.Span(from, to)
	c.say(pos, code, hint, format, args...)
	c.findings[len(c.findings)-1].EndColumn = end
}

// singles reports whether both sides are one path.
func (c *compiler) singles() bool { return c.field.single() && c.hub.single() }

// A oneWay is one direction of a transform.
type oneWay struct {
	run              func(c *Call, in, out []Operand) error
	injective, total bool
	reads            []Read
}

// ways are a Transform of two functions.
type ways struct {
	forward, backward oneWay
	targets           [2][]*crdschema.Node // of the outputs forward and backward
}

// oneWays returns a transform of two directions, whose outputs are checked against the schemas.
func (c *compiler) oneWays(forward, backward oneWay) Transform {
	return &ways{
		forward: forward, backward: backward,
		targets: [2][]*crdschema.Node{c.hub.nodes, c.field.nodes},
	}
}

// Forward implements Transform.
func (w *ways) Forward(c *Call, in, out []Operand) error { return w.apply(&w.forward, 0, c, in, out) }

// Backward implements Transform.
func (w *ways) Backward(c *Call, in, out []Operand) error { return w.apply(&w.backward, 1, c, in, out) }

var errUnfit = errors.New("the result is no value that the schema allows")

func (w *ways) apply(way *oneWay, direction int, c *Call, in, out []Operand) error {
	clear(out)
	if len(in) > 0 && !anyPresent(in) {
		return nil
	}
	err := way.run(c, in, out)
	for i := range out {
		if err == nil && out[i].Present && i < len(w.targets[direction]) &&
			!Admits(w.targets[direction][i], out[i].Value.Text()) {
			err = errUnfit
		}
	}
	if err != nil {
		clear(out)
	}
	return err
}

// Injective implements Transform.
func (w *ways) Injective(backward bool) bool {
	if backward {
		return w.backward.injective
	}
	return w.forward.injective
}

// Total implements Transform.
func (w *ways) Total(backward bool) bool {
	if backward {
		return w.backward.total
	}
	return w.forward.total
}

// Reads implements Transform.
func (w *ways) Reads(backward bool) []Read {
	if backward {
		return w.backward.reads
	}
	return w.forward.reads
}

func anyPresent(operands []Operand) bool {
	for i := range operands {
		if operands[i].Present {
			return true
		}
	}
	return false
}

// failing is a direction that the rule does not have, or has wrong.
func failing() oneWay {
	return oneWay{run: func(*Call, []Operand, []Operand) error { return errNoWay }}
}

var errNoWay = errors.New("the rule does not convert in this direction")

// list writes words for a message: a, b, c. There may be as many as a schema has.
func list(words []string) string {
	const most = 20
	if len(words) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
	}
	return strings.Join(words, ", ")
}
