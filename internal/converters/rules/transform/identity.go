package transform

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Identity is the transform of a plain pair: values as they are, untouched to the byte, whether the target's schema has
// them or not.
type Identity struct {
	order [2][]int // for each path of the target, that of the source; nil for paths in the same order
	total [2]bool
}

// Forward implements Transform.
func (t *Identity) Forward(_ *Call, in, out []Operand) error { return t.hand(0, in, out) }

// Backward implements Transform.
func (t *Identity) Backward(_ *Call, in, out []Operand) error { return t.hand(1, in, out) }

func (t *Identity) hand(direction int, in, out []Operand) error {
	clear(out)
	for i := range out {
		from := i
		if t.order[direction] != nil {
			from = t.order[direction][i]
		}
		if from < len(in) {
			out[i] = in[from]
		}
	}
	return nil
}

// Injective implements Transform.
func (t *Identity) Injective(bool) bool { return true }

// Total implements Transform.
func (t *Identity) Total(backward bool) bool {
	if backward {
		return t.total[1]
	}
	return t.total[0]
}

// Reads implements Transform.
func (t *Identity) Reads(bool) []Read { return nil }

// identity pairs one path with one, or paths of the same names.
func (c *compiler) identity() Transform {
	t := &Identity{}
	if c.field.named() && c.hub.named() {
		names := [2][]string{c.field.names(), c.hub.names()}
		for _, name := range names[1] {
			t.order[0] = append(t.order[0], slices.Index(names[0], name))
		}
		for _, name := range names[0] {
			t.order[1] = append(t.order[1], slices.Index(names[1], name))
		}
		if slices.Contains(t.order[0], -1) || slices.Contains(t.order[1], -1) {
			c.say(c.rule.Pos, "named-paths-do-not-pair", "give both sides the same names, or add template, toHub and fromHub, or go",
				"the sides name %s and %s", list(names[0]), list(names[1]))
			return nil
		}
	} else if !c.singles() {
		return t // one-sided
	}
	t.total = [2]bool{true, true}
	for i, hub := range c.hub.nodes {
		from := i
		if t.order[0] != nil {
			from = t.order[0][i]
		}
		field := c.field.nodes[from]
		t.total[0] = t.total[0] && Covers(hub, field)
		t.total[1] = t.total[1] && Covers(field, hub)
		if c.rule.Use == nil && !Related(field, hub) {
			c.say(c.hub.place.Paths[i].Pos, "types-differ", typesHint(field, hub), "%s is %s, %s is %s",
				c.field.path(from), field.Kind(), c.hub.path(i), hub.Kind())
		}
	}
	return t
}

// Related reports whether some values, at least, fit both places.
func Related(a, b *crdschema.Node) bool {
	x, y := a.Kind(), b.Kind()
	if x > y {
		x, y = y, x
	}
	switch {
	case x == y, x == crdschema.None, y == crdschema.Any:
		return true
	case x == crdschema.Object:
		return y == crdschema.Map
	case x == crdschema.String, x == crdschema.Integer && y != crdschema.Number:
		return y == crdschema.IntOrString
	}
	return x == crdschema.Integer && y == crdschema.Number || x == crdschema.Number && y == crdschema.IntOrString
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
			return "add codec: IntString, DurationSeconds or QuantityInt, or toHub and fromHub"
		case crdschema.Number:
			return "add codec: NumberString, or toHub and fromHub"
		case crdschema.Boolean:
			return "add codec: BoolString, values, or toHub and fromHub"
		case crdschema.Object, crdschema.Map, crdschema.Array:
			return "add codec: JSON or YAML, template with named paths, or toHub and fromHub"
		default:
		}
	}
	if x == crdschema.Array || y == crdschema.Array {
		return "say which element with [0] or [name=x], or each of them with [], or add toHub and fromHub"
	}
	return "add codec, template or toHub and fromHub"
}
