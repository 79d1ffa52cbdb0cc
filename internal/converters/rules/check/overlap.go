package check

import (
	"fmt"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A claim is a place on one side, and the rule that it belongs to.
type claim struct {
	path  []syntax.Segment
	rule  *syntax.Rule
	tie   *tie
	index int // which end of the tie
	group *group
}

// overlaps says which places belong to more than one rule: every place has one writer, or some with guards, and one class.
func (b *builder) overlaps(r *relation) {
	for s := range r.base {
		claims := r.claims(side(s))
		for i, c := range claims {
			if b.keyOwned(r, side(s), c) {
				continue
			}
			for _, first := range claims[:i] {
				if b.overlap(r, side(s), first, c) {
					break
				}
			}
		}
	}
}

func (r *relation) claims(s side) []claim {
	var claims []claim
	for _, t := range r.ties {
		for i, e := range t.ends[s] {
			claims = append(claims, claim{path: e.path, rule: t.rule, tie: t, index: i})
		}
	}
	for _, g := range r.groups {
		if g.has[s] {
			claims = append(claims, claim{path: g.path[s], rule: g.rule, group: g})
		}
	}
	return claims
}

// pos returns where the file names the place.
func (c claim) pos(s side) syntax.Position {
	if c.tie != nil {
		if name := c.tie.ends[s][c.index].name; name != nil {
			return name.Pos
		}
	}
	if place := map[side]*syntax.Place{ofField: c.rule.Field, ofHub: c.rule.Hub}[s]; place != nil {
		return place.Pos
	}
	return c.rule.Pos
}

// keyOwned says that a rule names the field that the key of a map on the other side is.
func (b *builder) keyOwned(r *relation, s side, c claim) bool {
	key := r.keys[s]
	if key == "" || len(c.path) == 0 || c.path[0].Kind != syntax.Field || c.path[0].Name != key {
		return false
	}
	b.say(c.pos(s), "key-is-taken", "remove the path: the key of the map is what "+key+" is",
		"%s: %s is the key of the map on the other side, by %s", c.rule, r.text(s, c.path), r.keyBy)
	return true
}

// overlap compares two claims on one side, and says what is wrong.
func (b *builder) overlap(r *relation, s side, first, second claim) bool {
	switch {
	case same(first.path, second.path):
		return b.samePlace(r, s, first, second)
	case within(second.path, first.path):
		return b.inside(r, s, first, second)
	case within(first.path, second.path):
		return b.inside(r, s, second, first)
	}
	return false
}

func (b *builder) samePlace(r *relation, s side, first, second claim) bool {
	place := r.text(s, second.path)
	if first.group != nil || second.group != nil {
		return b.listAndElements(r, s, first, second)
	}
	x, y := first.tie, second.tie
	if x == y {
		b.say(second.pos(s), "place-named-twice", "name it once", "%s names %s twice", second.rule, place)
		return true
	}
	if !x.writes(s) || !y.writes(s) {
		hint := "a place is converted, kept, or dropped: remove one of the rules"
		b.say(second.pos(s), "place-in-two-rules", hint, "%s %s and %s %s %s", first.rule, x.does(), second.rule, y.does(), place)
		return true
	}
	guard := s.guardKey()
	switch {
	case x.guarded(s) && y.guarded(s):
		return false
	case x.guarded(s) || y.guarded(s):
		lacks := x
		if x.guarded(s) {
			lacks = y
		}
		b.say(second.pos(s), "two-writers", fmt.Sprintf("add %s to %s: the expression for the objects that it is for", guard, lacks.rule),
			"%s and %s both write %s and %s has no `%s`", first.rule, second.rule, place, lacks.rule, guard)
	default:
		b.say(second.pos(s), "two-writers", fmt.Sprintf("add %s to both: the expression for the objects that each is for", guard),
			"%s and %s both write %s and have no `%s`", first.rule, second.rule, place, guard)
	}
	return true
}

// does says what a rule does with its place.
func (t *tie) does() string {
	switch t.how {
	case drops:
		return "drops"
	case keeps:
		return "keeps"
	case computes:
		return "computes"
	case pairs, converts, uses:
	}
	return "converts"
}

// listAndElements judges a rule of a list as a whole beside rules of its elements.
func (b *builder) listAndElements(r *relation, s side, first, second claim) bool {
	if first.group != nil && second.group != nil {
		return true // said when the groups were made
	}
	whole, elements := first, second
	if first.group != nil {
		whole, elements = second, first
	}
	t, g := whole.tie, elements.group
	if t.how == pairs && g.has[s.other()] && same(t.ends[s.other()][0].path, g.path[s.other()]) {
		return false
	}
	b.say(second.pos(s), "list-and-elements", "remove one of them; the elements' rules say enough of the list",
		"%s %s %s as a whole, and %s its elements", whole.rule, t.does(), r.text(s, whole.path), elements.rule)
	return true
}

// inside judges a rule below the place of another one.
func (b *builder) inside(r *relation, s side, outer, inner claim) bool {
	if outer.group != nil || outer.tie.how == pairs {
		return false
	}
	if outer.tie == inner.tie && inner.tie != nil {
		b.say(inner.pos(s), "place-named-twice", "name places that are apart", "%s names %s and, within it, %s",
			inner.rule, r.text(s, outer.path), r.text(s, inner.path))
		return true
	}
	b.say(inner.pos(s), "rule-within-rule", withinHint(outer.tie), "%s %s %s as a whole, and %s names %s within it",
		outer.rule, outer.tie.does(), r.text(s, outer.path), inner.rule, r.text(s, inner.path))
	return true
}

func withinHint(outer *tie) string {
	if outer.how == uses {
		return "put the rule into the rule set " + strings.TrimSpace(outer.rule.Use.Value)
	}
	return "remove one of them, or name single fields in the first"
}
