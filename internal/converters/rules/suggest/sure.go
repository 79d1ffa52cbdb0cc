package suggest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// maxSteps is how far a field of a telling name may have moved for a sure guess.
const maxSteps = 3

// isSure reports whether a guess may be written as a rule: nothing else is nearly as likely, and
// the names and the types leave little doubt.
func (g guess) isSure() bool {
	version, hub := g.own()
	switch {
	case !g.clear, g.structural, g.pair[ofVersion].inStatus() != g.pair[ofHub].inStatus(),
		g.how.doubtful, g.pair[ofVersion].doubtful, g.pair[ofHub].doubtful:
		return false
	case g.why != "", g.samePath():
		return true
	case g.branch(), g.pair[ofVersion].clashes, g.pair[ofHub].clashes:
		return false
	case g.sameName():
		return (min(len(version), len(hub)) > 1 || !everywhere(g.pair[ofHub].name())) && (g.upOrDown() || g.telling())
	}
	return ends(g.withoutUnits(version), g.withoutUnits(hub), g.how.codec == "String")
}

// everywhere reports whether many types have a field of this name.
func everywhere(name string) bool {
	return slices.Contains([]string{"name", "namespace", "kind", "type", "enabled", "value", "key", "version", "mode", "id", "description"}, name)
}

// upOrDown reports whether a place has only moved into an object, or out of one.
func (p pair) upOrDown() bool {
	p = p.relative()
	return p.common() == min(len(p[ofVersion].segments), len(p[ofHub].segments))-1
}

// telling reports whether a name, with the names around it, hardly occurs twice by chance.
func (p pair) telling() bool {
	p = p.relative()
	steps := len(p[ofVersion].segments) + len(p[ofHub].segments) - 2*p.common() - 2
	version, hub := p.own()
	return steps <= maxSteps && (len(p[ofVersion].nameWords()) > 1 || contains(version, hub) || contains(hub, version))
}

// contains reports whether a list has all words of another one.
func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(w string) bool { return !slices.Contains(all, w) })
}

// withoutUnits leaves out the words that a codec or an inverted flag accounts for.
func (g guess) withoutUnits(name []string) []string {
	extra := map[string][]string{
		"DurationSeconds": {"second"}, "QuantityInt": {"byte"}, "Base64": {"base64"}, "": {"enable", "enabled", "disable", "disabled"},
	}[g.how.codec]
	if g.how.plain() {
		return name
	}
	return slices.DeleteFunc(slices.Clone(name), func(w string) bool { return slices.Contains(extra, w) })
}

// ends reports whether two names are the same, or one is the end of the other, like keySize of
// privateKey.size, and has enough words. With another type, a word more may mean another thing:
// ignoreMissingValuesFiles is not valuesFile.
func ends(a, b []string, otherType bool) bool {
	const telling = 2 // one word may be the same by chance
	if strings.Join(a, "") == strings.Join(b, "") {
		return true
	}
	n := min(len(a), len(b))
	return !otherType && n >= telling && slices.Equal(a[len(a)-n:], b[len(b)-n:])
}

// branch reports whether a place has moved into an object that is one of the values of a field next
// to it, or the only field of an object: a branch of a union, which needs conditions.
func (p pair) branch() bool {
	p = p.relative()
	n := p.common()
	for side, q := range p {
		if len(q.segments) <= n+1 {
			continue
		}
		if p.single(n, side) {
			return true
		}
		around := p[1-side].above[len(p[1-side].above)-1]
		for _, name := range around.Properties() {
			if slices.ContainsFunc(around.Property(name).Enum(), func(v string) bool { return spelledAlike(v, strconv.Quote(q.segments[n].Name)) }) {
				return true
			}
		}
	}
	return false
}

// single reports whether an object between the common one and a place may have one field only.
func (p pair) single(common, side int) bool {
	return slices.ContainsFunc(p[side].above[common:], func(n *crdschema.Node) bool {
		v := n.Structural().ValueValidation
		return v != nil && v.MaxProperties != nil && *v.MaxProperties == 1
	})
}
