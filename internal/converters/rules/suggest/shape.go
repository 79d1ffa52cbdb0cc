package suggest

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// convert finds how the values of two places may become each other, and reports whether there is a
// way.
func (c *candidate) convert() bool {
	v, h := c.pair[ofVersion].node, c.pair[ofHub].node
	a, b := content(v), content(h)
	switch c.ends = c.pair; {
	case v.Scalar() && h.Scalar():
		return c.scalars()
	case v.Same(h):
		return true
	case v.Kind() == h.Kind() && (a == nil && b == nil || a.SharesName(b)):
		c.ends = c.elements()
		return true
	}
	return c.wrap(ofVersion) || c.wrap(ofHub)
}

// wrap is convert for a value on one side, and one with more structure on the other.
func (c *candidate) wrap(side int) bool {
	a, b := c.pair[side], c.pair[1-side]
	kind, items := a.node.Kind(), b.node.Items()
	switch {
	case kind == crdschema.Map && items != nil:
		keys := append(slices.Clone(b.node.ListMapKeys()), "name", "key", "id")
		i := slices.IndexFunc(keys, func(key string) bool { return items.Property(key).Kind() == crdschema.String })
		if i < 0 {
			return false
		}
		c.why, c.doubt = "a map and a list with keys", i >= len(b.node.ListMapKeys())
		a, b = a.step(syntax.KeyedValues, keys[i]), b.step(syntax.KeyedElements, keys[i])
		if len(a.node.Properties()) == 0 { // else the fields are compared
			b = c.holder(b, a.node, keys[i], c.pair[1-side].words())
		}
	case items != nil && (kind == crdschema.Object && a.node.Agrees(items) || kind == items.Kind() && a.node.Scalar()):
		if kind != crdschema.Object && (a.name() == b.name() || !slices.Equal(a.words(), b.words())) {
			return false
		}
		b, c.why = b.step(syntax.First, ""), "one value, and a list of them"
	case b.node.Kind() == crdschema.Object && kind == crdschema.String && slices.Equal(a.names, b.names) && b.node.PreservesUnknown():
		c.keys, c.why, c.doubt = "codec: YAML", "a text and what may be written in it", true
	case b.node.Kind() == crdschema.Object:
		b, c.why = c.holder(b, a.node, "", b.words()), "a value and an object around it"
	default:
		return false
	}
	c.ends[side], c.ends[1-side] = a, b
	return b.node != nil
}

// holder returns the field of an object that can hold a value: the only one, or the one whose name
// says so.
func (c *candidate) holder(object place, value *crdschema.Node, key string, around []string) place {
	others := slices.DeleteFunc(object.fields(), func(f place) bool { return f.name() == key })
	fits := slices.DeleteFunc(slices.Clone(others), func(f place) bool { return f.node.Kind() != value.Kind() || !f.node.Agrees(value) })
	if len(fits) > 1 {
		fits = slices.DeleteFunc(fits, func(f place) bool {
			return f.name() != "value" && f.name() != "name" && !slices.Equal(f.words(), around)
		})
	}
	if len(fits) != 1 {
		return place{}
	}
	c.doubt = c.doubt || len(others) > 1 || value.Kind() == crdschema.Object
	return fits[0]
}

// scalars is convert for numbers, truth values and texts.
func (c *candidate) scalars() bool {
	v, h := c.pair[ofVersion], c.pair[ofHub]
	kind, values := v.node.Kind(), spelling(v.node.Enum(), h.node.Enum())
	switch {
	case kind == crdschema.Boolean && h.node.Kind() == kind && negative(v) != negative(h):
		c.keys, c.why = "values: {true: false, false: true}", "the opposite"
	case !c.sameName() && strings.TrimPrefix(v.name(), "un") == strings.TrimPrefix(h.name(), "un"):
		return false // unready is not ready
	case values != "" && !v.node.Same(h.node):
		c.keys, c.why = "values: {"+values+"}", "the values are spelled differently"
	case kind == h.node.Kind() && (v.node.Format() == "byte") == (h.node.Format() == "byte"):
		if !v.node.Agrees(h.node) {
			c.why, c.doubt = "other values, which need `values`", true
		}
	case kind == crdschema.String || kind == crdschema.IntOrString:
		return c.codec(h, v)
	default:
		return c.codec(v, h)
	}
	return true
}

// codec is convert for a number, a truth value or bytes, and a text.
func (c *candidate) codec(value, text place) bool {
	a, b := value.node.Kind(), text.node.Kind()
	enum := len(value.node.Enum())+len(text.node.Enum()) > 0
	says := func(words ...string) bool {
		return slices.ContainsFunc(value.words(), func(w string) bool { return slices.Contains(words, w) })
	}
	switch {
	case b == crdschema.String && a == crdschema.Boolean && c.sameName():
		c.keys, c.doubt = "codec: String", enum
	case !enum && (b == crdschema.String || b == crdschema.IntOrString) && a == crdschema.Integer && says("byte"):
		c.keys = "codec: QuantityInt"
	case enum || b != crdschema.String:
	case a == crdschema.String:
		c.keys = "codec: Base64"
	case a == crdschema.Integer && says("second", "timeout", "interval", "duration", "period", "ttl", "delay", "age", "time"):
		c.keys, c.doubt = "codec: DurationSeconds", !says("second")
	case a == crdschema.Integer || a == crdschema.Number: // another name, or a text with a pattern, may have a unit
		v := text.node.Structural().ValueValidation
		c.keys, c.doubt = "codec: String", !c.sameName() || v != nil && v.Pattern != ""
	}
	return c.keys != ""
}

// negative reports whether the name of a place says that something is not.
func negative(p place) bool {
	not := []string{"disable", "disabled", "no", "not", "skip", "without", "deny", "denied", "hidden", "private", "insecure"}
	return slices.ContainsFunc(p.words(), func(w string) bool { return slices.Contains(not, w) })
}

// spelling returns the values of two enums that are spelled differently as a mapping in YAML, if
// each value has one counterpart.
func spelling(version, hub []string) string {
	var pairs []string
	for _, v := range version {
		alike := slices.DeleteFunc(slices.Clone(hub), func(h string) bool { return !spelledAlike(v, h) })
		if len(alike) != 1 || len(version) != len(hub) {
			return ""
		}
		if v != alike[0] {
			pairs = append(pairs, v+": "+alike[0]) // JSON strings are YAML
		}
	}
	return strings.Join(pairs, ", ")
}

// spelledAlike reports whether two JSON strings differ in case and separators only.
func spelledAlike(a, b string) bool {
	fold := strings.NewReplacer("-", "", "_", "", " ", "")
	return strings.EqualFold(fold.Replace(a), fold.Replace(b))
}

// content returns the object that a place is or has elements of, or nil.
func content(n *crdschema.Node) *crdschema.Node {
	for _, object := range []*crdschema.Node{n.Items(), n.Values(), n} {
		if len(object.Properties()) > 0 {
			return object
		}
	}
	return nil
}

// shared returns which part of the fields of the smaller of two objects both have: the other fields
// may be new.
func shared(a, b *crdschema.Node) float64 {
	n := 0
	for _, name := range a.Properties() {
		if a.Property(name).Kind() == b.Property(name).Kind() {
			n++
		}
	}
	return float64(n) / float64(min(len(a.Properties()), len(b.Properties())))
}
