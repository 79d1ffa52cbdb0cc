package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A keptView has the places of a version, and what becomes of them in another one, as far as that
// matters for the values that are kept of them there.
type keptView struct {
	spoke  *binding.Spoke
	src    binding.Side
	places []*keptPlace // in the order of their keys: a place follows the one that holds it
	at     map[string]*keptPlace
}

// A keptPlace is an atom, and what decides whether a value that was kept of it returns.
type keptPlace struct {
	Atom
	segments []syntax.Segment
	key      string   // the same for a place in all rules
	members  []string // the places of both versions that belong together with it; if not united, only itself
	united   bool
	ways     []way  // how the conversion to the version computes the place
	related  []way  // how it computes other places of the unit
	filled   string // the default in the schema of the version, as JSON
	loses    bool   // values of it may be kept
}

// keptViewOf returns the view of a side of a spoke.
func keptViewOf(s *binding.Spoke, src binding.Side) *keptView {
	spoke := *s
	if spoke.Version == nil {
		spoke.Version = &syntax.Version{Name: s.Names[binding.OfSpoke], Unmapped: syntax.Preserve}
	}
	atoms := []Atom{}
	newPair(&spoke).walk(src, &atoms)
	v := &keptView{spoke: s, src: src, at: make(map[string]*keptPlace, len(atoms))}
	for _, a := range atoms {
		v.add(a)
	}
	slices.SortStableFunc(v.places, byKey)
	return v
}

// unknownKey follows the key of an object in that of its fields that the schema does not name.
const unknownKey = " fields"

func (v *keptView) add(a Atom) {
	path, err := syntax.ParsePath(a.Path)
	if err != nil {
		return // rules cannot name the place
	}
	p := &keptPlace{Atom: a, segments: path.Segments, key: keyOf(path.Segments)}
	if a.Kind == Unknown {
		p.key += unknownKey
	}
	if v.at[p.key] != nil {
		return
	}
	p.filled, _ = v.node(p.segments).Default()
	p.loses = a.made.loses(v.src)
	p.ways = a.made.ways(v.src)
	v.unite(p)
	if len(p.made.there) > 0 {
		for _, r := range p.made.in.Rules {
			if slices.ContainsFunc(r.Ends[v.src.Other()], func(e binding.Path) bool { return binding.Within(e.Segments, p.made.there) }) {
				p.related = append(p.related, wayOf(p.made.in, r, v.src))
			}
		}
	}
	v.at[p.key], v.places = p, append(v.places, p)
}

func (v *keptView) node(path []syntax.Segment) *crdschema.Node {
	return binding.Place{Node: v.spoke.Root.Base[v.src].Node, Known: true}.Walk(path).Node
}

// ownNote reports whether a place has notes of its own, and not only those of what is in it. An
// element that the other version shows in part does, and so does a list that is a map there.
func (p *keptPlace) ownNote() bool {
	n := len(p.segments)
	return p.Kind != Presence || p.made.partly || n > 0 && p.segments[n-1].Iterates() && p.Class == Preserved
}

// from and to return the names of the version and of the other one.
func (v *keptView) from() string { return v.spoke.Names[v.src] }
func (v *keptView) to() string   { return v.spoke.Names[v.src.Other()] }

// keyOf writes a path without the names that rules give to the keys of elements.
func keyOf(path []syntax.Segment) string {
	path = slices.Clone(path)
	for i := range path {
		switch path[i].Kind {
		case syntax.KeyedElements:
			path[i].Kind = syntax.Elements
		case syntax.KeyedValues:
			path[i].Kind = syntax.Values
		case syntax.Field, syntax.Elements, syntax.Values, syntax.Pick, syntax.First:
		}
	}
	return syntax.Path{Segments: path}.String()
}

// find returns the place of another view, or nil if the schema does not have it. For an element
// that rules pick it may be the place of all elements, and for a field without a schema the object
// around it.
func (v *keptView) find(p *keptPlace) *keptPlace {
	if found := cmp.Or(v.at[p.key], v.ofEach(p)); found != nil {
		return found
	}
	if len(p.segments) > 0 && p.segments[0].Name == "metadata" {
		return &keptPlace{Atom: Atom{Path: p.Path, Kind: p.Kind, Class: Copied}, segments: p.segments, key: p.key, members: p.itself(v)}
	}
	for i := len(p.segments); i >= 0; i-- {
		if found := v.at[keyOf(p.segments[:i])+unknownKey]; found != nil {
			return found
		}
	}
	return nil
}

// ofEach returns the place in all elements that a place in a picked element is, or nil.
func (v *keptView) ofEach(p *keptPlace) *keptPlace {
	every := slices.Clone(p.segments)
	for i, s := range every {
		if isPick(s) {
			every[i] = syntax.Segment{Kind: syntax.Elements}
		}
	}
	return v.at[keyOf(every)]
}

// addPicked adds places in elements that only the rules of another view pick.
func (v *keptView) addPicked(other *keptView) {
	for _, o := range other.places {
		if v.at[o.key] != nil || !slices.ContainsFunc(o.segments, isPick) {
			continue
		}
		if each := v.ofEach(o); each != nil {
			p := *each
			p.Path, p.segments, p.key = o.Path, o.segments, o.key
			if !p.united {
				p.members = p.itself(v)
			}
			v.at[p.key], v.places = &p, append(v.places, &p)
		}
	}
	slices.SortStableFunc(v.places, byKey)
}

// identity returns what identifies the elements of a list in the other version: their keys, or
// everything that it shows of them if they have no keys there.
func (v *keptView) identity(list *keptPlace) []string {
	keys := slices.Clone(v.node(list.segments).ListMapKeys())
	n := len(list.segments)
	var all, ofKeys []string
	keyed := false
	if list.made.partly {
		all, ofKeys = append(all, list.key), append(ofKeys, list.key)
	}
	for _, p := range v.places {
		if !binding.Within(p.segments, list.segments) {
			continue
		}
		by := p.segments[n]
		if by.Kind == syntax.KeyedElements || by.Kind == syntax.Pick {
			keys = append(keys, by.Name)
		}
		if p.made.alone || p.Class == Dropped || p.Kind == Presence {
			continue
		}
		all = append(all, fmt.Sprint(p.key, " ", p.place(), " ", p.ways))
		if len(p.segments) > n+1 && by.Kind != syntax.First && slices.Contains(keys, p.segments[n+1].Name) {
			ofKeys, keyed = append(ofKeys, p.key), true
		}
	}
	if keyed {
		return ofKeys
	}
	return all
}

func byKey(a, b *keptPlace) int { return strings.Compare(a.key, b.key) }

// loses reports whether values of a place of a side may be kept.
func (o *outcome) loses(src binding.Side) bool {
	switch {
	case o.class == Preserved || o.class == Unmapped || o.partly:
		return true
	case o.class != Mapped:
		return false
	}
	for _, r := range o.by {
		way := r.Transform[src]
		switch {
		case r.How != binding.Converts:
		case r.Doubtful || way == nil || !way.Injective || !way.Total:
			return true
		case len(r.Ends[src]) > 1 && r.Syntax.Absent == nil:
			return true // some of them may be absent
		}
	}
	return slices.ContainsFunc(o.rules(), func(r *syntax.Rule) bool {
		return r.Guarded() || r.DefaultFrom != nil || defaultOf(r, src.Other()) != nil
	})
}

// rules returns the rules that the outcome is by.
func (o *outcome) rules() []*syntax.Rule {
	if o.rule == nil {
		return o.others
	}
	return append([]*syntax.Rule{o.rule}, o.others...)
}

// unite finds the unit of a place.
func (v *keptView) unite(p *keptPlace) {
	u, b := unitOf(v.spoke.Root, v.src, p.segments)
	if p.members = p.itself(v); u == nil {
		return
	}
	var members []string
	for _, s := range sides() {
		for _, m := range u.Places[s] {
			members = append(members, memberText(b.Text(s, m.Path), m.Presence, v.spoke.Names[s]))
		}
		for _, m := range u.Outside[s] {
			members = append(members, memberText((syntax.Path{Segments: m.Path}).String(), m.Presence, v.spoke.Names[s]))
		}
	}
	if slices.Equal(members, p.members) {
		return
	}
	p.united, p.members = true, members
	for _, r := range u.Rules {
		if !slices.Contains(p.made.by, r) {
			p.related = append(p.related, wayOf(b, r, v.src))
		}
	}
}

func (p *keptPlace) itself(v *keptView) []string {
	return []string{memberText(p.Path, false, v.from())}
}

func memberText(path string, presence bool, version string) string {
	return UnitPlace{Path: cmp.Or(path, "."), Presence: presence}.Text() + " of " + version
}

// unitOf returns the unit that decides about values that were kept at a place, and its binding, if
// the unit is more than the place and its counterpart. Places in picked elements have none.
func unitOf(b *binding.Binding, s binding.Side, path []syntax.Segment) (*binding.Unit, *binding.Binding) {
	for _, e := range b.Elements {
		whole := e.Whole(s)
		if n := len(whole); e.Paired() && n <= len(path) && binding.Same(whole[:n-1], path[:n-1]) && path[n-1].Iterates() {
			return unitOf(e.Binding, s, path[n:])
		}
	}
	var nearest *binding.Unit
	longest := -1
	for _, u := range b.Units {
		if u.Single() && !slices.ContainsFunc(u.Rules, func(r *binding.Rule) bool { return !r.Hands() }) {
			continue
		}
		for _, m := range u.Places[s] {
			n := len(m.Path)
			named := !slices.ContainsFunc(m.Path, func(s syntax.Segment) bool { return s.Kind != syntax.Field })
			if !m.Presence && named && n > longest && n <= len(path) && binding.Same(m.Path, path[:n]) {
				nearest, longest = u, n
			}
		}
	}
	for _, r := range b.Rules {
		if r.Below == nil {
			continue
		}
		own := r.Ends[s][0].Segments
		if n := len(own); n >= longest && n < len(path) && binding.Same(own, path[:n]) {
			if u, below := unitOf(r.Below, s, path[n:]); u != nil {
				return u, below
			}
		}
	}
	return nearest, b
}
