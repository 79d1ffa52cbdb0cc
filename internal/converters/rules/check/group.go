package check

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// group puts a rule that goes through elements into the group of its lists. An item whose other side has no paths, but one
// end, goes with that list.
func (b *builder) group(r *relation, i item) {
	var path [2][]syntax.Segment
	var by [2]syntax.Segment
	var has [2]bool
	inner := item{rule: i.rule}
	for s, ends := range i.paths {
		at := iterating(ends)
		if at < 0 {
			continue
		}
		path[s], by[s], has[s] = ends[0].path[:at], ends[0].path[at], true
		for _, e := range ends {
			e.path = e.path[at+1:]
			if e.name != nil {
				inner.paths[s] = append(inner.paths[s], e)
			}
		}
	}
	g := b.groupOf(r, i.rule, path, by, has)
	if g == nil {
		b.unsure = true
		return
	}
	g.rel.items = append(g.rel.items, inner)
}

// groupOf finds or makes the group of two lists or maps. A list has one counterpart, so that it is clear where the rest of
// its elements goes.
func (b *builder) groupOf(
	r *relation, rule *syntax.Rule, path [2][]syntax.Segment, by [2]syntax.Segment, has [2]bool,
) *group {
	for _, g := range r.groups {
		var is, matters [2]bool
		for s := range is {
			is[s] = has[s] && g.has[s] && same(g.path[s], path[s])
			matters[s] = has[s] && g.has[s]
		}
		switch {
		case is == matters && (is[0] || is[1]):
			for s := range is {
				if !g.has[s] && has[s] {
					return nil
				}
			}
			g.key(rule, by)
			return g
		case is[0] || is[1]:
			s := ofField
			if is[1] {
				s = ofHub
			}
			o := s.other()
			b.say(rule.Pos, "list-with-two-counterparts", "convert one of them as a whole, with toHub and fromHub",
				"%s pairs the elements of %s with those of %s, and %s with those of %s",
				rule, r.text(s, path[s]), r.text(o, path[o]), g.rule, r.text(o, g.path[o]))
			return nil
		}
	}
	g := &group{rule: rule, path: path, by: by, has: has, rel: &relation{}}
	for s := range has {
		if has[s] {
			whole := append(slices.Clone(path[s]), by[s])
			g.rel.base[s], g.rel.prefix[s] = r.base[s].walk(whole), r.text(side(s), whole)
		}
	}
	g.key(rule, by)
	r.groups = append(r.groups, g)
	return g
}

// key remembers that the key of a map on one side is a field of the elements on the other, and the first rule that says so.
func (g *group) key(rule *syntax.Rule, by [2]syntax.Segment) {
	for s := range by {
		if g.rel.keyBy == nil && by[s].Kind == syntax.KeyedElements && by[1-s].Kind == syntax.KeyedValues {
			g.rel.keys[s], g.rel.keyBy = by[s].Name, rule
		}
	}
}

// paired gives a one-sided rule that goes through elements an end on the other side: the list that its list is a pair with,
// by another rule or by its name. There may be none.
func (b *builder) paired(r *relation, i item) item {
	s := ofField
	if len(i.paths[ofField]) == 0 {
		s = ofHub
	}
	o := s.other()
	at := iterating(i.paths[s])
	list, by := i.paths[s][0].path[:at], i.paths[s][0].path[at]
	if g := r.groupAt(s, list); g != nil {
		if g.has[o] {
			i.paths[o] = []end{{path: append(slices.Clone(g.path[o]), g.by[o])}}
		}
		return i
	}
	other, ok := r.counterpart(s, list)
	if !ok {
		return i
	}
	here, there := r.base[s].walk(list), r.base[o].walk(other)
	plain := syntax.Segment{Kind: syntax.Elements}
	if by.Kind == syntax.Values || by.Kind == syntax.KeyedValues {
		plain.Kind = syntax.Values
	}
	switch {
	case !there.known:
	case there.step(plain).known && (there.free() || here.free() || there.node.Kind() == here.node.Kind()):
		i.paths[o] = []end{{path: append(slices.Clone(other), plain)}}
	default:
		b.say(i.paths[s][0].name.Pos, "elements-without-counterpart", "convert it, or keep or drop it as a whole",
			"%s: %s is %s in %s, and %s in %s", i.rule, r.text(s, list), here.node.Kind(), b.names[s], there.node.Kind(), b.names[o])
	}
	return i
}

// counterpart returns the place that another one is copied to: by the pair nearest above it, else by its name. It is false
// if there is none.
func (r *relation) counterpart(s side, path []syntax.Segment) ([]syntax.Segment, bool) {
	var best, other []syntax.Segment
	through := -1
	for _, t := range r.ties {
		for _, e := range t.ends[s] {
			if !same(e.path, path) && !within(path, e.path) || len(e.path) < through {
				continue
			}
			through = len(e.path)
			if t.how != pairs || len(t.ends[s.other()]) != 1 {
				return nil, false
			}
			best, other = e.path, t.ends[s.other()][0].path
		}
	}
	there := slices.Concat(other, path[len(best):])
	for n := len(other) + 1; n <= len(there); n++ {
		if r.owner(s.other(), there[:n]) != nil {
			return nil, false
		}
	}
	return there, true
}
