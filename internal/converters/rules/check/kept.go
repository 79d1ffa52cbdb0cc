package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/finding"
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
		return r.Guarded() || r.DefaultFrom != nil || [...]*syntax.Literal{r.DefaultInHub, r.DefaultInSpoke}[src] != nil
	})
}

// A verdict is what becomes of values that were kept of a place. The zero verdict: they return as
// before. Texts have <it> and <field> for one place or several.
type verdict struct {
	pos              finding.Position
	code, text, hint string
}

// pair reports what becomes of kept values of a version next to another one.
func (c *comparison) pair(was, is *keptView) {
	for _, p := range was.places {
		if p.verdict = (verdict{}); p.loses {
			p.verdict = c.judge(was, is, p)
		}
	}
	c.report(was)
}

// judge returns what becomes of kept values of a place.
func (c *comparison) judge(was, is *keptView, p *keptPlace) verdict {
	n, file := is.at[p.key], c.now.Conversion
	switch {
	case n != nil:
	case is.find(is.src, p.Path).Known:
		n = &keptPlace{} // as the other version has it, or as an unknown field
	default:
		return verdict{versionPos(file, is.from), "kept-no-field", is.from + " has no such <field> any more: kept values do not return", ""}
	}
	v := verdict{pos: versionPos(file, is.Names[binding.OfSpoke]), hint: c.save(is.from)}
	if r := cmp.Or(n.made.rule, n.made.via); r != nil {
		v.pos = r.Pos
	}
	switch {
	case n.Class == Dropped:
		v.code, v.hint = "kept-dropped", "remove `drop` to keep <it>"
		v.text = fmt.Sprintf("%s drops <it> now, so kept values will be dropped: %s", n.Rule, n.Reason)
	case p.bare() && (n.Class == Copied || n.Class == Mapped):
		v.code, v.text = "kept-returns", is.returns(n)
		v.hint = fmt.Sprintf("%s shows it once the object is written at %s under the new rules: %s -o json | kubectl replace -f -", is.to, is.from, c.get(is.from))
	case was.to != is.to && p.bare():
		return verdict{}
	case was.to != is.to:
		v.code, v.pos = "kept-hub", file.HubPos
		v.text = fmt.Sprintf("the hub is %s now, and was %s: kept values count only as long as %[1]s gives what %[2]s gave", c.now.Hub.Name, c.old.Hub.Name)
		if is.from == c.old.Hub.Name && len(c.old.Spokes) > 1 {
			v.text += ", and versions that were converted through " + is.from + " no longer show it"
		}
	case len(p.sources) > 0 && len(n.sources) == 0 && n.rules == "":
		v.code = "kept-no-place"
		v.text = fmt.Sprintf("%s has no place for <it> any more: a value there (%s) returns only if it was kept as well", is.to, strings.Join(p.sources, ", "))
	default:
		return is.compare(v, was, p, n)
	}
	return v
}

// bare reports whether the other version showed nothing next to the kept value: it had no place for
// it, or did not take it.
func (p *keptPlace) bare() bool {
	return (p.Class == Preserved || p.Class == Unmapped) && p.rules == "" && len(without(p.sources, []string{p.made.counterpart})) == 0
}

// returns says where the other version has a place for kept values now.
func (v *keptView) returns(n *keptPlace) string {
	place, by, then := cmp.Or(n.To, n.made.counterpart), n.Rule, "the rule converts it"
	if by == "" {
		by, then = "copied", "it is copied"
	}
	others := without(n.sources, append(strings.Split(place, ", "), n.made.counterpart))
	if len(others) > 0 {
		others[0] = " there, and nothing of " + others[0]
	}
	return fmt.Sprintf("%s has a place for it now (%s, %s): kept values return to it if %[1]s shows nothing%[4]s, and from then on %[5]s",
		v.to, place, by, strings.Join(others, ", "), then)
}

// compare compares what values depend on. A place that is new in the other version showed nothing,
// so it does not count.
func (v *keptView) compare(to verdict, was *keptView, p, n *keptPlace) verdict {
	come := append(without(n.all, p.all), without(p.others, n.others)...)
	come = slices.DeleteFunc(come, func(source string) bool {
		text, _, _ := strings.Cut(source, defaultMark)
		return !was.find(was.dst, text).Known
	})
	gone := append(without(p.all, n.all), without(n.others, p.others)...)
	if len(come)+len(gone) == 0 {
		gone = without(p.holders, n.holders)
	}
	const edited = ": kept values will be treated as edited if %s: the rules' own result is used"
	to.code = "kept-edited"
	switch what := strings.Trim(v.belong(come, "now")+", "+v.belong(gone, "no longer"), ", "); {
	case what != "":
		to.text = what + fmt.Sprintf(edited, "there is a value")
	case p.allRules != n.allRules:
		to.text = cmp.Or(n.Rule, "a rule for its element") + " has changed" + fmt.Sprintf(edited, "that gives something else")
	case len(p.sources) > 0 || p.filled == "" || p.filled == n.filled:
		return verdict{}
	case n.filled == "":
		to.code = "kept-default"
		to.text = fmt.Sprintf("the default in its schema is gone, and was %s: values that were the default are not kept, and are lost", p.filled)
	default:
		to.code = "kept-default"
		to.text = fmt.Sprintf("the default in its schema is %s now, and was %s: values that were the default are not kept, and become %[1]s", n.filled, p.filled)
	}
	return to
}

// belong says that values depend on places of the other version, or no longer.
func (v *keptView) belong(places []string, when string) string {
	slices.Sort(places)
	switch places = slices.Compact(places); len(places) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s of %s belongs with it %s", places[0], v.to, when)
	}
	return fmt.Sprintf("%s of %s belong with it %s", strings.Join(places, ", "), v.to, when)
}

func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(others, one) })
}

// report reports verdicts: one for a place and everything in it if that is the same, and one for
// all places with the same one.
func (c *comparison) report(of *keptView) {
	places, reported := map[verdict][]string{}, map[string]verdict{}
	for _, p := range of.places {
		if p.code != "" && !slices.ContainsFunc(p.above, func(above string) bool { return reported[above] == p.verdict }) {
			reported[p.key] = p.verdict
			places[p.verdict] = append(places[p.verdict], p.Path)
		}
	}
	for v, paths := range places {
		words := strings.NewReplacer("<it>", "it", "<field>", "field")
		if len(paths) > 1 {
			words = strings.NewReplacer("<it>", "them", "<field>", "fields")
		}
		c.say(v.pos, v.code, words.Replace(v.hint), "%s of %s: %s", strings.Join(paths, ", "), of.from, words.Replace(v.text))
	}
}
