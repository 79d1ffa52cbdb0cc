package suggest

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A shape says how the value of one place becomes that of another one. The zero shape copies it.
type shape struct {
	suffix [2][]syntax.Segment // from the two places to those that a rule pairs
	keys   string              // further keys of the rule, in YAML
	units  []string            // words of names that the keys account for
	why    string              // it was found, if the names do not show it
	doubt  bool                // there are other ways
	named  bool                // the names around it say that it is right
}

// between returns how the values of two places may become each other.
func between(p pair) (shape, bool) {
	v, h := p[ofVersion].node, p[ofHub].node
	switch {
	case v.Scalar() && h.Scalar():
		return scalars(p)
	case v.Same(h):
		return shape{}, true
	}
	for side, q := range p {
		if s := wrapped(p[1-side], q); s.keys != "" || len(s.suffix[1]) > 0 {
			if side == ofVersion {
				slices.Reverse(s.suffix[:])
			}
			return s, true
		}
	}
	a, b := content(v), content(h)
	return each(v), v.Kind() == h.Kind() && (a == nil) == (b == nil) && (a == nil || a.SharesName(b))
}

// each is the shape of two lists or maps. A rule for a list as a whole would rule out rules for
// what is in its elements.
func each(n *crdschema.Node) (s shape) {
	kind := map[crdschema.Kind]syntax.SegmentKind{crdschema.Array: syntax.Elements, crdschema.Map: syntax.Values}[n.Kind()]
	if kind != syntax.Field {
		s.suffix = [2][]syntax.Segment{{{Kind: kind}}, {{Kind: kind}}}
	}
	return s
}

// wrapped returns the shape of a value and another one with more structure, else the zero shape.
func wrapped(p, q place) (s shape) {
	a, b := p.node, q.node
	plural := p.name() != q.name() && slices.Equal(p.words(), q.words())
	scalar := func(name string) bool { return b.Property(name).Scalar() }
	switch list := b.Kind() == crdschema.Array; {
	case list && a.Kind() == crdschema.Map:
		return keyed(a, q)
	case list && a.Kind() == b.Items().Kind() && (a.Kind() == crdschema.Object && a.Agrees(b.Items()) || a.Scalar() && plural):
		s.suffix[1], s.why = []syntax.Segment{{Kind: syntax.First}}, "one value, and a list of them"
	case b.Kind() == crdschema.Object && !a.SharesName(b):
		s.why = "a value and an object around it"
		s.suffix[1], s.doubt = holder(b, a, "", q)
		if s.suffix[1] == nil && a.Kind() == crdschema.String && slices.Equal(p.names, q.names) && !slices.ContainsFunc(b.Properties(), scalar) {
			s = shape{keys: "codec: YAML", why: "a text and what may be written in it", doubt: true}
		}
	}
	return s
}

// keyed is the shape of a map and a list whose elements have a key.
func keyed(a *crdschema.Node, list place) (s shape) {
	items, declared := list.node.Items(), list.node.ListMapKeys()
	keys := append(slices.Clone(declared), "name", "key", "id")
	i := slices.IndexFunc(keys, func(key string) bool { return items.Property(key).Kind() == crdschema.String })
	if i < 0 {
		return s
	}
	inner := []syntax.Segment{}
	if content(a) == nil { // of objects the fields are compared
		inner, s.doubt = holder(items, a.Values(), keys[i], list)
	}
	if inner != nil {
		s.why, s.doubt = "a map and a list with keys", s.doubt || !slices.Contains(declared, keys[i])
		s.suffix = [2][]syntax.Segment{{{Kind: syntax.KeyedValues, Name: keys[i]}}, append([]syntax.Segment{{Kind: syntax.KeyedElements, Name: keys[i]}}, inner...)}
	}
	return s
}

// holder returns the path of the field of an object that can hold a value: the only one apart from
// its key, else one whose name says so, or the only one that is no scalar, which is in doubt.
func holder(object, value *crdschema.Node, key string, at place) (path []syntax.Segment, doubt bool) {
	others := slices.DeleteFunc(slices.Clone(object.Properties()), func(n string) bool { return n == key })
	says := func(n string) bool {
		return n == "value" || n == "name" || slices.Equal(didyoumean.Words(n), at.words())
	}
	for _, fits := range []func(n string) bool{func(string) bool { return len(others) == 1 }, says, func(string) bool { return !value.Scalar() }} {
		chosen := slices.DeleteFunc(slices.Clone(others), func(n string) bool {
			return !fits(n) || object.Property(n).Kind() != value.Kind() || !object.Property(n).Agrees(value)
		})
		if len(chosen) == 1 {
			return []syntax.Segment{{Kind: syntax.Field, Name: chosen[0]}}, len(others) > 1 || value.Kind() == crdschema.Object
		}
	}
	return nil, true
}

// scalars is between for numbers, truth values and texts.
func scalars(p pair) (shape, bool) {
	v, h := p[ofVersion].node, p[ofHub].node
	switch values := spelling(v.Enum(), h.Enum()); {
	case v.Kind() == crdschema.Boolean && h.Kind() == crdschema.Boolean && negative(p[ofVersion]) != negative(p[ofHub]):
		return shape{keys: "values: {true: false, false: true}", units: []string{"enable", "enabled", "disable", "disabled"}, why: "the opposite"}, true
	case !p.sameName() && strings.TrimPrefix(p[ofVersion].name(), "un") == strings.TrimPrefix(p[ofHub].name(), "un"):
		return shape{}, false // unready is not ready
	case values != "" && !v.Same(h):
		return shape{keys: "values: {" + values + "}", why: "the values are spelled differently"}, true
	case v.Kind() != h.Kind() || (v.Format() == "byte") != (h.Format() == "byte"):
		s := codec(p[ofVersion], p[ofHub])
		if s.keys == "" {
			s = codec(p[ofHub], p[ofVersion])
		}
		return s, s.keys != ""
	case !v.Agrees(h):
		return shape{why: "other values, which need `values`", doubt: true}, true
	}
	return shape{}, true
}

// codec is the shape of a number, a truth value or bytes, and a text; else the zero shape.
func codec(p, q place) shape {
	a, b := p.node, q.node
	says := func(units ...string) bool {
		return slices.ContainsFunc(p.words(), func(w string) bool { return slices.Contains(units, w) })
	}
	text, whole := b.Kind() == crdschema.String, a.Kind() == crdschema.Integer
	switch {
	case text && a.Kind() == crdschema.Boolean && p.name() == q.name():
		return shape{keys: "codec: String", doubt: len(b.Enum()) > 0}
	case len(a.Enum())+len(b.Enum()) > 0:
	case whole && says("byte") && (text || b.Kind() == crdschema.IntOrString):
		return shape{keys: "codec: QuantityInt", units: []string{"byte"}}
	case !text:
	case a.Kind() == crdschema.String:
		return shape{keys: "codec: Base64", units: []string{"base64"}}
	case whole && says("second"):
		return shape{keys: "codec: DurationSeconds", units: []string{"second"}}
	case whole && says("timeout", "interval", "duration", "period", "ttl", "delay", "age", "time"):
		return shape{keys: "codec: DurationSeconds", doubt: true}
	case whole || a.Kind() == crdschema.Number: // another name, or a text with a pattern, may have a unit
		v := b.Structural().ValueValidation
		return shape{keys: "codec: String", doubt: p.name() != q.name() || v != nil && v.Pattern != ""}
	}
	return shape{}
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

// shared returns how many fields two objects have in common, and which part of the smaller one that
// is: the other fields may be new.
func shared(a, b *crdschema.Node) (n int, part float64) {
	for _, name := range a.Properties() {
		if a.Property(name).Kind() == b.Property(name).Kind() {
			n++
		}
	}
	return n, float64(n) / float64(min(len(a.Properties()), len(b.Properties())))
}
