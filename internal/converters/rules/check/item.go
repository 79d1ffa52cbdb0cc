package check

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// An item is a rule as it applies below some place: what is left of its paths from there on.
type item struct {
	rule  *syntax.Rule
	paths [2][]end // with what the schema has at the end
}

// items resolves the paths of rules below the bases of a relation.
func (b *builder) items(rules []*syntax.Rule, r *relation, root bool) []item {
	var items []item
	for _, rule := range rules {
		sides := [2]binding.Side{}
		for s := range sides {
			sides[s] = binding.Side{
				What: side(s).key(), Version: b.names[s], Base: r.base[s].node, Root: root, Prefix: r.prefix[s],
			}
		}
		if rule.Field == nil && rule.Hub == nil {
			b.unsure = true
			continue
		}
		if rule.Set != "" && sides[0].Lacks(rule.Field) && sides[1].Lacks(rule.Hub) {
			b.lacking[rule] = true // the end of a recursive type: there is nothing to convert
			continue
		}
		b.applied[rule] = true
		i, ok := b.item(rule, r, sides)
		if ok && rule.Broken && (iterating(i.paths[0]) >= 0 || iterating(i.paths[1]) >= 0) {
			b.unsure, ok = true, false // its elements may not pair
		}
		if ok {
			items = append(items, i)
		}
	}
	return items
}

func (b *builder) item(rule *syntax.Rule, r *relation, sides [2]binding.Side) (item, bool) {
	i := item{rule: rule}
	for s, place := range [2]*syntax.Place{rule.Field, rule.Hub} {
		_, found := sides[s].Place(rule, place)
		for _, f := range found {
			b.report(f)
		}
		if len(found) > 0 || rule.Broken && place == nil {
			// What the rule would cover on this side is not known.
			b.unsure = b.unsure || len(found) > 0 || rule.Drop == nil
			return i, false
		}
		if place == nil {
			continue
		}
		for p := range place.Paths {
			named := &place.Paths[p]
			i.paths[s] = append(i.paths[s], end{named.Path.Segments, r.base[s].walk(named.Path.Segments), named})
		}
	}
	return i, true
}

// spliced replaces each `use` between the two bases themselves by the rules of the set.
func (b *builder) spliced(r *relation, items []item) []item {
	const deepest = 32 // a set that applies itself to its own places
	for range deepest {
		at := slices.IndexFunc(items, func(i item) bool {
			return i.rule.Use != nil && len(i.paths[0]) == 1 && len(i.paths[0][0].path) == 0 &&
				len(i.paths[1]) == 1 && len(i.paths[1][0].path) == 0
		})
		if at < 0 {
			break
		}
		var more []item
		if set, done := b.set(r, items[at].rule); set != nil && done == nil {
			more = b.items(set.Rules, r, false)
		}
		items = slices.Concat(items[:at:at], more, items[at+1:])
	}
	return items
}

// set returns the rule set that a rule applies to the bases of a relation, and the relation that this was done in before:
// places without a schema recur for ever.
func (b *builder) set(r *relation, rule *syntax.Rule) (set *syntax.RuleSet, done *relation) {
	set = b.conversion.RuleSet(rule.Use.Value)
	if set == nil {
		b.unsure = true
		return nil, nil
	}
	for s, base := range r.base {
		if !base.objectish() && !base.arrayish() {
			b.say(rule.Use.Pos, "use-of-a-value", "apply it to objects, or to each element with []",
				"%s: %s is %s, which has no fields for the rule set %s", rule, r.text(side(s), nil), base.node.Kind(), set.Name)
			b.unsure = true
			return nil, nil
		}
	}
	key := setPlaces{set, r.base[0].node, r.base[1].node, r.picked}
	if b.made[key] == nil {
		b.made[key] = r
		return set, nil
	}
	return set, b.made[key]
}
