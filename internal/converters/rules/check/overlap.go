package check

import (
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A claim is a place on one side, and what it belongs to.
type claim struct {
	binding.Path
	syntax   *syntax.Rule
	rule     *binding.Rule
	elements *binding.Elements
}

// overlaps says which places belong to more than one rule: every place has one writer, or some with guards, and one class.
func (p *pair) overlaps(b *binding.Binding) {
	for _, s := range []binding.Side{binding.OfSpoke, binding.OfHub} {
		claims := claimsOf(b, s)
		made := newClaimed(s)
		for i, c := range claims {
			if p.ended() != nil {
				return
			}
			before := made.before(i, c)
			if p.keyOwned(b, s, c) {
				continue
			}
			for _, first := range before {
				if p.overlap(b, s, claims[first], c) {
					break
				}
			}
		}
	}
}

func claimsOf(b *binding.Binding, s binding.Side) []claim {
	var claims []claim
	for _, r := range b.Rules {
		for _, e := range r.Ends[s] {
			claims = append(claims, claim{Path: e, syntax: r.Syntax, rule: r})
		}
	}
	for _, e := range b.Elements {
		if e.Has[s] {
			claims = append(claims, claim{Path: e.Ends[s], syntax: e.Rule, elements: e})
		}
	}
	return claims
}

// pos returns where the file names the place.
func (c claim) pos(s binding.Side) syntax.Position {
	if c.Name != nil {
		return c.Name.Pos
	}
	if place := s.In(c.syntax); place != nil {
		return place.Pos
	}
	return c.syntax.Pos
}

// keyOwned says that a rule names the field that the key of a map on the other side is.
func (p *pair) keyOwned(b *binding.Binding, s binding.Side, c claim) bool {
	key := b.Keys[s]
	if key == "" || len(c.Segments) == 0 || c.Segments[0].Kind != syntax.Field || c.Segments[0].Name != key {
		return false
	}
	p.say(c.pos(s), "key-is-taken", "remove the path: the key of the map is what "+key+" is",
		"%s: %s is the key of the map on the other side, by %s", c.syntax, b.Text(s, c.Segments), b.KeyBy)
	return true
}

// overlap compares two claims on one side, and says what is wrong.
func (p *pair) overlap(b *binding.Binding, s binding.Side, first, second claim) bool {
	switch {
	case binding.Same(first.Segments, second.Segments):
		return p.samePlace(b, s, first, second)
	case binding.Within(second.Segments, first.Segments):
		return p.inside(b, s, first, second)
	case binding.Within(first.Segments, second.Segments):
		return p.inside(b, s, second, first)
	}
	return false
}

func (p *pair) samePlace(b *binding.Binding, s binding.Side, first, second claim) bool {
	place := b.Text(s, second.Segments)
	if first.elements != nil || second.elements != nil {
		return p.listAndElements(b, s, first, second)
	}
	x, y := first.rule, second.rule
	if x == y {
		p.say(second.pos(s), "place-named-twice", "name it once", "%s names %s twice", second.syntax, place)
		return true
	}
	if !writes(x, s) || !writes(y, s) {
		hint := "a place is converted, kept, or dropped: remove one of the rules"
		p.say(second.pos(s), "place-in-two-rules", hint, "%s %s and %s %s %s", first.syntax, does(x), second.syntax, does(y), place)
		return true
	}
	guard := guardKey(s)
	switch {
	case guarded(x, s) && guarded(y, s):
		return false
	case guarded(x, s) || guarded(y, s):
		lacks := x
		if guarded(x, s) {
			lacks = y
		}
		p.say(second.pos(s), "two-writers", fmt.Sprintf("add %s to %s: the expression for the objects that it is for", guard, lacks.Syntax),
			"%s and %s both write %s and %s has no `%s`", first.syntax, second.syntax, place, lacks.Syntax, guard)
	default:
		p.say(second.pos(s), "two-writers", fmt.Sprintf("add %s to both: the expression for the objects that each is for", guard),
			"%s and %s both write %s and have no `%s`", first.syntax, second.syntax, place, guard)
	}
	return true
}

// does says what a rule does with its place.
func does(r *binding.Rule) string {
	switch r.How {
	case binding.Drops:
		return "drops"
	case binding.Keeps:
		return "keeps"
	case binding.Computes:
		return "computes"
	case binding.Pairs, binding.Converts, binding.Uses:
	}
	return "converts"
}

// listAndElements judges a rule of a list as a whole beside rules of its elements.
func (p *pair) listAndElements(b *binding.Binding, s binding.Side, first, second claim) bool {
	if first.elements != nil && second.elements != nil {
		return true // said when they were bound
	}
	whole, elements := first, second
	if first.elements != nil {
		whole, elements = second, first
	}
	r, e := whole.rule, elements.elements
	if r.How == binding.Pairs && e.Has[s.Other()] && binding.Same(r.Ends[s.Other()][0].Segments, e.Ends[s.Other()].Segments) {
		return false
	}
	p.say(second.pos(s), "list-and-elements", "remove one of them; the elements' rules say enough of the list",
		"%s %s %s as a whole, and %s its elements", whole.syntax, does(r), b.Text(s, whole.Segments), elements.syntax)
	return true
}

// inside judges a rule below the place of another one.
func (p *pair) inside(b *binding.Binding, s binding.Side, outer, inner claim) bool {
	if outer.elements != nil || outer.rule.How == binding.Pairs {
		return false
	}
	if outer.rule == inner.rule && inner.rule != nil {
		p.say(inner.pos(s), "place-named-twice", "name places that are apart", "%s names %s and, within it, %s",
			inner.syntax, b.Text(s, outer.Segments), b.Text(s, inner.Segments))
		return true
	}
	p.say(inner.pos(s), "rule-within-rule", withinHint(outer.rule), "%s %s %s as a whole, and %s names %s within it",
		outer.syntax, does(outer.rule), b.Text(s, outer.Segments), inner.syntax, b.Text(s, inner.Segments))
	return true
}

func withinHint(outer *binding.Rule) string {
	if outer.How == binding.Uses {
		return "put the rule into the rule set " + strings.TrimSpace(outer.Syntax.Use.Value)
	}
	return "remove one of them, or name single fields in the first"
}
