package plan

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Layout returns the layout of one side of a version, which package keep needs.
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
	lone       map[*keep.Place]bool // places without a counterpart whose parts have one
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
			l.elements(p, e)
		}
	}
	l.units(p, of)
	for _, r := range of.Rules {
		for _, path := range r.Ends[l.other] {
			l.taken(p, of, path.Segments)
		}
	}
	for _, e := range of.Elements {
		l.taken(p, of, e.Ends[l.other].Segments)
	}
	for _, r := range of.Rules {
		for _, path := range r.Ends[l.own] {
			l.bridge(p, path, of, r)
		}
	}
	return p
}

// rule notes what a rule does with its places.
func (l *layouter) rule(root *keep.Place, of *binding.Binding, r *binding.Rule) {
	other := r.Ends[l.other]
	for i, path := range r.Ends[l.own] {
		p, whole := placeOf(root, path.Segments)
		if !whole {
			continue // picked elements are compared as they are
		}
		switch {
		case r.How == binding.Drops:
			p.Dropped = true
		case len(other) == 0:
			p.OneSided = r.Transform[l.own] == nil
			p.Moved = !p.OneSided || of.Base[l.other].Walk(path.Segments).Known // which is another place
		default:
			p.Moved = true
		}
		p.Conditional = p.Conditional || isConditional(r)
		if len(other) == 1 {
			p.Counterpart = keepPath(other[0].Segments, other[0].Base)
		}
		if r.Hands() {
			p.Other = other[0].Place.Node
			p.Element, p.Keys = firstElement(other[0])
			p.KeyNames = map[string]string{}
			for _, field := range slices.Concat(path.Place.Node.ListMapKeys(), p.Other.ListMapKeys()) {
				p.KeyNames[field] = field
			}
		}
		if d := r.DefaultOf(l.own, i); d != nil {
			p.Fallback = d.JSON
		}
		if r.Below != nil {
			p.RuleSet = l.root(r.Below)
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

// taken notes that a place has no counterpart, as a rule has something else for the place of that
// path in the other version.
func (l *layouter) taken(root *keep.Place, of *binding.Binding, path []syntax.Segment) {
	if len(path) == 0 || slices.ContainsFunc(path, func(s syntax.Segment) bool { return s.Kind != syntax.Field }) {
		return
	}
	for i := range path {
		if of.Owner(l.own, path[:i+1]) != nil {
			return // a rule says where its counterpart is
		}
	}
	if !of.Base[l.own].Walk(path).Known {
		return
	}
	p, _ := placeOf(root, path)
	p.Moved, p.OneSided = true, p.Unit == nil
	l.lone[p] = len(of.Next(l.own, path)) > 0
}

// firstElement reports whether a path leads to the first element of a list that may have others,
// and returns the keys of the list.
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
		return true, nil // only part of the element is here, without the keys
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

// units notes which places are one unit. A place that a plain rule moves is one by itself.
func (l *layouter) units(root *keep.Place, of *binding.Binding) {
	below := map[*keep.Place][]*keep.Unit{}
	var order []*keep.Place
	for _, u := range of.Units {
		lists := l.listsOfFirst(u, of)
		if u.Single() && !slices.ContainsFunc(u.Rules, computes) && len(lists) == 0 {
			continue
		}
		unit := keep.NewUnit(membersOf(u, l.own, of), membersOf(u, l.other, of))
		for _, list := range lists {
			p, _ := placeOf(root, list)
			p.Unit = unit
		}
		for _, place := range u.Places[l.own] {
			p, whole := placeOf(root, place.Path)
			if whole && !place.Presence {
				p.Unit = unit
			} else if whole {
				p.Watch = append(p.Watch, unit)
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

// listsOfFirst returns the lists in whose counterparts a unit has the first element: the other
// elements move up if that goes.
func (l *layouter) listsOfFirst(u *binding.Unit, of *binding.Binding) [][]syntax.Segment {
	var lists [][]syntax.Segment
	for _, place := range u.Places[l.other] {
		i := slices.IndexFunc(place.Path, func(s syntax.Segment) bool { return s.Kind == syntax.First })
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

// inside returns the places that contain a place of a unit and exist because of it.
func inside(root *keep.Place, place transform.Read) []*keep.Place {
	above := place.Path
	if !place.Presence && len(above) > 0 {
		above = above[:len(above)-1]
	}
	var way []*keep.Place
	for i := range above {
		p, whole := placeOf(root, above[:i+1])
		if !whole {
			break
		}
		way = append(way, p)
	}
	return way
}

// membersOf returns the places of a unit on a side, including what it reads outside of the binding.
func membersOf(u *binding.Unit, s binding.Side, of *binding.Binding) []keep.Member {
	members := make([]keep.Member, 0, len(u.Places[s])+len(u.Outside[s]))
	for _, p := range u.Places[s] {
		members = append(members, keep.Member{
			Path: keepPath(p.Path, of.Base[s]), PresenceOnly: p.Presence, Schema: of.Base[s].Walk(p.Path).Node,
		})
	}
	for _, p := range u.Outside[s] {
		members = append(members, keep.Member{Path: keepPath(p.Path, binding.Place{}), PresenceOnly: p.Presence, FromRoot: true})
	}
	return members
}

// keepPath returns a path for package keep. It ends at the first list or map whose elements a rule
// goes through.
func keepPath(segments []syntax.Segment, base binding.Place) keep.Path {
	path := keep.Path{}
	for i, s := range segments {
		switch {
		case s.Kind == syntax.First:
			path = append(path, keep.Step{First: true})
		case s.Kind == syntax.Pick:
			key := keyText(base.Walk(segments[:i+1]), s)
			path = append(path, keep.Step{Keys: []keep.Key{{Name: s.Name, Value: string(key)}}})
		case s.Iterates():
			return path
		default:
			path = append(path, keep.Step{Name: s.Name})
		}
	}
	return path
}

// elements notes what becomes of the elements of a list or the entries of a map.
func (l *layouter) elements(root *keep.Place, e *binding.Elements) {
	own, other, by := e.Ends[l.own], e.Ends[l.other], e.By[l.own]
	p, whole := placeOf(root, own.Segments)
	if !whole {
		return
	}
	p.Moved, p.Other, p.Counterpart = true, other.Place.Node, keepPath(other.Segments, other.Base)
	p.Each = l.root(e.Binding)
	if !p.Each.Moved { // else a rule of its own moves it
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
	p.KeyNames = map[string]string{}
	back := layouter{own: l.other, other: l.own}
	for _, field := range slices.Concat(p.Keys, own.Place.Node.ListMapKeys()) {
		if entry := e.By[l.other]; !binding.IsMap(entry) {
			p.KeyNames[field] = back.source(e.Binding, field)
		} else if entry.Name == field {
			p.KeyNames[field] = field
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

// placeOf returns the place of a path, which it creates if needed, and true. For a path into
// elements it returns the place of the list, and false.
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

// bridge notes the objects and lists above a place that the other version does not have, unless a
// condition or an expression decides whether they exist.
func (l *layouter) bridge(p *keep.Place, path binding.Path, of *binding.Binding, r *binding.Rule) {
	segments, other := path.Segments, of.Base[l.other]
	decides := r.When[0] != nil || r.When[1] != nil || r.Syntax.ToHub != nil || r.Syntax.ToSpoke != nil || r.Syntax.Go != nil
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
		whole := i+2 == len(segments) // the other version has all that next picks
		if other.Known || (p.Moved || p.OneSided) && !l.lone[p] || p.Dropped || next.Kind == syntax.First && of.Owner(l.own, segments[:i+2]) != nil {
			continue
		}
		p.Bridge = !decides && (p.Bridge || !p.Decided)
		p.Decided = p.Decided || decides
		switch {
		case next.Kind != syntax.Pick || !isKeyOf(path, i+1, next.Name):
		case p.Each == nil:
			p.Each = &keep.Place{Bridge: p.Bridge && !whole}
		default:
			p.Each.Bridge = p.Each.Bridge && !whole
		}
	}
}

// isKeyOf reports whether a field alone identifies the elements of the list at the first steps of a
// path.
func isKeyOf(path binding.Path, steps int, field string) bool {
	keys := path.Base.Walk(path.Segments[:steps]).Node.ListMapKeys()
	return len(keys) == 0 || len(keys) == 1 && keys[0] == field
}
