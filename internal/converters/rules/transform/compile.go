package transform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Compile returns the transform of a rule that has two sides, or one side and an expression for it.
// Nodes are the schemas of the rule's paths on both sides, in their order: none for a side that the
// rule does not have, nil for a path that takes any value. Roots are the schemas of the two
// versions; element is what its expressions read as `element` in both, or nil.
//
// Findings are about the rule itself and its types. A direction that findings leave nothing to run
// for fails for every value. Compile ignores `use`, conditions, defaults and `drop`, except that
// the types of a pair with `use` need not fit.
func Compile(e *Env, rule *syntax.Rule, nodes [2][]*crdschema.Node, roots [2]*crdschema.Node, element [2]*Element) (
	Transform, []finding.Finding,
) {
	c := &compiler{
		env: e, rule: rule,
		spoke: side{key: "spoke", place: rule.Spoke, nodes: nodes[0], root: roots[0], element: element[0]},
		hub:   side{key: "hub", place: rule.Hub, nodes: nodes[1], root: roots[1], element: element[1]},
	}
	t := c.compile()
	c.omitEmpty(t)
	for i := range t {
		if t[i] == nil {
			t[i] = failing()
		}
	}
	return t, c.findings
}

type compiler struct {
	env        *Env
	rule       *syntax.Rule
	spoke, hub side
	findings   []finding.Finding
}

// A side of a rule: its paths and their schemas.
type side struct {
	key     string // in the file
	place   *syntax.Place
	nodes   []*crdschema.Node
	root    *crdschema.Node
	element *Element // nil if the rule is in none
}

// An Element is the schema of what expressions read as `element`: the element that a rule's places
// are in, or the place that its rule set is applied to. A nil Node allows any value.
type Element struct{ Node *crdschema.Node }

func (s *side) single() bool { return s.place != nil && !s.place.Named && len(s.nodes) == 1 }

func (s *side) named() bool { return s.place != nil && s.place.Named }

// node returns the schema of a side with one path.
func (s *side) node() *crdschema.Node {
	if len(s.nodes) != 1 {
		return nil
	}
	return s.nodes[0]
}

// path returns a path as it is written in the file.
func (s *side) path(i int) string {
	if s.place == nil || i >= len(s.place.Paths) {
		return s.key
	}
	return s.place.Paths[i].Path.Text
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

// index returns which path has the name, or -1.
func (s *side) index(name string) int { return slices.Index(s.names(), name) }

func (c *compiler) compile() Transform {
	switch r := c.rule; {
	case r.Go != nil:
		return c.goFunc()
	case r.ToHub != nil || r.ToSpoke != nil:
		return c.expressions()
	case r.Template != nil:
		return c.template()
	case r.Codec != nil:
		return c.codec()
	case r.Values != nil || r.HubValues != nil:
		return c.values()
	}
	t := c.pair()
	if c.rule.OmitEmpty != "" {
		return c.checked(t[0], t[1])
	}
	return t
}

// say adds a finding about a part of the rule.
func (c *compiler) say(pos syntax.Position, code, hint, format string, args ...any) {
	c.findings = append(c.findings, finding.Finding{
		Pos: pos, Code: code, Message: c.rule.String() + ": " + fmt.Sprintf(format, args...), Hint: hint,
	})
}

// sayText adds a finding about the bytes of a text between two offsets.
func (c *compiler) sayText(t *syntax.Text, from, to int, code, hint, format string, args ...any) {
	pos, end := t.Span(from, to)
	c.say(pos, code, hint, format, args...)
	c.findings[len(c.findings)-1].EndColumn = end
}

// singles reports whether both sides are one path.
func (c *compiler) singles() bool { return c.spoke.single() && c.hub.single() }

// checked returns a transform whose outputs are checked against the schemas.
func (c *compiler) checked(forward, backward *Way) Transform {
	forward.targets, backward.targets = c.hub.nodes, c.spoke.nodes
	return Transform{forward, backward}
}

// List joins words for a message, as there may be many in a schema: a, b, c and 7 more.
func List(words []string) string {
	const most = 20
	if len(words) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
	}
	return strings.Join(words, ", ")
}

// pair compiles a plain pair: of one path with one, or of paths that have the same names. Values
// stay as they are to the byte, whether the target's schema allows them or not.
func (c *compiler) pair() Transform {
	order := [2][]int{{0}, {0}} // for each path of the target, the path of the source
	if c.spoke.named() && c.hub.named() {
		names := [2][]string{c.spoke.names(), c.hub.names()}
		for to := range names {
			order[1-to] = nil
			for _, name := range names[to] {
				order[1-to] = append(order[1-to], slices.Index(names[1-to], name))
			}
		}
		if slices.Contains(order[0], -1) || slices.Contains(order[1], -1) {
			c.say(c.rule.Pos, "named-paths-do-not-pair", "give both sides the same names, or add template, toHub and toSpoke, or go",
				"the sides name %s and %s", List(names[0]), List(names[1]))
			return Transform{}
		}
	} else if !c.singles() {
		return Transform{handing(order[0]), handing(order[1])} // one-sided
	}
	t := Transform{handing(order[0]), handing(order[1])}
	t[0].Total, t[1].Total = true, true
	for i, hub := range c.hub.nodes {
		from := order[0][i]
		spoke := c.spoke.nodes[from]
		t[0].Total = t[0].Total && Covers(hub, spoke)
		t[1].Total = t[1].Total && Covers(spoke, hub)
		if c.rule.Use == nil && !Related(spoke, hub) {
			c.say(c.hub.place.Paths[i].Pos, "types-differ", typesHint(spoke, hub), "%s is %s, %s is %s",
				c.spoke.path(from), spoke.Kind(), c.hub.path(i), hub.Kind())
		}
	}
	return t
}

func handing(order []int) *Way {
	return &Way{Injective: true, run: func(_ *Call, in, out []Operand) error {
		for i, from := range order {
			if i < len(out) && from < len(in) {
				out[i] = in[from]
			}
		}
		return nil
	}}
}

// Related reports whether at least some values fit both places.
func Related(a, b *crdschema.Node) bool {
	x, y := min(a.Kind(), b.Kind()), max(a.Kind(), b.Kind())
	switch {
	case x == y, x == crdschema.None, y == crdschema.Any:
		return true
	case x == crdschema.Object:
		return y == crdschema.Map
	case x == crdschema.Integer && y == crdschema.Number:
		return true
	}
	return y == crdschema.IntOrString && (x == crdschema.String || x == crdschema.Integer || x == crdschema.Number)
}

// typesHint names the key that converts between the kinds of two places.
func typesHint(a, b *crdschema.Node) string {
	x, y := a.Kind(), b.Kind()
	if y == crdschema.String {
		x, y = y, x
	}
	if x == crdschema.String {
		switch y {
		case crdschema.Integer:
			return "add codec: String, DurationSeconds, DurationNanoseconds or QuantityInt, or toHub and toSpoke"
		case crdschema.Number:
			return "add codec: String, or toHub and toSpoke"
		case crdschema.Boolean:
			return "add codec: String, values, or toHub and toSpoke"
		case crdschema.Object, crdschema.Map, crdschema.Array:
			return "add codec: JSON or YAML, template with named paths, or toHub and toSpoke"
		default:
		}
	}
	if x == crdschema.Array || y == crdschema.Array {
		return "say which element with [0] or [name=x], or each of them with [], or add toHub and toSpoke"
	}
	return "add codec, template or toHub and toSpoke"
}
