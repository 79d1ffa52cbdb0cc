package suggest

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// how says how one value becomes the other; the zero how is as it is.
type how struct {
	codec  string
	values [][2]string // JSON texts
	suffix [2]string   // what is added to the paths of the field and the hub
	why    string      // in words, if the types do not say it
}

func (h how) plain() bool { return h.codec == "" && h.values == nil && h.suffix == [2]string{} }

// reversed is the same for the sides the other way round.
func (h how) reversed() how {
	h.suffix[0], h.suffix[1] = h.suffix[1], h.suffix[0]
	return h
}

// The fit of two schemas, from 0 to 1.
const (
	fitSame   = 1.0
	fitPlain  = 0.9 // of one type
	fitValues = 0.8 // of one type, with other values
	fitCodec  = 0.75
	fitShape  = 0.7 // a list of one and the like
)

// between returns how the values of two places may become each other.
func between(field, hub place) (h how, fit float64, ok bool) {
	f, b := field.node, hub.node
	switch values := paired(f.Enum(), b.Enum()); {
	case f.Kind() == crdschema.Boolean && b.Kind() == crdschema.Boolean && negative(field) != negative(hub):
		return how{codec: "Not", why: "the opposite"}, fitPlain, true
	case f.Same(b):
		return how{}, fitSame, true
	case values != nil:
		return how{values: values, why: "the values are spelled differently"}, fitPlain, true
	}
	if codec := codecOf(field, hub); codec != "" {
		return how{codec: codec}, fitCodec, len(f.Enum())+len(b.Enum()) == 0
	}
	if f.Kind() == b.Kind() {
		return sameKind(f, b)
	}
	if h, ok := reshaped(f, b); ok {
		return h, fitShape, true
	}
	h, ok = reshaped(b, f)
	return h.reversed(), fitShape, ok
}

// sameKind is for places of one type with different schemas.
func sameKind(f, b *crdschema.Node) (h how, fit float64, ok bool) {
	switch {
	case f.Kind() == crdschema.Array:
		return how{}, fitPlain, f.Items().Kind() == b.Items().Kind()
	case f.Kind() == crdschema.Map:
		return how{}, fitPlain, f.Values().Kind() == b.Values().Kind()
	case len(f.Enum())+len(b.Enum()) > 0:
		return how{why: "but other values: they need `values`"}, fitValues, true
	}
	return how{}, fitPlain, f.Kind() != crdschema.Object
}

// reshaped is for places that hold the same in another shape: one and a list of one, a map and a list with keys, a value and
// an object around it.
func reshaped(a, b *crdschema.Node) (how, bool) {
	switch {
	case b.Kind() == crdschema.Array && b.Items().Same(a):
		return how{suffix: [2]string{"", "[0]"}, why: "one, and a list of any number"}, true
	case a.Kind() == crdschema.Map && b.Kind() == crdschema.Array && len(b.ListMapKeys()) == 1:
		key := b.ListMapKeys()[0]
		suffix := [2]string{
			syntax.Segment{Kind: syntax.KeyedValues, Name: key}.String(),
			syntax.Segment{Kind: syntax.KeyedElements, Name: key}.String(),
		}
		why := "a map, and a list with keys"
		if a.Values().Kind() == crdschema.Object {
			return how{suffix: suffix, why: why}, shared(a.Values(), b.Items()) >= enoughOverlap
		}
		inner, ok := only(b.Items(), a.Values(), key)
		suffix[1] += inner
		return how{suffix: suffix, why: why}, ok
	case b.Kind() == crdschema.Object && a.Kind() != crdschema.Object && a.Kind() != crdschema.Map:
		inner, ok := only(b, a, "")
		return how{suffix: [2]string{"", inner}, why: "the value alone, and an object around it"}, ok
	}
	return how{}, false
}

// only returns the path of the field of an object that can hold a value, if it is the only one beside its key, or the only
// one that must be there.
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

// codecOf returns the codec for two places, if there is no doubt which.
func codecOf(a, b place) string {
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
	case kind == crdschema.Integer && isText:
		return "IntString"
	case kind == crdschema.Number && isText:
		return "NumberString"
	case kind == crdschema.Boolean && isText:
		return "BoolString"
	case kind == crdschema.String && isText && (a.node.Format() == "byte") != (b.node.Format() == "byte"):
		return "Base64"
	}
	return ""
}

// paired returns the values of two enums that are spelled differently, if all values of either have a counterpart.
func paired(field, hub []string) [][2]string {
	if len(field) != len(hub) {
		return nil
	}
	var pairs [][2]string
	taken := make([]bool, len(hub))
	for _, f := range field {
		i := slices.Index(hub, f)
		if i < 0 {
			i = slices.IndexFunc(hub, func(h string) bool { return spelledAlike(f, h) })
		}
		if i < 0 || taken[i] {
			return nil
		}
		taken[i] = true
		if f != hub[i] {
			pairs = append(pairs, [2]string{f, hub[i]})
		}
	}
	return pairs
}

// spelledAlike reports whether two JSON strings are the same but for case and separators.
func spelledAlike(a, b string) bool {
	var left, right string
	if json.Unmarshal([]byte(a), &left) != nil || json.Unmarshal([]byte(b), &right) != nil {
		return false
	}
	fold := strings.NewReplacer("-", "", "_", "", " ", "")
	return strings.EqualFold(fold.Replace(left), fold.Replace(right))
}
