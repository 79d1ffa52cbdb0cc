package suggest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A how says how one value becomes the other. The zero how copies it.
type how struct {
	codec  string
	values [][2]string // JSON texts
	suffix [2]string   // of the paths of the version and the hub
	why    string      // in words, if the types do not show it
}

func (h how) plain() bool { return h.codec == "" && h.values == nil && h.suffix == [2]string{} }

// The fit of two schemas, from 0 to 1.
const (
	fitSame   = 1.0
	fitPlain  = 0.9 // of one type
	fitValues = 0.8 // of one type, with other values
	fitCodec  = 0.75
	fitShape  = 0.7 // a list of one and the like
)

// between returns how the values of two places may become each other.
func between(p pair) (h how, fit float64, ok bool) {
	a, b := p[ofVersion].node, p[ofHub].node
	switch values := paired(a.Enum(), b.Enum()); {
	case a.Kind() == crdschema.Boolean && b.Kind() == crdschema.Boolean && negative(p[ofVersion]) != negative(p[ofHub]):
		return how{values: [][2]string{{"true", "false"}, {"false", "true"}}, why: "the opposite"}, fitPlain, true
	case a.Same(b):
		return how{}, fitSame, true
	case values != nil:
		return how{values: values, why: "the values are spelled differently"}, fitPlain, true
	}
	if codec := codecOf(p); codec != "" {
		return how{codec: codec}, fitCodec, len(a.Enum())+len(b.Enum()) == 0
	}
	if a.Kind() == b.Kind() {
		return sameKind(a, b)
	}
	if h, ok := reshaped(a, b); ok {
		return h, fitShape, true
	}
	h, ok = reshaped(b, a)
	slices.Reverse(h.suffix[:])
	return h, fitShape, ok
}

// sameKind is between for nodes of one type with different schemas.
func sameKind(a, b *crdschema.Node) (h how, fit float64, ok bool) {
	switch {
	case a.Kind() == crdschema.Array:
		return how{}, fitPlain, a.Items().Kind() == b.Items().Kind()
	case a.Kind() == crdschema.Map:
		return how{}, fitPlain, a.Values().Kind() == b.Values().Kind()
	case len(a.Enum())+len(b.Enum()) > 0:
		return how{why: "but different values: they need `values`"}, fitValues, true
	}
	return how{}, fitPlain, a.Kind() != crdschema.Object
}

// reshaped is between for nodes that hold the same in another shape: a value and a list of one, a
// map and a list with keys, a value and an object around it.
func reshaped(a, b *crdschema.Node) (how, bool) {
	switch {
	case b.Kind() == crdschema.Array && b.Items().Same(a):
		return how{suffix: [2]string{"", "[0]"}, why: "a value and a list of any length"}, true
	case a.Kind() == crdschema.Map && b.Kind() == crdschema.Array && len(b.ListMapKeys()) == 1:
		key := b.ListMapKeys()[0]
		suffix := [2]string{
			syntax.Segment{Kind: syntax.KeyedValues, Name: key}.String(),
			syntax.Segment{Kind: syntax.KeyedElements, Name: key}.String(),
		}
		why := "a map and a list with keys"
		if a.Values().Kind() == crdschema.Object {
			return how{suffix: suffix, why: why}, shared(a.Values(), b.Items()) >= enoughOverlap
		}
		inner, ok := only(b.Items(), a.Values(), key)
		suffix[1] += inner
		return how{suffix: suffix, why: why}, ok
	case b.Kind() == crdschema.Object && a.Kind() != crdschema.Object && a.Kind() != crdschema.Map:
		inner, ok := only(b, a, "")
		return how{suffix: [2]string{"", inner}, why: "a value and an object around it"}, ok
	}
	return how{}, false
}

// only returns the path of the field of an object that can hold a value: the only field apart from
// its key, or the only required one.
func only(object, value *crdschema.Node, key string) (string, bool) {
	names := slices.DeleteFunc(slices.Clone(object.Properties()), func(n string) bool { return n == key })
	if len(names) != 1 {
		names = slices.DeleteFunc(slices.Clone(object.Required()), func(n string) bool { return n == key })
	}
	if len(names) != 1 || object.Property(names[0]).Kind() != value.Kind() {
		return "", false
	}
	return syntax.Segment{Kind: syntax.Field, Name: names[0]}.String(), true
}

// negative reports whether the name of a place says that something is not.
func negative(p place) bool {
	not := []string{"disable", "disabled", "no", "not", "skip", "without", "deny", "denied", "hidden", "private"}
	return slices.ContainsFunc(p.nameWords(), func(w string) bool { return slices.Contains(not, w) })
}

// codecOf returns the codec for two places, or nothing if none fits.
func codecOf(p pair) string {
	a, b := p[ofVersion], p[ofHub]
	if a.node.Kind() == crdschema.String || a.node.Kind() == crdschema.IntOrString {
		a, b = b, a
	}
	text, unit := b.node.Kind(), a.nameWords()
	isText := text == crdschema.String
	switch kind := a.node.Kind(); {
	case kind == crdschema.Integer && isText && slices.Contains(unit, "second"):
		return "DurationSeconds"
	case kind == crdschema.Integer && (isText || text == crdschema.IntOrString) && slices.Contains(unit, "byte"):
		return "QuantityInt"
	case isText && (kind == crdschema.Integer || kind == crdschema.Number || kind == crdschema.Boolean):
		return "String"
	case kind == crdschema.String && isText && (a.node.Format() == "byte") != (b.node.Format() == "byte"):
		return "Base64"
	}
	return ""
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
