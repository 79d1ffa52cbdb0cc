package suggest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A how says how one value becomes the other. The zero how copies it.
type how struct {
	codec    string
	values   [][2]string         // JSON texts
	suffix   [2][]syntax.Segment // of the paths of the version and the hub
	why      string              // in words, if the types do not show it
	doubtful bool                // there are other ways
}

// plain reports whether the value stays as it is.
func (h how) plain() bool {
	return h.codec == "" && h.values == nil && same(h.suffix[ofVersion], h.suffix[ofHub])
}

// keyed reports whether a map becomes a list or the other way round.
func (h how) keyed() bool {
	version, hub := h.suffix[ofVersion], h.suffix[ofHub]
	return len(version) > 0 && len(hub) > 0 && version[0].Kind != hub[0].Kind
}

// The fit of two schemas, from 0 to 1.
const (
	fitSame   = 1.0
	fitPlain  = 0.9 // of one type
	fitValues = 0.8 // of one type, with other values
	fitCodec  = 0.75
	fitShape  = 0.75 // a list of one and the like
)

// between returns how the values of two places may become each other.
func between(p pair) (h how, fit float64, ok bool) {
	a, b := p[ofVersion].node, p[ofHub].node
	switch values := paired(a.Enum(), b.Enum()); {
	case a.Kind() == crdschema.Boolean && b.Kind() == crdschema.Boolean && (p.opposite() || negative(p[ofVersion]) != negative(p[ofHub])):
		return how{values: [][2]string{{"true", "false"}, {"false", "true"}}, why: "the opposite"}, fitPlain, true
	case p.opposite():
		return how{}, 0, false
	case a.Same(b):
		return how{}, fitSame, true
	case values != nil:
		return how{values: values, why: "the values are spelled differently"}, fitPlain, true
	}
	if h, ok := codecOf(p); ok {
		return h, fitCodec, true
	}
	if a.Kind() == b.Kind() {
		if h, fit, ok := sameKind(a, b); ok || a.Kind() != crdschema.Array {
			return h, fit, ok
		}
	}
	h, ok = reshaped(p[ofVersion], p[ofHub])
	if !ok {
		h, ok = reshaped(p[ofHub], p[ofVersion])
		slices.Reverse(h.suffix[:])
	}
	return h, fitShape, ok
}

// sameKind is between for nodes of one type with different schemas.
func sameKind(a, b *crdschema.Node) (h how, fit float64, ok bool) {
	switch {
	case a.Kind() == crdschema.Array:
		return each(syntax.Elements), fitPlain, alikeInside(a.Items(), b.Items())
	case a.Kind() == crdschema.Map:
		return each(syntax.Values), fitPlain, alikeInside(a.Values(), b.Values())
	case len(a.Enum()) > 0 && len(b.Enum()) > 0:
		return how{why: "but different values: they need `values`", doubtful: true}, fitValues, true
	}
	return how{}, fitPlain, a.Kind() != crdschema.Object
}

// each returns how the elements of two lists, or the values of two maps, are paired. A rule for a
// list as a whole would rule out rules for what is in its elements.
func each(kind syntax.SegmentKind) how {
	suffix := []syntax.Segment{{Kind: kind}}
	return how{suffix: [2][]syntax.Segment{suffix, suffix}}
}

func alikeInside(a, b *crdschema.Node) bool {
	return a.Kind() == b.Kind() && (a.Kind() != crdschema.Object || shared(a, b) > 0)
}

// reshaped is between for places that hold the same in another shape: a value and a list of one, a
// map and a list with keys, a value and an object around it.
func reshaped(p, q place) (how, bool) {
	a, b := p.node, q.node
	switch {
	case b.Kind() == crdschema.Array && a.Kind() == crdschema.Map:
		return keyed(a, q)
	case b.Kind() == crdschema.Array && (b.Items().Same(a) || pluralOf(q, p) || a.Kind() == crdschema.Object && (part(a, b.Items()) >= nearlyAll ||
		slices.Equal(p.nameWords(), q.nameWords()) && shared(a, b.Items()) > 0)):
		h := how{why: "a value and a list of any length", doubtful: true}
		h.suffix[1] = []syntax.Segment{{Kind: syntax.First}}
		return h, true
	case b.Kind() == crdschema.Array && a.Kind() == crdschema.Array && b.Items().Kind() == crdschema.Object:
		inner, only := holder(b.Items(), a.Items(), "", q.name())
		each := syntax.Segment{Kind: syntax.Elements}
		h := how{why: "values and objects around them", doubtful: !only}
		h.suffix = [2][]syntax.Segment{{each}, append([]syntax.Segment{each}, inner...)}
		return h, inner != nil
	case b.Kind() == crdschema.Object && a.Kind() != crdschema.Object:
		inner, only := holder(b, a, "", q.name())
		h := how{why: "a value and an object around it", doubtful: !only}
		h.suffix[1] = inner
		return h, inner != nil
	}
	return how{}, false
}

// pluralOf reports whether a list has the name of a value in the plural: hosts and host.
func pluralOf(list, value place) bool {
	a, items := value.node, list.node.Items()
	return a.Scalar() && a.Kind() == items.Kind() && len(a.Enum())+len(items.Enum()) == 0 &&
		list.name() != value.name() && slices.Equal(list.nameWords(), value.nameWords())
}

// keyed is reshaped for a map and a list whose elements have a key.
func keyed(a *crdschema.Node, list place) (how, bool) {
	items := list.node.Items()
	for _, key := range keysOf(list.node) {
		h := how{why: "a map and a list with keys", doubtful: !slices.Contains(list.node.ListMapKeys(), key)}
		inner, only := holder(items, a.Values(), key, list.name())
		ok := inner != nil
		if a.Values().Kind() == crdschema.Object {
			inner, only, ok = nil, true, true // containerScore compares them
		}
		h.doubtful = h.doubtful || !only
		h.suffix = [2][]syntax.Segment{
			{{Kind: syntax.KeyedValues, Name: key}}, append([]syntax.Segment{{Kind: syntax.KeyedElements, Name: key}}, inner...),
		}
		if ok {
			return h, true
		}
	}
	return how{}, false
}

// keysOf returns the fields that may identify the elements of a list, the likeliest first.
func keysOf(list *crdschema.Node) []string {
	text := func(key string) bool { return list.Items().Property(key).Kind() == crdschema.String } // as the keys of a map
	keys := slices.DeleteFunc(slices.Clone(list.ListMapKeys()), func(key string) bool { return !text(key) })
	if len(keys) == 1 {
		return keys
	}
	return slices.DeleteFunc([]string{"name", "key", "id"}, func(key string) bool {
		return !text(key) || len(keys) > 0 && !slices.Contains(keys, key)
	})
}

// holder returns the path of the field of an object that can hold a value, and whether that is
// certain: the only field apart from its key, or else the only required one, or one whose name says
// so.
func holder(object, value *crdschema.Node, key, name string) (path []syntax.Segment, only bool) {
	without := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == key })
	}
	names := without(object.Properties())
	only = len(names) == 1
	if !only {
		names = without(object.Required())
	}
	if len(names) != 1 {
		names = slices.DeleteFunc(without(object.Properties()), func(n string) bool {
			return n != "value" && n != "name" && !slices.Equal(words(n), words(name))
		})
	}
	if len(names) != 1 && value.Kind() == crdschema.Map {
		names = slices.DeleteFunc(without(object.Properties()), func(n string) bool { return !object.Property(n).Same(value) })
	}
	if len(names) != 1 || object.Property(names[0]).Kind() != value.Kind() {
		return nil, false
	}
	return []syntax.Segment{{Kind: syntax.Field, Name: names[0]}}, only
}

// opposite reports whether the name of a place denies that of another one: unavailableReplicas and
// availableReplicas.
func (p pair) opposite() bool {
	v, h := strings.Join(p[ofVersion].nameWords(), ""), strings.Join(p[ofHub].nameWords(), "")
	return v == "un"+h || h == "un"+v
}

// negative reports whether the name of a place says that something is not.
func negative(p place) bool {
	not := []string{"disable", "disabled", "no", "not", "skip", "without", "deny", "denied", "hidden", "private"}
	return slices.ContainsFunc(p.nameWords(), func(w string) bool { return slices.Contains(not, w) })
}

// codecOf returns the codec for two places, if one fits.
func codecOf(p pair) (how, bool) {
	a, b := p[ofVersion], p[ofHub]
	if a.node.Kind() == crdschema.String || a.node.Kind() == crdschema.IntOrString {
		a, b = b, a
	}
	text, unit := b.node.Kind(), a.nameWords()
	isText := text == crdschema.String
	noEnum := len(a.node.Enum())+len(b.node.Enum()) == 0
	switch kind := a.node.Kind(); {
	case isText && p.samePath() && document(a.node):
		return how{codec: "YAML", why: "a text and what may be written in it", doubtful: true}, true
	case kind == crdschema.Boolean && isText:
		return how{codec: "String"}, !slices.ContainsFunc(b.node.Enum(), func(v string) bool { return v != `"true"` && v != `"false"` })
	case !noEnum:
	case kind == crdschema.Integer && isText && slices.Contains(unit, "second"):
		return how{codec: "DurationSeconds"}, true
	case kind == crdschema.Integer && (isText || text == crdschema.IntOrString) && slices.Contains(unit, "byte"):
		return how{codec: "QuantityInt"}, true
	case kind == crdschema.Integer && isText && slices.ContainsFunc(unit, isTime):
		return how{codec: "DurationSeconds", doubtful: true}, true
	case isText && (kind == crdschema.Integer || kind == crdschema.Number):
		// A text with a pattern may have a unit.
		pattern := b.node.Structural().ValueValidation
		return how{codec: "String", doubtful: pattern != nil && pattern.Pattern != ""}, true
	case kind == crdschema.String && isText && (a.node.Format() == "byte") != (b.node.Format() == "byte"):
		return how{codec: "Base64"}, true
	}
	return how{}, false
}

func isTime(word string) bool {
	return slices.Contains([]string{"timeout", "interval", "duration", "period", "ttl", "delay", "age", "time"}, word)
}

// document reports whether a node may be what a text of YAML says: an object that has unknown
// fields, or no values of its own.
func document(n *crdschema.Node) bool {
	values := func(name string) bool { return n.Property(name).Scalar() }
	return n.Kind() == crdschema.Object && (n.PreservesUnknown() || len(n.Properties()) > 1 && !slices.ContainsFunc(n.Properties(), values))
}

// paired returns the values of two enums that are spelled differently, if all of their values have
// a counterpart.
func paired(version, hub []string) [][2]string {
	if len(version) != len(hub) {
		return nil
	}
	var pairs [][2]string
	taken := make([]bool, len(hub))
	for _, v := range version {
		i := slices.Index(hub, v)
		if i < 0 {
			i = slices.IndexFunc(hub, func(h string) bool { return spelledAlike(v, h) })
		}
		if i < 0 || taken[i] {
			return nil
		}
		taken[i] = true
		if v != hub[i] {
			pairs = append(pairs, [2]string{v, hub[i]})
		}
	}
	return pairs
}

// spelledAlike reports whether two JSON strings differ in case and separators only.
func spelledAlike(a, b string) bool {
	var left, right string
	if json.Unmarshal([]byte(a), &left) != nil || json.Unmarshal([]byte(b), &right) != nil {
		return false
	}
	fold := strings.NewReplacer("-", "", "_", "", " ", "")
	return strings.EqualFold(fold.Replace(left), fold.Replace(right))
}
