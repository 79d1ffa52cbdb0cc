package transform

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

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
