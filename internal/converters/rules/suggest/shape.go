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
	why    string
	doubt  bool // there are other ways
}

const inverted = "values: {true: false, false: true}"

// between returns how the values of two places may become each other.
func between(p pair) (shape, bool) {
	v, h := p.nodes()
	switch values := spelling(v.Enum(), h.Enum()); {
	case v.Kind() == crdschema.Boolean && h.Kind() == crdschema.Boolean && negative(p[ofVersion]) != negative(p[ofHub]):
		return shape{keys: inverted, why: "the opposite"}, true
	case !p.sameName() && strings.TrimPrefix(p[ofVersion].name(), "un") == strings.TrimPrefix(p[ofHub].name(), "un"):
		return shape{}, false // unready is not ready
	case v.Same(h):
		return shape{}, true
	case values != "":
		return shape{keys: "values: {" + values + "}", why: "the values are spelled differently"}, true
	}
	if s, ok := wrapped(p[ofVersion], p[ofHub]); ok {
		return s, true
	}
	if s, ok := wrapped(p[ofHub], p[ofVersion]); ok {
		slices.Reverse(s.suffix[:])
		return s, true
	}
	if len(v.Enum()) > 0 && len(h.Enum()) > 0 {
		return shape{why: "other values, which need `values`", doubt: true}, v.Kind() == h.Kind()
	}
	a, b := content(v), content(h)
	return each(v), v.Kind() == h.Kind() && (a == nil) == (b == nil) && (a == nil || a.SharesName(b))
}

// each is the shape of two lists or maps. A rule for a list as a whole would rule out rules for
// what is in its elements.
func each(n *crdschema.Node) (s shape) {
	kind := map[crdschema.Kind]syntax.SegmentKind{crdschema.Array: syntax.Elements, crdschema.Map: syntax.Values}[n.Kind()]
	if kind != syntax.Field {
		s.suffix[ofVersion] = []syntax.Segment{{Kind: kind}}
		s.suffix[ofHub] = s.suffix[ofVersion]
	}
	return s
}

// wrapped is between for values whose second place has more structure.
func wrapped(p, q place) (s shape, ok bool) {
	a, b := p.node, q.node
	list := b.Kind() == crdschema.Array
	switch {
	case list && a.Kind() == crdschema.Map:
		return keyed(a, q)
	case list && (a.Kind() == crdschema.Object && a.Agrees(b.Items()) ||
		a.Scalar() && a.Kind() == b.Items().Kind() && p.name() != q.name() && slices.Equal(p.nameWords(), q.nameWords())):
		s.suffix[1], s.why = []syntax.Segment{{Kind: syntax.First}}, "one value, and a list of them"
		return s, true
	case list && a.Kind() == crdschema.Array && content(a) == nil && content(b) != nil:
		inner, doubt := holder(b.Items(), a.Items(), "", q)
		by := syntax.Segment{Kind: syntax.Elements}
		s = shape{suffix: [2][]syntax.Segment{{by}, append([]syntax.Segment{by}, inner...)}, why: "values and objects around them", doubt: doubt}
		return s, inner != nil
	case b.Kind() == crdschema.Object && a.Kind() == crdschema.String && (b.PreservesUnknown() || len(b.Properties()) > 1 &&
		!slices.ContainsFunc(b.Properties(), func(name string) bool { return b.Property(name).Scalar() })):
		return shape{keys: "codec: YAML", why: "a text and what may be written in it", doubt: true}, same(p.path, q.path)
	case b.Kind() == crdschema.Object && (a.Kind() != crdschema.Object || !a.SharesName(b)):
		s.suffix[1], s.doubt = holder(b, a, "", q)
		s.why, s.doubt = "a value and an object around it", s.doubt || a.Kind() == crdschema.Object
		return s, s.suffix[1] != nil
	}
	s.keys, s.doubt = codec(p, q)
	return s, s.keys != ""
}

// keyed is the shape of a map and a list whose elements have a key.
func keyed(a *crdschema.Node, list place) (shape, bool) {
	items := list.node.Items()
	for _, key := range append(slices.Clone(list.node.ListMapKeys()), "name", "key", "id") {
		if items.Property(key).Kind() != crdschema.String {
			continue
		}
		s := shape{why: "a map and a list with keys"}
		if content(a) == nil { // of objects the fields are compared
			if s.suffix[1], s.doubt = holder(items, a.Values(), key, list); s.suffix[1] == nil {
				continue
			}
		}
		s.doubt = s.doubt || !slices.Contains(list.node.ListMapKeys(), key)
		s.suffix[0] = []syntax.Segment{{Kind: syntax.KeyedValues, Name: key}}
		s.suffix[1] = append([]syntax.Segment{{Kind: syntax.KeyedElements, Name: key}}, s.suffix[1]...)
		return s, true
	}
	return shape{}, false
}

// holder returns the path of the field of an object that can hold a value: the only one apart from
// its key, else the only required one, or one whose name says so, which is in doubt.
func holder(object, value *crdschema.Node, key string, at place) (path []syntax.Segment, doubt bool) {
	others := slices.DeleteFunc(slices.Clone(object.Properties()), func(n string) bool { return n == key })
	says := func(n string) bool {
		return n == "value" || n == "name" || slices.Equal(didyoumean.Words(n), at.nameWords())
	}
	for _, fits := range []func(n string) bool{func(string) bool { return len(others) == 1 }, object.IsRequired, says, func(string) bool { return !value.Scalar() }} {
		chosen := slices.DeleteFunc(slices.Clone(others), func(n string) bool { return !fits(n) || !object.Property(n).Agrees(value) })
		if len(chosen) == 1 {
			return []syntax.Segment{field(chosen[0])}, len(others) > 1
		}
	}
	return nil, true
}

// codec returns the codec of a number, a truth value or bytes, and a text, and whether there are
// other ways.
func codec(p, q place) (key string, doubt bool) {
	a, b, unit := p.node, q.node, p.nameWords()
	says := func(units ...string) bool {
		return slices.ContainsFunc(unit, func(w string) bool { return slices.Contains(units, w) })
	}
	text, free, whole := b.Kind() == crdschema.String, len(a.Enum())+len(b.Enum()) == 0, a.Kind() == crdschema.Integer
	switch {
	case a.Kind() == crdschema.Boolean && text:
		return "codec: String", !free
	case a.Kind() == crdschema.String && text && free && (a.Format() == "byte") != (b.Format() == "byte"):
		return "codec: Base64", false
	case whole && free && (text || b.Kind() == crdschema.IntOrString) && says("byte"):
		return "codec: QuantityInt", false
	case whole && free && text && says("second"):
		return "codec: DurationSeconds", false
	case whole && free && text && says("timeout", "interval", "duration", "period", "ttl", "delay", "age", "time"):
		return "codec: DurationSeconds", true
	case text && free && (whole || a.Kind() == crdschema.Number):
		pattern := b.Structural().ValueValidation // a text with a pattern may have a unit
		return "codec: String", len(unit) > 1 && p.name() != q.name() || pattern != nil && pattern.Pattern != ""
	}
	return "", false
}

// negative reports whether the name of a place says that something is not.
func negative(p place) bool {
	not := []string{"disable", "disabled", "no", "not", "skip", "without", "deny", "denied", "hidden", "private", "insecure"}
	return slices.ContainsFunc(p.nameWords(), func(w string) bool { return slices.Contains(not, w) })
}

// spelling returns the values of two enums that are spelled differently as a mapping in YAML, if
// each value has one counterpart.
func spelling(version, hub []string) string {
	var pairs []string
	left := slices.Clone(hub)
	for _, v := range version {
		i := max(slices.Index(left, v), slices.IndexFunc(left, func(h string) bool { return spelledAlike(v, h) }))
		if i < 0 {
			return ""
		}
		if v != left[i] {
			pairs = append(pairs, v+": "+left[i]) // JSON strings are YAML
		}
		left = slices.Delete(left, i, i+1)
	}
	if len(left) > 0 {
		return ""
	}
	return strings.Join(pairs, ", ")
}

// spelledAlike reports whether two JSON strings differ in case and separators only.
func spelledAlike(a, b string) bool {
	fold := strings.NewReplacer("-", "", "_", "", " ", "")
	return a[0] == '"' && strings.EqualFold(fold.Replace(a), fold.Replace(b))
}

// content returns the object that a place is or has elements of, or nil.
func content(n *crdschema.Node) *crdschema.Node {
	switch {
	case n.Kind() == crdschema.Array:
		n = n.Items()
	case n.Kind() == crdschema.Map:
		n = n.Values()
	}
	if len(n.Properties()) == 0 {
		return nil
	}
	return n
}

// shared returns how many fields two objects have in common. Objects of one name that have nothing
// in common do not count.
func shared(a, b *crdschema.Node) int {
	n := 0
	for _, name := range a.Properties() {
		x, y := a.Property(name), b.Property(name)
		if in, there := content(x), content(y); x.Kind() == y.Kind() && (in == nil || there == nil || in.SharesName(there)) {
			n++
		}
	}
	return n
}
