package binding

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// elements adds a rule that goes through elements to the others of its lists.
func (b *binder) elements(r *Binding, p pending) {
	to := Elements{Rule: p.rule}
	inner := pending{rule: p.rule, found: true}
	for s, ends := range p.paths {
		at := iterating(ends)
		if at < 0 {
			continue
		}
		path := ends[0].Segments[:at]
		to.Ends[s] = Path{Segments: path, Place: r.Base[s].Walk(path), Base: r.Base[s]}
		to.By[s], to.Has[s] = ends[0].Segments[at], true
		for _, e := range ends {
			if e.Name != nil { // otherwise it only names the list
				e.Segments = e.Segments[at+1:]
				inner.paths[s] = append(inner.paths[s], e)
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

// elementsOf returns the Elements of two lists or maps, which it creates if needed. It returns nil
// after a finding. A list may have only one counterpart, since that is where its other elements go.
func (b *binder) elementsOf(r *Binding, to Elements) *Elements {
	var near []*Elements
	for s := range to.Ends {
		if to.Has[s] {
			near = append(near, r.indexOf(Side(s)).find(to.Ends[s].Segments).elements...)
		}
	}
	for _, e := range inOrder(near) {
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
			b.say(to.Rule.Pos, "list-with-two-counterparts", "convert one of them as a whole, with toHub and toSpoke",
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

// joined returns Elements that a rule can be added to, or nil if the rule gives them a counterpart
// that they do not have, or takes a list for a map.
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

// know notes the key fields that a rule gives for elements. The first rule wins.
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

// paired gives a one-sided rule for elements a path on the other side: the counterpart of its list,
// by another rule or by its name, if it has one.
func (b *binder) paired(r *Binding, p pending) pending {
	s := p.side()
	o := s.Other()
	at := iterating(p.paths[s])
	list, by := p.paths[s][0].Segments[:at], p.paths[s][0].Segments[at]
	if e := r.ElementsAt(s, list); e != nil {
		if e.Has[o] {
			p.paths[o] = []Path{{Segments: e.Whole(o)}}
		}
		return p
	}
	other, ok := r.Counterpart(s, list)
	if !ok {
		return p
	}
	here, there := r.Base[s].Walk(list), r.Base[o].Walk(other)
	switch {
	case !there.Known:
	case there.Step(by).Known && (there.Free() || here.Free() || there.Node.Kind() == here.Node.Kind()):
		p.paths[o] = []Path{{Segments: append(slices.Clone(other), plain(by))}}
	case howOf(p.rule) == Keeps || howOf(p.rule) == Drops: // what the other side has by that name is something else
	default:
		b.say(p.paths[s][0].Name.Pos, "elements-without-counterpart", "convert it, or keep or drop it as a whole",
			"%s: %s is %s in %s, and %s in %s", p.rule, r.Text(s, list), here.Node.Kind(), b.Names[s], there.Node.Kind(), b.Names[o])
	}
	return p
}

// plain returns the segment [] or {} that goes through the same elements.
func plain(by syntax.Segment) syntax.Segment {
	if IsMap(by) {
		return syntax.Segment{Kind: syntax.Values}
	}
	return syntax.Segment{Kind: syntax.Elements}
}

// Counterpart returns the place that a place is copied to, by the nearest pair above it or by its
// name, and whether there is one.
func (b *Binding) Counterpart(s Side, path []syntax.Segment) ([]syntax.Segment, bool) {
	var other []syntax.Segment
	n := len(path)
	for n > 0 && len(b.RulesAt(s, path[:n])) == 0 {
		n--
	}
	for _, r := range b.RulesAt(s, path[:n]) {
		if r.How != Pairs || len(r.Ends[s.Other()]) != 1 {
			return nil, false
		}
		other = r.Ends[s.Other()][0].Segments
	}
	there := slices.Concat(other, path[n:])
	for n := len(other) + 1; n <= len(there); n++ {
		if b.Owner(s.Other(), there[:n]) != nil {
			return nil, false
		}
	}
	return there, true
}
