package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/keep/annotation"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Layout returns the layout of one side of a version, which package keep needs, with its Repeats.
func Layout(s *binding.Spoke, own binding.Side, repeats bool) *keep.Layout {
	l := layouter{own: own, other: own.Other(), made: map[*binding.Binding]*keep.Place{}}
	return &keep.Layout{Schema: s.Root.Base[own].Node, Other: s.Root.Base[l.other].Node, Root: l.root(s.Root), Repeats: repeats}
}

// A layouter makes the places of one version.
type layouter struct {
	own, other binding.Side
	made       map[*binding.Binding]*keep.Place
}

// root returns the place at the base of a binding.
func (l *layouter) root(of *binding.Binding) *keep.Place {
	if p := l.made[of]; p != nil {
		return p
	}
	p := &keep.Place{Scope: true}
	l.made[of] = p
	for _, r := range of.Rules {
		l.rule(p, of, r)
	}
	for _, e := range of.Elements {
		if e.Paired() {
			l.elements(p, of, e)
		}
	}
	l.units(p, of)
	for _, r := range of.Rules {
		for _, path := range r.Ends[l.other] {
			l.unpaired(p, of, path.Segments, r.Ends[l.own])
		}
	}
	for _, e := range of.Elements {
		l.unpaired(p, of, e.Ends[l.other].Segments, e.Ends[l.own:l.own+1])
	}
	return p
}

// rule notes what a rule does with its places.
func (l *layouter) rule(root *keep.Place, of *binding.Binding, r *binding.Rule) {
	other := r.Ends[l.other]
	for i, path := range r.Ends[l.own] {
		p := placeOf(root, path.Segments, of.Base[l.own])
		p.Moved = true
		p.Dropped = p.Dropped || r.How == binding.Drops
		p.Conditional = p.Conditional || isConditional(r)
		p.Computed = p.Computed || r.Transform[l.other] != nil
		for i, segment := range path.Segments {
			above := placeOf(root, path.Segments[:i], of.Base[l.own])
			above.First = above.First || segment.Kind == syntax.First
			above.Decided = above.Decided || i > 0 && decides(r)
		}
		if d := r.DefaultOf(l.own, i); d != nil {
			p.Default = d.JSON
		}
		for i, from := range other {
			p.FilledThere = p.FilledThere || r.DefaultOf(l.other, i) != nil
			p.From = append(p.From, keepPath(from.Segments, from.Base))
		}
		if r.Hands() && len(other) == 1 {
			p.Counterparts = append(p.Counterparts, keep.Counterpart{Path: keepPath(other[0].Segments, other[0].Base), Schema: other[0].Place.Node})
			p.Element, p.Keys = firstElement(other[0])
		}
		if r.Below != nil {
			p.RuleSet, p.Use = l.root(r.Below), r
		}
	}
}

// isConditional reports whether what a rule gives depends on other places than its own.
func isConditional(r *binding.Rule) bool {
	for s := range r.Ends {
		if w := r.Transform[s]; r.When[s] != nil || w != nil && len(w.Reads) > 0 {
			return true
		}
	}
	return false
}

// decides reports whether a condition or an expression decides whether a rule gives something.
func decides(r *binding.Rule) bool {
	return r.When != [2]*transform.Guard{} || r.Syntax.ToHub != nil || r.Syntax.ToSpoke != nil || r.Syntax.Go != nil
}

// unpaired notes that a place has no counterpart, as a rule has something else for the place that
// it would be at in the other version. If that is a part of the place, the two go together.
func (l *layouter) unpaired(root *keep.Place, of *binding.Binding, path []syntax.Segment, by []binding.Path) {
	if len(path) == 0 || slices.ContainsFunc(path, func(s syntax.Segment) bool { return s.Kind != syntax.Field }) {
		return
	}
	last := len(path) - 1
	around, ok := of.Counterpart(l.other, path[:last])
	if own := append(slices.Clip(around), path[last]); ok && of.Owner(l.own, own) == nil {
		p := placeOf(root, own, of.Base[l.own])
		p.Moved = true
		p.Decided = p.Decided || slices.ContainsFunc(by, func(b binding.Path) bool { return binding.Within(b.Segments, own) })
	}
}

// firstElement reports whether a path leads to the first element of a list that may have others,
// and returns the keys of the list.
func firstElement(path binding.Path) (is bool, keys []string) {
	i := indexOfFirst(path.Segments)
	if i < 0 {
		return false, nil
	}
	list := path.Base.Walk(path.Segments[:i])
	if single(list.Node) {
		return false, nil
	}
	if i < len(path.Segments)-1 {
		return true, nil // only part of the element is here, without the keys
	}
	return true, list.Node.ListMapKeys()
}

// indexOfFirst returns where a path goes to a first element, or -1.
func indexOfFirst(path []syntax.Segment) int {
	return slices.IndexFunc(path, func(s syntax.Segment) bool { return s.Kind == syntax.First })
}

func single(n *crdschema.Node) bool {
	if n == nil || n.Structural().ValueValidation == nil {
		return false
	}
	most := n.Structural().ValueValidation.MaxItems
	return most != nil && *most <= 1
}

// units notes which places are one unit. A place that a plain rule moves is one by itself.
func (l *layouter) units(root *keep.Place, of *binding.Binding) {
	for _, u := range of.Units {
		lists := l.listsOfFirst(u, of)
		if u.Single() && !slices.ContainsFunc(u.Rules, computes) && len(lists) == 0 {
			continue
		}
		unit := keep.NewUnit(u, membersOf(u, l.own, of), membersOf(u, l.other, of))
		unit.Computed = slices.ContainsFunc(u.Rules, func(r *binding.Rule) bool { return r.Transform != transform.Transform{} })
		for _, list := range lists {
			placeOf(root, list, of.Base[l.own]).Unit = unit
		}
		for _, place := range u.Places[l.own] {
			if p := placeOf(root, place.Path, of.Base[l.own]); place.Presence {
				p.Watch = withUnit(p.Watch, unit)
			} else {
				p.Unit = unit
			}
			for i := 1; i < len(place.Path); i++ {
				p := placeOf(root, place.Path[:i], of.Base[l.own])
				p.Holds = withUnit(p.Holds, unit)
			}
		}
	}
}

func withUnit(units []*keep.Unit, unit *keep.Unit) []*keep.Unit {
	if slices.Contains(units, unit) {
		return units
	}
	return append(units, unit)
}

// listsOfFirst returns the lists in whose counterparts a unit has the first element: the other
// elements move up if that goes.
func (l *layouter) listsOfFirst(u *binding.Unit, of *binding.Binding) [][]syntax.Segment {
	var lists [][]syntax.Segment
	for _, place := range u.Places[l.other] {
		i := indexOfFirst(place.Path)
		if i < 0 {
			continue
		}
		if list := place.Path[:i]; of.Owner(l.own, list) == nil && of.Base[l.own].Walk(list).Items().Known {
			lists = append(lists, list)
		}
	}
	return lists
}

// computes reports whether a rule computes values.
func computes(r *binding.Rule) bool { return r.How == binding.Converts || r.How == binding.Computes }

// membersOf returns the places of a unit on a side, including what it reads outside of the binding.
func membersOf(u *binding.Unit, s binding.Side, of *binding.Binding) []keep.Member {
	members := make([]keep.Member, 0, len(u.Places[s])+len(u.Outside[s]))
	for _, p := range u.Places[s] {
		members = append(members, memberOf(p, of.Base[s]))
	}
	for _, p := range u.Outside[s] {
		m := memberOf(p, binding.Place{})
		m.FromRoot = true
		members = append(members, m)
	}
	return members
}

// memberOf returns a place of a unit, or the first list or map whose elements it goes through.
func memberOf(p transform.Read, base binding.Place) keep.Member {
	path := p.Path
	through := slices.IndexFunc(path, syntax.Segment.Iterates)
	if through >= 0 {
		path = path[:through]
	}
	return keep.Member{
		Path: keepPath(path, base), PresenceOnly: p.Presence, Shape: p.Presence && through >= 0, Schema: base.Walk(path).Node,
	}
}

// keepPath returns a path for package keep.
func keepPath(segments []syntax.Segment, base binding.Place) annotation.Path {
	path := annotation.Path{}
	for i, s := range segments {
		switch s.Kind {
		case syntax.First:
			path = append(path, annotation.PathElement{First: true})
		case syntax.Pick:
			path = append(path, annotation.PathElement{Keys: []annotation.Key{pickKey(base, segments[:i+1])}})
		default:
			path = append(path, annotation.PathElement{Name: s.Name})
		}
	}
	return path
}

// pickKey returns the key of the element that the last segment of a path picks.
func pickKey(base binding.Place, path []syntax.Segment) annotation.Key {
	s := path[len(path)-1]
	return annotation.Key{Name: s.Name, Value: string(keyText(base.Walk(path), s))}
}

// elements notes what becomes of the elements of a list or the entries of a map.
func (l *layouter) elements(root *keep.Place, of *binding.Binding, e *binding.Elements) {
	own, other, by := e.Ends[l.own], e.Ends[l.other], e.By[l.own]
	p := placeOf(root, own.Segments, of.Base[l.own])
	p.Moved, p.Of = true, e
	p.Counterparts = []keep.Counterpart{{Path: keepPath(other.Segments, other.Base), Schema: other.Place.Node}}
	p.Each = l.root(e.Binding)
	p.Other = e.Binding.Base[l.other].Node
	switch {
	case binding.IsMap(by):
	case e.Key[l.own] != "":
		p.Keys = e.Key[l.own : l.own+1]
	case binding.IsMap(e.By[l.other]) && by.Name != "":
		p.Keys = []string{by.Name}
	default:
		p.Keys = l.sources(e.Binding, other.Place.Node.ListMapKeys(), e.Binding.Base[l.own].Node)
	}
	p.KeysThere = map[string]string{}
	back := layouter{own: l.other, other: l.own}
	for _, field := range slices.Concat(p.Keys, own.Place.Node.ListMapKeys()) {
		if entry := e.By[l.other]; !binding.IsMap(entry) {
			p.KeysThere[field] = back.source(e.Binding, field)
		} else if entry.Name == field {
			p.KeysThere[field] = field
		}
	}
}

// sources returns the fields of an element that become the named fields of its counterpart, or nil
// if one of those is computed.
func (l *layouter) sources(of *binding.Binding, names []string, el *crdschema.Node) []string {
	var fields []string
	for _, name := range names {
		field := l.source(of, name)
		if el.Property(field) == nil {
			return nil
		}
		fields = append(fields, field)
	}
	return fields
}

func (l *layouter) source(of *binding.Binding, name string) string {
	is := func(p binding.Path) bool { return len(p.Segments) == 1 && p.Segments[0].Name == name }
	source := name
	for _, r := range of.Rules {
		own, other := r.Ends[l.own], r.Ends[l.other]
		switch {
		case slices.ContainsFunc(other, is) && r.Hands() && len(own) == 1 && len(own[0].Segments) == 1 && r.When[0] == nil && r.When[1] == nil:
			return own[0].Segments[0].Name
		case slices.ContainsFunc(other, is) || slices.ContainsFunc(own, is):
			source = ""
		}
	}
	return source
}

// placeOf returns the place of a path, which it creates if needed.
func placeOf(root *keep.Place, segments []syntax.Segment, base binding.Place) *keep.Place {
	p := root
	for i, s := range segments {
		if s.Kind != syntax.Field {
			p = pickOf(p, segments[:i+1], base)
			continue
		}
		next := p.Members[s.Name]
		if next == nil {
			next = &keep.Place{}
			if p.Members == nil {
				p.Members = map[string]*keep.Place{}
			}
			p.Members[s.Name] = next
		}
		p = next
	}
	return p
}

// pickOf returns the place of an element that the last segment of a path picks.
func pickOf(list *keep.Place, path []syntax.Segment, base binding.Place) *keep.Place {
	at := annotation.PathElement{First: path[len(path)-1].Kind == syntax.First}
	if !at.First {
		at.Keys = []annotation.Key{pickKey(base, path)}
		if list.Keys == nil {
			list.Keys = []string{at.Keys[0].Name}
		}
	}
	for _, k := range list.Picks {
		if k.At.First == at.First && slices.Equal(k.At.Keys, at.Keys) {
			return k.Place
		}
	}
	list.Picks = append(list.Picks, keep.Pick{At: at, Place: &keep.Place{}})
	return list.Picks[len(list.Picks)-1].Place
}
