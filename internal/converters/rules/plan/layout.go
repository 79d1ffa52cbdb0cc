package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Layout returns what package keep has to know of one side of a version.
func Layout(s *binding.Spoke, own binding.Side) *keep.Layout {
	l := layouter{own: own, other: own.Other(), made: map[*binding.Binding]*keep.Place{}, lone: map[*keep.Place]bool{}}
	return &keep.Layout{
		Schema: s.Root.Base[own].Node, Other: s.Root.Base[l.other].Node, OtherVersion: s.Names[l.other], Root: l.root(s.Root),
	}
}

// A layouter makes the places of one version.
type layouter struct {
	own, other binding.Side
	made       map[*binding.Binding]*keep.Place
	// lone are places without a counterpart in the one of their name that have parts with one.
	lone map[*keep.Place]bool
}

// root makes the place that a binding starts at.
func (l *layouter) root(rel *binding.Binding) *keep.Place {
	if p := l.made[rel]; p != nil {
		return p
	}
	p := &keep.Place{Scope: true}
	l.made[rel] = p
	for _, r := range rel.Rules {
		l.rule(p, r)
	}
	for _, e := range rel.Elements {
		if e.Paired() {
			l.elements(p, e)
		}
	}
	l.units(p, rel)
	for _, r := range rel.Rules {
		for _, path := range r.Ends[l.other] {
			l.taken(p, rel, path.Segments)
		}
	}
	for _, e := range rel.Elements {
		l.taken(p, rel, e.Ends[l.other].Segments)
	}
	for _, r := range rel.Rules {
		for _, path := range r.Ends[l.own] {
			l.bridge(p, path, rel, r)
		}
	}
	return p
}

// rule notes what a rule does at its places.
func (l *layouter) rule(root *keep.Place, r *binding.Rule) {
	other := r.Ends[l.other]
	for i, path := range r.Ends[l.own] {
		p, whole := placeOf(root, path.Segments)
		if !whole {
			continue // of elements that are picked: they are compared as they are
		}
		switch {
		case r.How == binding.Drops:
			p.Dropped = true
		case len(other) == 0:
			p.OneSided = r.Transform == nil
			p.Moved = r.Transform != nil
		default:
			p.Moved = true
		}
		if r.Hands() {
			p.Other = other[0].Place.Node
		}
		if len(other) == 1 {
			p.Counterpart = keepPath(other[0].Segments, other[0].Base)
		}
		if d := r.DefaultOf(l.own, i); d != nil {
			p.Fallback = d.JSON
		}
		if r.Hands() && len(other) == 1 {
			p.Element, p.Keys = firstElement(other[0])
		}
		if r.Below != nil {
			p.Beside = l.root(r.Below)
		}
	}
}

// taken notes that a place has no counterpart in the one of its name, which a rule has something else for.
func (l *layouter) taken(root *keep.Place, rel *binding.Binding, path []syntax.Segment) {
	if len(path) == 0 || slices.ContainsFunc(path, func(s syntax.Segment) bool { return s.Kind != syntax.Field }) {
		return
	}
	for i := range path {
		if rel.Owner(l.own, path[:i+1]) != nil {
			return // its counterpart is elsewhere, or it has none
		}
	}
	if !rel.Base[l.own].Walk(path).Known {
		return
	}
	p, _ := placeOf(root, path)
	p.Moved, p.OneSided = true, p.Unit == nil
	l.lone[p] = len(rel.Next(l.own, path)) > 0
}

// firstElement reports whether a path leads to the first element of a list that may have others, and the keys of such a list.
func firstElement(path binding.Path) (is bool, keys []string) {
	i := slices.IndexFunc(path.Segments, func(s syntax.Segment) bool { return s.Kind == syntax.First })
	if i < 0 {
		return false, nil
	}
	list := path.Base.Walk(path.Segments[:i])
	if single(list.Node) {
		return false, nil
	}
	if i < len(path.Segments)-1 {
		return true, nil // the keys are not in the object
	}
	return true, list.Node.ListMapKeys()
}

func single(n *crdschema.Node) bool {
	if n == nil || n.Structural().ValueValidation == nil {
		return false
	}
	most := n.Structural().ValueValidation.MaxItems
	return most != nil && *most <= 1
}

// units notes which places belong together. What a plain rule moves belongs to nothing else.
func (l *layouter) units(root *keep.Place, rel *binding.Binding) {
	below := map[*keep.Place][]*keep.Unit{}
	var order []*keep.Place
	for _, u := range rel.Units {
		lists := l.listsOfFirst(u, rel)
		if u.Single() && !slices.ContainsFunc(u.Rules, computes) && len(lists) == 0 {
			continue
		}
		unit := keep.NewUnit(membersOf(u, l.own, rel), membersOf(u, l.other, rel))
		for _, list := range lists {
			p, _ := placeOf(root, list)
			p.Unit = unit
		}
		for _, place := range u.Places[l.own] {
			p, whole := placeOf(root, place.Path)
			if whole && !place.Presence {
				p.Unit = unit
			}
			for _, p := range inside(root, place) {
				switch units := below[p]; {
				case units == nil:
					order = append(order, p)
					fallthrough
				case len(units) > 1 || units[0] != unit:
					below[p] = append(units, unit)
				}
			}
		}
	}
	for _, p := range order {
		p.Below = below[p][0].With(below[p][1:]...)
	}
}

// listsOfFirst returns the lists whose counterparts have a first element that belongs to a unit: the elements of such a list move
// up where that goes.
func (l *layouter) listsOfFirst(u *binding.Unit, rel *binding.Binding) [][]syntax.Segment {
	var lists [][]syntax.Segment
	for _, place := range u.Places[l.other] {
		i := slices.IndexFunc(place.Path, func(s syntax.Segment) bool { return s.Kind == syntax.First })
		if i < 0 {
			continue
		}
		if list := place.Path[:i]; rel.Owner(l.own, list) == nil && rel.Base[l.own].Walk(list).Items().Known {
			lists = append(lists, list)
		}
	}
	return lists
}

// computes reports whether a rule does more than handing its value on, or keeping it.
func computes(r *binding.Rule) bool { return r.How == binding.Converts || r.How == binding.Computes }

// inside returns what is on the way to a place, which is there because of the unit of the place, or for that alone.
func inside(root *keep.Place, place binding.UnitPlace) []*keep.Place {
	above := place.Path
	if !place.Presence && len(above) > 0 {
		above = above[:len(above)-1]
	}
	var way []*keep.Place
	p, steps := root, above
	for len(steps) > 0 {
		next, whole := placeOf(p, steps[:1])
		if !whole {
			break
		}
		way, p, steps = append(way, next), next, steps[1:]
	}
	return way
}

// membersOf returns the places of a unit on a side, with those that are read outside.
func membersOf(u *binding.Unit, s binding.Side, rel *binding.Binding) []keep.Member {
	members := make([]keep.Member, 0, len(u.Places[s])+len(u.Outside[s]))
	for _, p := range u.Places[s] {
		members = append(members, keep.Member{
			Path: keepPath(p.Path, rel.Base[s]), PresenceOnly: p.Presence, Schema: rel.Base[s].Walk(p.Path).Node,
		})
	}
	for _, p := range u.Outside[s] {
		members = append(members, keep.Member{Path: keepPath(p.Path, binding.Place{}), PresenceOnly: p.Presence, FromRoot: true})
	}
	return members
}

// keepPath returns a path that goes through no elements but those that a rule picks; of one that does, as far as the list.
func keepPath(segments []syntax.Segment, base binding.Place) keep.Path {
	path := keep.Path{}
	for i, s := range segments {
		switch {
		case s.Kind == syntax.First:
			path = append(path, keep.Step{First: true})
		case s.Kind == syntax.Pick:
			path = append(path, keep.Step{Keys: []keep.Key{{Name: s.Name, Value: keyText(segments[:i], base, s)}}})
		case s.Iterates():
			return path
		default:
			path = append(path, keep.Step{Name: s.Name})
		}
	}
	return path
}

// keyText returns the value that an element is picked by as JSON: a number, or a string.
func keyText(list []syntax.Segment, base binding.Place, s syntax.Segment) string {
	if base.Walk(list).Items().Member(s.Name).Kind() == crdschema.Integer {
		return s.Value
	}
	return string(jsondoc.StringValue(s.Value).Text())
}

// elements notes what becomes of the elements of a list, or of the entries of a map.
func (l *layouter) elements(root *keep.Place, e *binding.Elements) {
	own, other, by := e.Ends[l.own], e.Ends[l.other], e.By[l.own]
	p, whole := placeOf(root, own.Segments)
	if !whole {
		return
	}
	p.Moved, p.Other, p.Counterpart = true, other.Place.Node, keepPath(other.Segments, other.Base)
	p.Each = l.root(e.Binding)
	if !p.Each.Moved { // by a rule of its own
		p.Each.Moved, p.Each.Other = true, e.Binding.Base[l.other].Node
	}
	switch {
	case binding.IsMap(by):
	case e.Key[l.own] != "":
		p.Keys = e.Key[l.own : l.own+1]
	case binding.IsMap(e.By[l.other]) && by.Name != "":
		p.Keys = []string{by.Name}
	default:
		p.Keys = l.sources(e.Binding, other.Place.Node.ListMapKeys(), e.Binding.Base[l.own].Node)
	}
}

// sources returns the fields of an element that become some fields of its counterpart, or nil if one is computed.
func (l *layouter) sources(rel *binding.Binding, names []string, el *crdschema.Node) []string {
	var fields []string
	for _, name := range names {
		field := l.source(rel, name)
		if el.Property(field) == nil {
			return nil
		}
		fields = append(fields, field)
	}
	return fields
}

func (l *layouter) source(rel *binding.Binding, name string) string {
	is := func(p binding.Path) bool { return len(p.Segments) == 1 && p.Segments[0].Name == name }
	source := name
	for _, r := range rel.Rules {
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

// placeOf returns the place of a path, which it makes, and whether that is the whole path: of an element that a rule picks it is
// the list.
func placeOf(root *keep.Place, segments []syntax.Segment) (p *keep.Place, whole bool) {
	p = root
	for _, s := range segments {
		if s.Kind != syntax.Field {
			if s.Kind == syntax.Pick && p.Keys == nil {
				p.Keys = []string{s.Name}
			}
			p.First = p.First || s.Kind == syntax.First
			return p, false
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
	return p, true
}

// bridge notes the objects and lists on the way to a place that the other version does not have. Those that are there because
// of a condition or an expression say something themselves.
func (l *layouter) bridge(p *keep.Place, path binding.Path, rel *binding.Binding, r *binding.Rule) {
	segments, other := path.Segments, rel.Base[l.other]
	decides := r.When[0] != nil || r.When[1] != nil || r.Syntax.ToHub != nil || r.Syntax.FromHub != nil || r.Syntax.Go != nil
	for i, s := range segments[:max(len(segments)-1, 0)] {
		if s.Kind != syntax.Field {
			return
		}
		if p = p.Members[s.Name]; p == nil {
			return
		}
		if p.Moved {
			other = binding.Place{Node: p.Other, Known: p.Other != nil}
		} else {
			other = other.Member(s.Name)
		}
		next := segments[i+1]
		if other.Known || (p.Moved || p.OneSided) && !l.lone[p] || p.Dropped || next.Kind == syntax.First && rel.Owner(l.own, segments[:i+2]) != nil {
			continue
		}
		p.Bridge = !decides && (p.Bridge || !p.Decided)
		p.Decided = p.Decided || decides
		if next.Kind == syntax.Pick && p.Each == nil && isKeyOf(path, i+1, next.Name) {
			p.Each = &keep.Place{Bridge: p.Bridge}
		}
	}
}

// isKeyOf reports whether the elements of the list that the first steps of a path lead to are known by a field alone.
func isKeyOf(path binding.Path, steps int, field string) bool {
	keys := path.Base.Walk(path.Segments[:steps]).Node.ListMapKeys()
	return len(keys) == 0 || len(keys) == 1 && keys[0] == field
}
