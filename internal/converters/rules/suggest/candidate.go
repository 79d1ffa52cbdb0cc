package suggest

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/document/didyoumean"
)

// How likely a pair is goes from 0 to 1: the part of the names, or of the fields, that is the same.
const (
	likely   = 0.5 // the least of a guess
	byChance = 4   // so many fields of one name may be in two objects by chance
)

// A candidate is a pair of places that may be the same.
type candidate struct {
	pair
	shape
	score float64
	clear bool // no other candidate of either place is as likely
}

// acceptAll accepts the candidates without rivals, and the likeliest of those whose names tell. It
// reports whether there are any.
func (r *region) acceptAll() (accepted bool) {
	var all []candidate
	hubs := r.spread(ofHub)
	for _, v := range r.spread(ofVersion) {
		for _, h := range hubs {
			if c, ok := r.score(pair{v, h}); ok && r.isFree(c.pair) {
				all = append(all, c)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(a.depth()-b.depth(), cmp.Compare(b.score, a.score), a.distance()-b.distance())
	})
	for _, c := range all {
		c.clear = !slices.ContainsFunc(all, c.hasRival)
		left, entered := c.steps()
		tells := c.likeness() > 0 && (!c.sameName() || min(left, entered) == 0)
		if (c.clear || tells) && r.isFree(c.pair) {
			r.accept(c)
			accepted = true
		}
	}
	return accepted
}

// hasRival reports whether another candidate has one of the places, and is likelier, or as likely
// and either as near or by the same name.
func (c candidate) hasRival(o candidate) bool {
	is := func(side int) bool { return slices.Equal(c.pair[side].names, o.pair[side].names) }
	return is(ofVersion) != is(ofHub) && (o.score > c.score || o.score == c.score && (o.endAlike() || o.distance() <= c.distance()))
}

// holds reports whether one rule for the pair covers several fields.
func (c candidate) holds() bool {
	return content(c.pair[ofVersion].node) != nil && content(c.pair[ofHub].node) != nil && c.keys == ""
}

// depth returns how many fields lead to a pair that holds others, and more for other pairs: objects
// are compared before what is in them.
func (c candidate) depth() int {
	if c.holds() {
		return len(c.pair[ofVersion].names) + len(c.pair[ofHub].names)
	}
	return math.MaxInt
}

// score returns a candidate, and whether it is likely.
func (r *region) score(p pair) (c candidate, ok bool) {
	v, h := p[ofVersion], p[ofHub]
	s, ok := between(p)
	if !ok || (v.names[0] == "status") != (h.names[0] == "status") || !p.samePath() && (v.in(h) || h.in(v)) {
		return c, false
	}
	c = candidate{pair: p, shape: s}
	c.score = c.likeness()
	left, entered := p.steps()
	if c.holds() {
		common, part := shared(content(v.node), content(h.node))
		if part < likely && common <= byChance {
			return c, false
		}
		c.score = max(c.score, part)
	}
	alone := c.holds() || v.node.Same(h.node) && len(v.node.Properties()) == 0 // right if no other one is as near
	if alone && (left+entered == 0 || left+entered == 1 && r.root[ofVersion].path != "") {
		c.score = max(c.score, likely)
	}
	return c, c.score >= likely
}

// own returns at which field the two paths part.
func (p pair) own() (at int) {
	v, h := p[ofVersion].outer(), p[ofHub].outer()
	for at < min(len(v), len(h)) && v[at] == h[at] {
		at++
	}
	return at
}

// steps returns how many objects a place has left and entered.
func (p pair) steps() (left, entered int) {
	return len(p[ofVersion].outer()) - p.own(), len(p[ofHub].outer()) - p.own()
}

func (p pair) distance() int {
	left, entered := p.steps()
	return left + entered
}

func (p pair) sameName() bool { return p[ofVersion].name() == p[ofHub].name() }

func (p pair) samePath() bool { return slices.Equal(p[ofVersion].names, p[ofHub].names) }

// words returns the words of both places from there, but those that the keys account for.
func (c candidate) words() (words [2][]string) {
	for side, p := range c.pair {
		for _, name := range p.names[c.own():] {
			words[side] = append(words[side], didyoumean.Words(name)...)
		}
		words[side] = slices.DeleteFunc(words[side], func(w string) bool { return slices.Contains(c.units, w) })
	}
	return words
}

// likeness compares the names of two places, with those of the objects that they do not share.
func (c candidate) likeness() float64 {
	if c.endAlike() {
		return 1
	}
	words := c.words()
	return didyoumean.Similarity(words[ofVersion], words[ofHub])
}

// endAlike reports whether the words of one place are the last ones of the other, as one name or in
// two words or more: keySize is privateKey.size.
func (c candidate) endAlike() bool {
	words := c.words()
	a, b := words[ofVersion], words[ofHub]
	n := min(len(a), len(b))
	return strings.Join(a, "") == strings.Join(b, "") || (n > 1 || c.sameName()) && slices.Equal(a[len(a)-n:], b[len(b)-n:])
}

// isSure reports whether nothing else is as likely, the schemas agree to the leaves, and the names
// leave little doubt.
func (c candidate) isSure(root pair) bool {
	at := c.ends()
	if !c.clear || c.doubt || c.keys == "" && !at[ofVersion].node.Agrees(at[ofHub].node) {
		return false
	}
	return c.named || c.samePath() || c.endAlike() && !c.pair[ofVersion].clash && !c.pair[ofHub].clash && !c.branch(root)
}

// branch reports whether a place has moved into an object that is one of the values of a field next
// to it, or into one that may have one field: a branch of a union, which needs conditions.
func (p pair) branch(around pair) bool {
	for _, name := range p[ofVersion].names[:p.own()] {
		around = pair{around[ofVersion].field(name), around[ofHub].field(name)}
	}
	for side, moved := range p {
		at := around[side]
		for _, name := range moved.outer()[p.own():] {
			for _, f := range append(at.fields(), around[1-side].fields()...) { // the field may be on either side
				if slices.ContainsFunc(f.node.Enum(), func(value string) bool { return spelledAlike(value, strconv.Quote(name)) }) {
					return true
				}
			}
			if v := at.node.Structural().ValueValidation; v != nil && v.MaxProperties != nil && *v.MaxProperties == 1 {
				return true
			}
			at = at.field(name)
		}
	}
	return false
}

// reason says why a candidate was found.
func (c candidate) reason() string {
	switch {
	case c.why != "":
		return c.why
	case c.samePath():
		return "the same place"
	case c.sameName():
		return "moved under the same name"
	case c.likeness() == 0:
		return "alike inside, or the only one left"
	}
	return "a similar name"
}
