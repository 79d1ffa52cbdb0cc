package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A keptView has the places of a version, and for each what the values that are kept of it in
// another version depend on. See package keep.
type keptView struct {
	*binding.Spoke
	src, dst binding.Side
	from, to string
	places   []*keptPlace // a place follows the one that holds it
	at       map[string]*keptPlace
	units    map[string][]string     // the other version's places of a unit, by each of this one's
	known    map[string][]*keptPlace // by lists: what their elements are known by
}

// A keptPlace is a place in all objects, elements or entries, whichever of them rules name.
type keptPlace struct {
	Atom             // the first one of which values may be kept
	key     string   // see keyOf
	above   []string // the keys of the places around it
	loses   bool     // values may be kept
	filled  string   // the default in the schema, as JSON
	sources []string // the places of the other version that the value is computed from
	rules   string   // that compute it, if what they give matters
	// All are the sources of the value, and of what elements around it are known by, with their
	// rules. Others are parts of the counterpart that are sources of other places.
	all, others []string
	allRules    string
	holders     []string // the counterparts of the objects and lists around the place
	verdict
}

// keptViewOf returns the view of a side of a spoke.
func keptViewOf(s *binding.Spoke, src binding.Side) *keptView {
	spoke := *s
	if spoke.Version == nil {
		spoke.Version = &syntax.Version{Name: s.Names[binding.OfSpoke], Unmapped: syntax.Preserve}
	}
	v := &keptView{
		Spoke: s, src: src, dst: src.Other(), from: s.Names[src], to: s.Names[src.Other()],
		at: map[string]*keptPlace{}, units: map[string][]string{}, known: map[string][]*keptPlace{},
	}
	v.findUnits()
	var atoms []Atom
	newPair(&spoke).walk(src, &atoms)
	for i := range atoms {
		if path, err := syntax.ParsePath(atoms[i].Path); err == nil { // otherwise rules cannot name it
			v.add(&atoms[i], path.Segments)
		}
	}
	slices.SortStableFunc(v.places, func(a, b *keptPlace) int { return strings.Compare(a.key, b.key) })
	for _, p := range v.places {
		v.findInputs(p)
	}
	return v
}

func (v *keptView) findUnits() {
	l := unitLister{versions: v.Names, visited: map[*binding.Binding]bool{}}
	l.binding(v.Root, [2][]syntax.Segment{})
	for _, u := range l.units {
		sources := []string{}
		for _, place := range slices.Concat(u.Places, u.Reads) {
			if place.Version == v.to {
				sources = append(sources, place.Text())
			}
		}
		for _, place := range u.Places {
			if place.Version == v.from && !place.Presence {
				v.units[place.Path] = sources
			}
		}
	}
}

func (v *keptView) add(a *Atom, path []syntax.Segment) {
	key, above := v.keyOf(path), []string{}
	for i := range path {
		above = append(above, v.keyOf(path[:i]))
	}
	if a.Kind == Unknown {
		key, above = key+" fields", append(above, key)
	}
	p := v.at[key]
	if p == nil {
		p = &keptPlace{Atom: *a, key: key, above: above}
		v.at[key], v.places = p, append(v.places, p)
	}
	if !p.loses && a.made.loses(v.src) {
		p.Atom, p.loses = *a, true
	}
	p.filled, _ = v.node(path).Default()
	v.findSources(p, a, path)
	for i, by := range path {
		keys := append(slices.Clip(v.node(path[:i]).ListMapKeys()), by.Name)
		if isPick(by) || len(path) == i+2 && by.Kind != syntax.Field && !binding.IsMap(by) && slices.Contains(keys, path[i+1].Name) {
			v.known[above[i]] = append(v.known[above[i]], p)
		}
	}
}

// keyOf writes a path with all elements and entries in place of those that rules name, and without
// the names that rules give to keys.
func (v *keptView) keyOf(path []syntax.Segment) string {
	path, at := slices.Clone(path), v.Root.Base[v.src]
	for i, by := range path {
		if at.Node.Kind() == crdschema.Map {
			path[i].Kind = syntax.Values
		} else if by.Kind != syntax.Field {
			path[i].Kind = syntax.Elements
		}
		at = at.Step(by)
	}
	return syntax.Path{Segments: path}.String()
}

func (v *keptView) node(path []syntax.Segment) *crdschema.Node {
	return v.Root.Base[v.src].Walk(path).Node
}

// findSources adds what the value of a place is computed from: the unit of the nearest place that
// has one, and the counterpart. A list, an object, or a part of what rules compute depends on what
// they give, too.
func (v *keptView) findSources(p *keptPlace, a *Atom, path []syntax.Segment) {
	computed := slices.ContainsFunc(a.made.by, func(r *binding.Rule) bool { return !r.Hands() })
	scalars := []crdschema.Kind{crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString}
	there, found := cmp.Or(a.made.counterpart, a.To), false
	for i := len(path); i > 0 && !found; i-- {
		var unit []string
		if unit, found = v.units[syntax.Path{Segments: path[:i]}.String()]; found && (i == len(path) || !computed) {
			p.sources, there = append(p.sources, unit...), a.made.counterpart
		}
	}
	if there != "" {
		p.sources = append(p.sources, there)
		filled, fills := v.find(v.dst, there).Node.Default()
		p.loses = p.loses || fills && filled != p.filled // that there is no value is kept
	}
	if computed && (len(p.sources) == 0 || !slices.Contains(scalars, v.node(path).Kind())) {
		p.rules = a.rules()
	}
}

// find returns the place that a text names on a side. A text that says something else may be any.
func (v *keptView) find(s binding.Side, text string) binding.Place {
	path, err := syntax.ParsePath(strings.TrimSuffix(strings.TrimPrefix(text, "has("), ")"))
	if err != nil {
		return binding.Place{Known: true}
	}
	return v.Root.Base[s].Walk(path.Segments)
}

// findInputs finds all that the values kept of a place depend on.
func (v *keptView) findInputs(p *keptPlace) {
	p.all, p.allRules = slices.Clone(p.sources), p.rules
	for _, key := range append(p.above, p.key) {
		for _, q := range v.known[key] {
			p.all, p.allRules = append(p.all, q.sources...), p.allRules+q.rules
		}
		holder := v.at[key]
		if holder == nil || holder.made.counterpart == "" {
			continue
		}
		p.holders = append(p.holders, UnitPlace{Path: holder.made.counterpart, Presence: true}.Text())
		for _, by := range holder.made.parts {
			if isPick(by) || holder == p && !by.Iterates() {
				p.others = append(p.others, holder.made.counterpart+by.String())
			}
		}
	}
	for i, source := range p.all {
		if filled, fills := v.find(v.dst, source).Node.Default(); fills {
			p.all[i] += defaultMark + filled + ")"
		}
	}
}

// defaultMark precedes the default of a source, which counts like no value.
const defaultMark = " (default "

// loses reports whether values may be kept: they may have no counterpart, or another one.
func (o *outcome) loses(src binding.Side) bool {
	if o.class != Mapped {
		return o.class == Preserved || o.class == Unmapped || o.partly
	}
	return o.partly || slices.ContainsFunc(o.by, func(r *binding.Rule) bool {
		way := r.Transform[src]
		return r.How == binding.Converts && (r.Doubtful || way == nil || !way.Injective || !way.Total || len(r.Ends[src]) > 1 && r.Syntax.Absent == nil)
	}) || slices.ContainsFunc(o.rules(), func(r *syntax.Rule) bool {
		return r.Guarded() || r.DefaultFrom != nil || defaultOf(r, src.Other()) != nil
	})
}
