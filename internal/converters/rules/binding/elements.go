package binding

import (
	"cmp"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// elements puts a rule that goes through elements with the others of its lists.
func (b *binder) elements(r *Binding, p pending) {
	to := Elements{Rule: p.rule}
	inner := pending{rule: p.rule, found: true}
	for s, ends := range p.ends {
		at := iterating(ends)
		if at < 0 {
			continue
		}
		path := ends[0].Segments[:at]
		to.Ends[s] = Path{Segments: path, Place: r.Base[s].Walk(path), Base: r.Base[s]}
		to.By[s], to.Has[s] = ends[0].Segments[at], true
		for _, e := range ends {
			if e.Name != nil { // else it is only there to say which list it is
				e.Segments = e.Segments[at+1:]
				inner.ends[s] = append(inner.ends[s], e)
			}
		}
	}
	e := b.elementsOf(r, to)
	if e == nil {
		b.Unsure = true
		return
	}
	e.know(p.rule, to.By)
	e.rules = append(e.rules, inner)
}

// elementsOf finds or makes the Elements of two lists or maps. A list has one counterpart, so that it is clear where the rest
// of its elements goes.
func (b *binder) elementsOf(r *Binding, to Elements) *Elements {
	for _, e := range r.elementsNear(to) {
		var is, matters [2]bool
		for s := range is {
			matters[s] = to.Has[s] && e.Has[s]
			is[s] = matters[s] && Same(e.Ends[s].Segments, to.Ends[s].Segments)
		}
		switch {
		case is == matters && (is[0] || is[1]):
			return b.joined(r, e, to)
		case is[0] || is[1]:
			s := OfSpoke
			if is[1] {
				s = OfHub
			}
			o := s.Other()
			b.say(to.Rule.Pos, "list-with-two-counterparts", "convert one of them as a whole, with toHub and fromHub",
				"%s pairs the elements of %s with those of %s, and %s with those of %s", to.Rule,
				r.Text(s, to.Ends[s].Segments), r.Text(o, to.Ends[o].Segments), e.Rule, r.Text(o, e.Ends[o].Segments))
			return nil
		}
	}
	to.Binding = &Binding{}
	for s := range to.Has {
		if to.Has[s] {
			whole := to.Whole(Side(s))
			to.Binding.Base[s], to.Binding.Prefix[s] = r.Base[s].Walk(whole), r.Text(Side(s), whole)
		}
	}
	r.Elements = append(r.Elements, &to)
	return &to
}

// elementsNear returns the Elements that share a list or map with others, in their order.
func (b *Binding) elementsNear(to Elements) []*Elements {
	var found []*Elements
	for s := OfSpoke; s <= OfHub; s++ {
		if at := b.indexOf(s).find(to.Ends[s].Segments); at != nil && to.Has[s] {
			found = append(found, at.elements...)
		}
	}
	slices.SortFunc(found, func(a, b *Elements) int { return cmp.Compare(a.order, b.order) })
	return slices.Compact(found)
}

// joined returns the Elements, unless a rule takes them for those of a map and others for those of a list, or they have no
// counterpart, and the rule says one.
func (b *binder) joined(r *Binding, e *Elements, to Elements) *Elements {
	for s := range to.Has {
		switch {
		case to.Has[s] && !e.Has[s]:
			return nil
		case to.Has[s] && IsMap(to.By[s]) != IsMap(e.By[s]):
			b.say(to.Rule.Pos, "list-or-map", "write [] or {} in both", "%s goes through %s by %s, and %s by %s",
				to.Rule, r.Text(Side(s), e.Ends[s].Segments), to.By[s], e.Rule, e.By[s])
			return nil
		}
	}
	return e
}

// know remembers what a rule says of the keys of elements: of the first rule that says something.
func (e *Elements) know(rule *syntax.Rule, by [2]syntax.Segment) {
	for s := range by {
		if by[s].Kind != syntax.KeyedElements {
			continue
		}
		if e.Key[s] == "" {
			e.Key[s] = by[s].Name
		}
		if e.Binding.KeyBy == nil && IsMap(by[1-s]) {
			e.Binding.Keys[s], e.Binding.KeyBy = by[s].Name, rule
		}
	}
}

// paired gives a one-sided rule that goes through elements an end on the other side: the list that its list is a pair with,
// by another rule or by its name. There may be none.
func (b *binder) paired(r *Binding, p pending) pending {
	s := OfSpoke
	if len(p.ends[OfSpoke]) == 0 {
		s = OfHub
	}
	o := s.Other()
	at := iterating(p.ends[s])
	list, by := p.ends[s][0].Segments[:at], p.ends[s][0].Segments[at]
	if e := r.ElementsAt(s, list); e != nil {
		if e.Has[o] {
			p.ends[o] = []Path{{Segments: e.Whole(o)}}
		}
		return p
	}
	other, ok := r.counterpart(s, list)
	if !ok {
		return p
	}
	here, there := r.Base[s].Walk(list), r.Base[o].Walk(other)
	plain := syntax.Segment{Kind: syntax.Elements}
	if IsMap(by) {
		plain.Kind = syntax.Values
	}
	switch {
	case !there.Known:
	case there.Step(plain).Known && (there.Free() || here.Free() || there.Node.Kind() == here.Node.Kind()):
		p.ends[o] = []Path{{Segments: append(slices.Clone(other), plain)}}
	default:
		b.say(p.ends[s][0].Name.Pos, "elements-without-counterpart", "convert it, or keep or drop it as a whole",
			"%s: %s is %s in %s, and %s in %s", p.rule, r.Text(s, list), here.Node.Kind(), b.Names[s], there.Node.Kind(), b.Names[o])
	}
	return p
}

// rulesOnTheWay returns the rules that name a place or one that it is in, in their order.
func (b *Binding) rulesOnTheWay(s Side, path []syntax.Segment) []*Rule {
	at := b.indexOf(s)
	found := slices.Clone(at.rules)
	for _, by := range path {
		if at = at.step(by); at == nil {
			break
		}
		found = append(found, at.rules...)
	}
	slices.SortFunc(found, func(a, b *Rule) int { return cmp.Compare(a.order, b.order) })
	return slices.Compact(found)
}

// counterpart returns the place that another one is copied to: by the pair nearest above it, else by its name. It is false
// if there is none.
func (b *Binding) counterpart(s Side, path []syntax.Segment) ([]syntax.Segment, bool) {
	var best, other []syntax.Segment
	through := -1
	for _, r := range b.rulesOnTheWay(s, path) {
		for _, e := range r.Ends[s] {
			if !Same(e.Segments, path) && !Within(path, e.Segments) || len(e.Segments) < through {
				continue
			}
			through = len(e.Segments)
			if r.How != Pairs || len(r.Ends[s.Other()]) != 1 {
				return nil, false
			}
			best, other = e.Segments, r.Ends[s.Other()][0].Segments
		}
	}
	there := slices.Concat(other, path[len(best):])
	for n := len(other) + 1; n <= len(there); n++ {
		if b.Owner(s.Other(), there[:n]) != nil {
			return nil, false
		}
	}
	return there, true
}
