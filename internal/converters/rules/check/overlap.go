package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A claim is a place on one side that a rule, or rules of elements, name.
type claim struct {
	binding.Path
	order    int
	syntax   *syntax.Rule
	rule     *binding.Rule
	elements *binding.Elements
}

// overlaps reports places that belong to several rules. A place may have one writer, or several
// with guards.
func (p *pair) overlaps(b *binding.Binding) {
	for _, s := range sides() {
		var root claims
		for _, c := range claimsOf(b, s) {
			if p.ended() != nil {
				return
			}
			earlier := root.add(c, s)
			_ = p.keyOwned(b, s, c) || slices.ContainsFunc(earlier, func(first *claim) bool { return p.overlap(b, s, first, c) })
		}
	}
}

func claimsOf(b *binding.Binding, s binding.Side) []*claim {
	var all []*claim
	for _, r := range b.Rules {
		for _, e := range r.Ends[s] {
			all = append(all, &claim{Path: e, order: len(all), syntax: r.Syntax, rule: r})
		}
	}
	for _, e := range b.Elements {
		if e.Has[s] {
			all = append(all, &claim{Path: e.Ends[s], order: len(all), syntax: e.Rule, elements: e})
		}
	}
	return all
}

// Claims are those at a place and below it. Of claims that overlap with a later one in the same
// way, the first is known, so each claim is compared with only a few others.
type claims struct {
	first, last *claim // at the place
	single      *claim // the first by a rule that cannot share the place, whatever the guard of the other
	whole       *claim // the first by a rule of everything below the place, too
	inside      *claim // the first below the place
	all         []*claim
	below       map[syntax.Segment]*claims
}

// add adds a claim, and returns the earlier ones that it may overlap with, in their order.
func (t *claims) add(c *claim, s binding.Side) []*claim {
	var found []*claim
	for _, by := range c.Segments {
		found = append(found, t.whole)
		t.inside = cmp.Or(t.inside, c)
		by.Offset, by.End = 0, 0
		if t.below == nil {
			t.below = map[syntax.Segment]*claims{}
		}
		if t.below[by] == nil {
			t.below[by] = &claims{}
		}
		t = t.below[by]
	}
	found = append(found, t.first, t.single, t.last)
	if c.elements != nil {
		found = append(found, t.all...) // each pairs the list with something
	}
	t.first, t.last, t.all = cmp.Or(t.first, c), c, append(t.all, c)
	if c.rule != nil && c.rule.How != binding.Pairs {
		found = append(found, t.inside)
		t.whole = cmp.Or(t.whole, c)
	}
	if c.rule != nil && (!writes(c.rule, s) || !guarded(c.rule, s)) {
		t.single = cmp.Or(t.single, c)
	}
	found = slices.DeleteFunc(found, func(c *claim) bool { return c == nil })
	slices.SortFunc(found, func(a, b *claim) int { return cmp.Compare(a.order, b.order) })
	return slices.Compact(found)
}

// pos returns where the file names the place.
func (c *claim) pos(s binding.Side) syntax.Position {
	if c.Name != nil {
		return c.Name.Pos
	}
	return posOf(c.syntax, s)
}

// keyOwned reports a rule that names the field that the key of a map on the other side gives.
func (p *pair) keyOwned(b *binding.Binding, s binding.Side, c *claim) bool {
	key := b.Keys[s]
	if key == "" || len(c.Segments) == 0 || c.Segments[0].Kind != syntax.Field || c.Segments[0].Name != key {
		return false
	}
	p.say(c.pos(s), "key-is-taken", "remove the path: the key of the map gives "+key+" already",
		"%s: %s is the key of the map on the other side, by %s", c.syntax, b.Text(s, c.Segments), b.KeyBy)
	return true
}

// overlap compares two claims on one side, and reports what is wrong.
func (p *pair) overlap(b *binding.Binding, s binding.Side, first, second *claim) bool {
	switch {
	case binding.Same(first.Segments, second.Segments):
		if second.elements != nil {
			return p.listAndElements(b, s, first, second)
		}
		return p.samePlace(b, s, first, second)
	case binding.Within(second.Segments, first.Segments):
		return p.inside(b, s, first, second)
	}
	return p.inside(b, s, second, first)
}

func (p *pair) samePlace(b *binding.Binding, s binding.Side, first, second *claim) bool {
	place, x, y := b.Text(s, second.Segments), first.rule, second.rule
	guard := guardKey(s)
	switch {
	case x == y:
		p.say(second.pos(s), "place-named-twice", "name it once", "%s names %s twice", second.syntax, place)
	case !writes(x, s) || !writes(y, s):
		hint := "a place is converted, kept, or dropped: remove one of the rules"
		p.say(second.pos(s), "place-in-two-rules", hint, "%s %s and %s %s %s", first.syntax, does(x), second.syntax, does(y), place)
	case guarded(x, s) && guarded(y, s):
		return false
	case guarded(x, s) || guarded(y, s):
		lacks := x
		if guarded(x, s) {
			lacks = y
		}
		p.say(second.pos(s), "two-writers", fmt.Sprintf("add %s to %s: an expression for the objects that it converts", guard, lacks.Syntax),
			"%s and %s both write %s, but %s has no `%s`", first.syntax, second.syntax, place, lacks.Syntax, guard)
	default:
		p.say(second.pos(s), "two-writers", fmt.Sprintf("add %s to both: an expression for the objects that each converts", guard),
			"%s and %s both write %s, but have no `%s`", first.syntax, second.syntax, place, guard)
	}
	return true
}

// does says what a rule does with its place.
func does(r *binding.Rule) string {
	verbs := map[binding.How]string{binding.Drops: "drops", binding.Keeps: "keeps", binding.Computes: "computes"}
	return cmp.Or(verbs[r.How], "converts")
}

// listAndElements checks a rule of a list as a whole against rules of its elements, which are later
// claims.
func (p *pair) listAndElements(b *binding.Binding, s binding.Side, first, second *claim) bool {
	r, e := first.rule, second.elements
	if r.How == binding.Pairs && e.Has[s.Other()] && binding.Same(r.Ends[s.Other()][0].Segments, e.Ends[s.Other()].Segments) {
		return false
	}
	p.say(second.pos(s), "list-and-elements", "remove one of them; rules of the elements convert the list, too",
		"%s %s %s as a whole, and %s converts its elements", first.syntax, does(r), b.Text(s, first.Segments), second.syntax)
	return true
}

// inside checks a claim below the place of another one, which is by a rule of everything there.
func (p *pair) inside(b *binding.Binding, s binding.Side, outer, inner *claim) bool {
	if outer.rule == inner.rule {
		p.say(inner.pos(s), "place-named-twice", "name places that do not contain each other", "%s names %s and, within it, %s",
			inner.syntax, b.Text(s, outer.Segments), b.Text(s, inner.Segments))
		return true
	}
	hint := "remove one of them, or name single fields in the first"
	if outer.rule.How == binding.Uses {
		hint = "put the rule into the rule set " + strings.TrimSpace(outer.syntax.Use.Value)
	}
	p.say(inner.pos(s), "rule-within-rule", hint, "%s %s %s as a whole, and %s names %s within it",
		outer.syntax, does(outer.rule), b.Text(s, outer.Segments), inner.syntax, b.Text(s, inner.Segments))
	return true
}
