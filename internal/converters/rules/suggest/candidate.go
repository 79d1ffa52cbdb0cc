package suggest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// How likely a pair is goes from 0 to 1: the part of the names, and of the fields, that is the
// same.
const (
	likely   = 0.5     // the least of a guess
	rivalry  = 0.1     // a place that is so close to another pair as well is doubtful
	perStep  = 0.02    // what each object between two places takes away, so the nearest is chosen
	maxPairs = 1 << 16 // with more pairs, only places with a word in common are compared
	byChance = 4       // so many fields of one name may be in two objects by chance
)

// A candidate is a pair of places that may be the same.
type candidate struct {
	pair
	shape
	score float64
	clear bool   // no other candidate of either place is nearly as likely
	why   string // if the names and types do not show it
}

// holds reports whether one rule for the pair covers several fields.
func (c candidate) holds() bool {
	return content(c.pair[ofVersion].node) != nil && content(c.pair[ofHub].node) != nil && c.keys == ""
}

// near reports whether the places have one name, or one has only moved up or down.
func (c candidate) near() bool {
	left, entered := c.steps()
	return c.sameName() || min(left, entered) == 0
}

// tells reports whether the names say that a candidate with rivals is right.
func (c candidate) tells() bool {
	left, entered := c.steps()
	return c.likeness() > 0 && (!c.sameName() || min(left, entered) == 0)
}

// meets reports whether a place of another candidate is one of these, below it or around it.
func (c candidate) meets(o candidate) bool {
	for side, p := range c.pair {
		if p.in(o.pair[side]) || o.pair[side].in(p) {
			return true
		}
	}
	return false
}

// score says how likely two places are the same.
func score(p pair) (candidate, bool) {
	v, h := p[ofVersion], p[ofHub]
	moved := v.path[0].Name != h.path[0].Name // from spec to status as it is
	s, ok := between(p)
	if !ok || v.scope != h.scope || v.under*h.under != 0 && v.under != h.under || !p.samePath() && (v.in(h) || h.in(v)) ||
		moved && (!same(v.path[1:], h.path[1:]) || !v.node.Same(h.node)) || v.under != h.under && !p.telling() {
		return candidate{}, false
	}
	c := candidate{pair: p, shape: s}
	c.score = c.likeness()
	left, entered := p.steps()
	siblings := left+entered == 0
	if c.holds() {
		a, b := content(v.node), content(h.node)
		common, few, most := shared(a, b), min(len(a.Properties()), len(b.Properties())), max(len(a.Properties()), len(b.Properties()))
		part := float64(common) / float64(most)
		if siblings || p.sameName() && min(left, entered) == 0 || common == few && common >= byChance {
			part = float64(common) / float64(few) // the other fields may be new
		}
		if part < likely && (!siblings || common <= byChance) {
			return c, false
		}
		c.score = (c.score + part) / 2
	}
	c.score -= perStep * float64(left+entered)
	switch lone := v.node.Same(h.node) && len(v.node.Properties()) == 0; {
	case siblings && c.holds():
		c.score = max(c.score, likely)
	case lone && (siblings || v.under == h.under && v.under > 0):
		c.score = max(c.score, likely+2*rivalry/float64(int(1)<<(left+entered))) // right if no other one is as near
	}
	return c, c.score >= likely
}

// likeness compares the names of two places, alone and with the objects that they do not share.
func (c candidate) likeness() float64 {
	v, h := c.ownWords()
	if ends(v, h) || c.sameName() && !common(c.pair[ofHub].name()) {
		return 1
	}
	if common(c.pair[ofVersion].name()) || common(c.pair[ofHub].name()) {
		return didyoumean.Similarity(v, h)
	}
	return max(didyoumean.Similarity(v, h), didyoumean.Similarity(c.pair[ofVersion].nameWords(), c.pair[ofHub].nameWords()))
}

// ownWords returns the words of the two paths, but those that a codec or an inverted flag accounts
// for.
func (c candidate) ownWords() (version, hub []string) {
	units := strings.Fields(map[string]string{
		"codec: DurationSeconds": "second", "codec: QuantityInt": "byte", "codec: Base64": "base64", inverted: "enable enabled disable disabled",
	}[c.keys])
	left := func(name []string) []string {
		return slices.DeleteFunc(name, func(w string) bool { return slices.Contains(units, w) })
	}
	version, hub = c.pair.ownWords()
	return left(version), left(hub)
}

// common reports whether many types have a field of this name.
func common(name string) bool {
	return slices.Contains([]string{"name", "namespace", "kind", "type", "enabled", "value", "key", "version", "mode", "id", "description"}, name)
}

// ends reports whether one name is the end of the other, in two words or more: keySize of
// privateKey.size.
func ends(a, b []string) bool {
	n := min(len(a), len(b))
	return strings.Join(a, "") == strings.Join(b, "") || n > 1 && slices.Equal(a[len(a)-n:], b[len(b)-n:])
}

// telling reports whether the one name of two places, with the names around it, hardly occurs twice
// by chance.
func (p pair) telling() bool {
	left, entered := p.steps()
	a, b := p.ownWords()
	return p.sameName() && (min(left, entered) == 0 || left+entered < byChance && (len(p[ofHub].nameWords()) > 1 || contains(a, b) || contains(b, a)))
}

func contains(all, some []string) bool {
	return !slices.ContainsFunc(some, func(w string) bool { return !slices.Contains(all, w) })
}

// isSure reports whether a candidate may be written as a rule: nothing else is nearly as likely,
// the schemas agree to the leaves, and the names leave little doubt.
func (c candidate) isSure() bool {
	v, h := c.pair[ofVersion], c.pair[ofHub]
	at := c.step(c.suffix)
	switch left, entered := c.steps(); {
	case !c.clear, c.doubt, v.path[0].Name != h.path[0].Name, c.keys == "" && !at[ofVersion].node.Agrees(at[ofHub].node):
		return false
	case c.why != "", c.samePath():
		return true
	case v.doubt, h.doubt, c.branch():
		return false
	case c.sameName():
		return c.telling() && (min(left, entered) == 0 || !common(v.name()))
	}
	version, hub := c.ownWords()
	return ends(version, hub) && (c.keys != "codec: String" || len(version) == len(hub)) // another type may be another thing
}

// branch reports whether a place has moved into an object that is one of the values of a field next
// to it, or into one that may have one field: a branch of a union, which needs conditions.
func (p pair) branch() bool {
	at := p.own()
	for side, entered := range p {
		if at[side] == len(entered.path)-1 {
			continue
		}
		for i, q := range p { // the field may be on either side
			around := q.above[at[i]]
			if slices.ContainsFunc(around.Properties(), func(field string) bool {
				return slices.ContainsFunc(around.Property(field).Enum(), func(value string) bool {
					return spelledAlike(value, strconv.Quote(entered.path[at[side]].Name))
				})
			}) {
				return true
			}
		}
		if slices.ContainsFunc(entered.above[at[side]:], isUnion) {
			return true
		}
	}
	return false
}

func isUnion(n *crdschema.Node) bool {
	v := n.Structural().ValueValidation
	return v != nil && v.MaxProperties != nil && *v.MaxProperties == 1
}

// reason says why a candidate was found.
func (c candidate) reason() string {
	switch {
	case c.why != "":
		return c.why
	case c.shape.why != "":
		return c.shape.why
	case c.samePath():
		return "the same place"
	case c.sameName():
		return "moved under the same name"
	case c.likeness() == 0:
		return "alike inside, or the only one left"
	}
	return "a similar name"
}
