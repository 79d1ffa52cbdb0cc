package check

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/converters/rules/transform"
)

// A keptView is what becomes of the places of a version in another one, as far as it matters for what is kept of them there.
type keptView struct {
	spoke  *binding.Spoke
	src    binding.Side
	places []*keptPlace // in the order of their paths, what holds a place before it
	at     map[string]*keptPlace
}

// A keptPlace is an atom, with what decides whether a value that was kept of it returns.
type keptPlace struct {
	Atom
	segments []syntax.Segment
	key      string // the same for a place in all rules
	// united says that it belongs together with other members, places of both versions. Otherwise it is the only one.
	united  bool
	members []string
	// ways say how the conversion to the version computes the place, and those beside how it computes others of the unit.
	ways, beside []way
	filled       string // what the schema of the version fills in, as JSON
	loses        bool   // values of it may be kept
}

// keptViewOf looks at the places of a side of a spoke.
func keptViewOf(s *binding.Spoke, src binding.Side) *keptView {
	told := *s
	if told.Version == nil {
		told.Version = &syntax.Version{Name: s.Names[binding.OfSpoke], Unmapped: syntax.Preserve}
	}
	atoms := []Atom{}
	p := &pair{checker: newChecker(), Spoke: &told}
	p.walk(src, &atoms)
	v := &keptView{spoke: s, src: src, at: make(map[string]*keptPlace, len(atoms))}
	for _, a := range atoms {
		v.add(a)
	}
	slices.SortStableFunc(v.places, byKey)
	return v
}

// unknownKey stands behind the key of an object for those of its fields that the schema does not name.
const unknownKey = " fields"

func (v *keptView) add(a Atom) {
	path, err := syntax.ParsePath(a.Path)
	if err != nil {
		return // of a place that nobody can name
	}
	p := &keptPlace{Atom: a, segments: path.Segments, key: keyOf(path.Segments)}
	if a.Kind == Unknown {
		p.key += unknownKey
	}
	if v.at[p.key] != nil {
		return
	}
	root := binding.Place{Node: v.spoke.Root.Base[v.src].Node, Known: true}
	p.filled, _ = root.Walk(p.segments).Node.Default()
	p.loses = a.made.loses(v.src)
	p.ways = a.made.ways(v.src)
	v.unite(p)
	v.within(p)
	v.at[p.key], v.places = p, append(v.places, p)
}

// says reports whether a place says something itself, and not just by what is in it: an element that is there for the other version by
// a part of it does, and so does a list that is a map there.
func (p *keptPlace) says() bool {
	n := len(p.segments)
	return p.Kind != Presence || p.made.partly || n > 0 && p.segments[n-1].Iterates() && p.Class == Preserved
}

// from and to are the names of the version and of the other one.
func (v *keptView) from() string { return v.spoke.Names[v.src] }
func (v *keptView) to() string   { return v.spoke.Names[v.src.Other()] }

// keyOf writes a path in one way, whatever rules call the keys of elements.
func keyOf(path []syntax.Segment) string {
	var text strings.Builder
	for _, s := range path {
		switch s.Kind {
		case syntax.KeyedElements:
			s = syntax.Segment{Kind: syntax.Elements}
		case syntax.KeyedValues:
			s = syntax.Segment{Kind: syntax.Values}
		case syntax.Field, syntax.Elements, syntax.Values, syntax.Pick, syntax.First:
		}
		text.WriteString(s.String())
	}
	return text.String()
}

// find returns the place of a key in other rules: the place itself; for one that rules pick out of a list, that of all elements; for
// one that no schema names, the object that it is in. It is nil if the schema does not have the place.
func (v *keptView) find(p *keptPlace) *keptPlace {
	if found := v.at[p.key]; found != nil {
		return found
	}
	if found := v.ofEach(p); found != nil {
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

// ofEach returns the place that all elements have which one that rules pick has, or nil.
func (v *keptView) ofEach(p *keptPlace) *keptPlace {
	every := slices.Clone(p.segments)
	for i, s := range every {
		if isPick(s) {
			every[i] = syntax.Segment{Kind: syntax.Elements}
		}
	}
	return v.at[keyOf(every)]
}

func isPick(s syntax.Segment) bool { return s.Kind == syntax.Pick || s.Kind == syntax.First }

// pick adds places of elements that other rules pick out of lists: they are what all elements are.
func (v *keptView) pick(other *keptView) {
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

// face returns what the other version shows of the elements of a list, as far as they are known by it: of their keys, or of all that
// is in them if they have none there.
func (v *keptView) face(list *keptPlace) []string {
	root := binding.Place{Node: v.spoke.Root.Base[v.src].Node, Known: true}
	keys := slices.Clone(root.Walk(list.segments).Node.ListMapKeys())
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
	switch o.class {
	case Preserved, Unmapped:
		return true
	case Copied, Dropped:
		return o.partly
	case Mapped:
		if o.partly {
			return true
		}
	}
	dst := src.Other()
	for _, r := range o.by {
		way := r.Transform[src]
		switch {
		case r.How != binding.Converts:
		case r.Doubtful || way == nil || !way.Injective || !way.Total:
			return true
		case len(r.Ends[src]) > 1 && r.Syntax.Absent == nil:
			return true // not all of them may be there
		}
	}
	return slices.ContainsFunc(o.rules(), func(r *syntax.Rule) bool {
		return r.When != nil || r.WhenHub != nil || [...]*syntax.Literal{r.Default, r.HubDefault}[dst] != nil
	})
}

// rules returns those that the outcome is by, or none.
func (o *outcome) rules() []*syntax.Rule {
	if o.rule == nil {
		return o.others
	}
	return append([]*syntax.Rule{o.rule}, o.others...)
}

// A way is how a rule computes its place of a version: by its parts, and of which places. Parts have the names of the keys of a
// rule; one of two keys for the directions has that of the one for the conversion to the version.
type way struct {
	rule   *syntax.Rule
	parts  map[string]string
	places string
}

// String writes the way, and not which rule it is of.
func (w way) String() string { return fmt.Sprint(w.places, w.parts) }

func (w way) same(other way) bool {
	return w.places == other.places && maps.Equal(w.parts, other.parts)
}

// The parts that have another key for each direction.
const (
	partExpression = "expression"
	partCondition  = "condition"
	partDefault    = "default"
)

// partKey returns the key of a rule that says a part of the way to a side.
func partKey(part string, to binding.Side) string {
	switch part {
	case partExpression:
		return [...]string{"fromHub", "toHub"}[to]
	case partCondition:
		return guardKey(to)
	case partDefault:
		return defaultKey(to)
	}
	return part
}

// ways returns how the conversion to a side computes the place.
func (o *outcome) ways(to binding.Side) []way {
	var ways []way
	for i, r := range o.rules() {
		w := way{r, partsOf(r, to), o.to}
		if i < len(o.by) {
			w.places = endsOf(o.in, o.by[i], to)
		}
		if !o.alone {
			ways = append(ways, w)
		}
	}
	return ways
}

// partsOf returns the parts of a rule that say how the conversion to a side computes its place.
func partsOf(r *syntax.Rule, to binding.Side) map[string]string {
	parts := map[string]string{}
	text := func(part string, t *syntax.Text) {
		if t != nil {
			parts[part] = strings.Join(strings.Fields(t.Value), " ")
		}
	}
	text("template", r.Template)
	text("absent", r.Absent)
	text("codec", r.Codec)
	text("go", r.Go)
	text(partExpression, [...]*syntax.Text{r.FromHub, r.ToHub}[to])
	text(partCondition, [...]*syntax.Text{r.WhenHub, r.When}[to])
	if d := [...]*syntax.Literal{r.Default, r.HubDefault}[to]; d != nil {
		parts[partDefault] = string(d.JSON)
	}
	if values := valuesTo(r, to); len(values) > 0 {
		parts["values"] = strings.Join(values, ", ")
	}
	return parts
}

// valuesTo returns what each value becomes on a side, in the order of their texts.
func valuesTo(r *syntax.Rule, to binding.Side) []string {
	become := map[string]string{}
	add := func(from, becomes syntax.Scalar) {
		if _, first := become[string(from.JSON)]; !first {
			become[string(from.JSON)] = string(becomes.JSON)
		}
	}
	if to == binding.OfHub {
		for _, m := range r.Values {
			add(m.From, m.To)
		}
	} else {
		for _, m := range r.HubValues {
			add(m.From, m.To)
		}
		for _, m := range r.Values {
			add(m.To, m.From)
		}
	}
	texts := make([]string, 0, len(become))
	for _, from := range slices.Sorted(maps.Keys(become)) {
		texts = append(texts, from+": "+become[from])
	}
	return texts
}

// endsOf writes the places of a rule with their names, those of a side first.
func endsOf(b *binding.Binding, r *binding.Rule, first binding.Side) string {
	var text strings.Builder
	for _, s := range []binding.Side{first, first.Other()} {
		for _, e := range r.Ends[s] {
			if e.Name != nil && e.Name.Name != "" {
				text.WriteString(e.Name.Name + "=")
			}
			text.WriteString(b.Text(s, e.Segments) + " ")
		}
		text.WriteString("; ")
	}
	return text.String()
}

// unite finds the unit of a place.
func (v *keptView) unite(p *keptPlace) {
	u, b := unitOf(v.spoke.Root, v.src, p.segments)
	if p.members = p.itself(v); u == nil {
		return
	}
	var members []string
	for s, name := range v.spoke.Names {
		for _, m := range u.Places[s] {
			members = append(members, memberText(m, b.Text(binding.Side(s), m.Path), name))
		}
		for _, m := range u.Outside[s] {
			members = append(members, memberText(m, (syntax.Path{Segments: m.Path}).String(), name))
		}
	}
	if slices.Equal(members, p.members) {
		return
	}
	p.united, p.members = true, members
	for _, r := range u.Rules {
		if !slices.Contains(p.made.by, r) {
			p.beside = append(p.beside, way{r.Syntax, partsOf(r.Syntax, v.src), endsOf(b, r, v.src)})
		}
	}
}

// within adds the ways of the rules that write into the counterpart of a place.
func (v *keptView) within(p *keptPlace) {
	if len(p.made.there) == 0 {
		return
	}
	for _, r := range p.made.in.Rules {
		if slices.ContainsFunc(r.Ends[v.src.Other()], func(e binding.Path) bool { return binding.Within(e.Segments, p.made.there) }) {
			p.beside = append(p.beside, way{r.Syntax, partsOf(r.Syntax, v.src), endsOf(p.made.in, r, v.src)})
		}
	}
}

func (p *keptPlace) itself(v *keptView) []string {
	return []string{memberText(transform.Read{}, p.Path, v.from())}
}

func memberText(m transform.Read, path, version string) string {
	if path = cmp.Or(path, "."); m.Presence {
		path = "has(" + path + ")"
	}
	return fmt.Sprintf("%s of %s", path, version)
}

// unitOf returns the unit that decides about values that were kept at a place, if it is more than the place and its counterpart,
// and the binding that it is of. Places that rules pick out of a list are in none.
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
