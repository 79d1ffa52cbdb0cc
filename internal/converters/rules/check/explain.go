package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Class says what becomes of an atom in the other version.
type Class string

// The classes of atoms.
const (
	Copied    Class = "copied"    // it is the same there, without a rule
	Mapped    Class = "mapped"    // a rule converts it
	Preserved Class = "preserved" // it is kept in an annotation
	Dropped   Class = "dropped"   // it is lost on purpose
	Unmapped  Class = "unmapped"  // it is lost, and Check has a finding about it
)

// AtomKind says what an atom is.
type AtomKind string

// The kinds of atoms.
const (
	Value    AtomKind = "value"    // the value of a field, of the elements of a list, of the entries of a map
	Presence AtomKind = "presence" // whether an object, list or map is there at all
	Unknown  AtomKind = "unknown"  // fields that the schema does not name
)

// An Atom is the smallest part that can be lost.
type Atom struct {
	Path   string   `json:"path"`
	Kind   AtomKind `json:"kind"`
	Class  Class    `json:"class"`
	To     string   `json:"to,omitempty"`     // its place in the other version; empty: the same path, or none
	Rule   string   `json:"rule,omitempty"`   // such as "rule 2", or several with guards, or empty
	Reason string   `json:"reason,omitempty"` // why it is preserved or dropped
	made   outcome
}

// A Direction has what becomes of every atom of a version in another one, in the order of their
// paths, and what may stay absent there.
type Direction struct {
	CRD    string    `json:"crd"`
	From   string    `json:"from"`
	To     string    `json:"to"`
	Atoms  []Atom    `json:"atoms"`
	Absent []Absence `json:"mayBeAbsent,omitempty"`
}

// An Absence is a place of the target that may stay absent although it is required, with all below
// it.
type Absence struct {
	Path   string `json:"path,omitempty"` // empty: every place
	Rule   string `json:"rule,omitempty"` // empty: the version itself says so
	Reason string `json:"reason"`
}

// Explain returns what becomes of every atom, for each version of the file to the hub and back. It
// leaves out versions that the CRD does not have, and ignores mistakes, which Check reports.
func Explain(k *binding.Kind) []Direction {
	directions := make([]Direction, 0, 2*len(k.Spokes))
	for _, s := range spokesOf(k) {
		p := newPair(s)
		for _, src := range sides() {
			atoms := []Atom{}
			p.walk(src, &atoms)
			slices.SortStableFunc(atoms, func(a, b Atom) int { return strings.Compare(a.Path, b.Path) })
			directions = append(directions, Direction{
				CRD: k.CRD.Name, From: p.Names[src], To: p.Names[src.Other()], Atoms: atoms, Absent: absences(s, src.Other()),
			})
		}
	}
	return directions
}

// Open returns the outermost places that lose values: those that Check reports. To is the place
// that takes only some of them, if there is one.
func (d *Direction) Open() []Atom {
	var open []Atom
	for _, a := range d.Atoms {
		below := func(o Atom) bool { return syntax.Within(a.Path, o.Path) }
		if a.Class == Unmapped && !slices.ContainsFunc(open, below) {
			a.To = a.made.counterpart
			open = append(open, a)
		}
	}
	return open
}

func absences(s *binding.Spoke, of binding.Side) []Absence {
	var all []Absence
	for _, a := range s.Absences {
		if a.Side == of {
			all = append(all, Absence{Path: a.Path, Rule: a.Rule.String(), Reason: a.Rule.MayBeAbsent.Value})
		}
	}
	slices.SortStableFunc(all, func(a, b Absence) int { return strings.Compare(a.Path, b.Path) })
	if s.Version.MayBeAbsent != nil {
		all = append(all, Absence{Reason: s.Version.MayBeAbsent.Value})
	}
	return slices.Compact(all)
}

// spokesOf returns the versions that the file mentions, in its order.
func spokesOf(k *binding.Kind) []*binding.Spoke {
	spokes := slices.DeleteFunc(slices.Clone(k.Spokes), func(s *binding.Spoke) bool { return s.Version == nil })
	place := func(s *binding.Spoke) int { return slices.Index(k.Conversion.Versions, s.Version) }
	slices.SortFunc(spokes, func(a, b *binding.Spoke) int { return cmp.Compare(place(a), place(b)) })
	return spokes
}

// An outcome is what becomes of an atom.
type outcome struct {
	class  Class
	rule   *syntax.Rule
	others []*syntax.Rule // they have guards, as the first one does
	to     string
	reason string
	by     []*binding.Rule // the rules that compute it, or the version's place from the other one
	// Counterpart is the place of the other version that takes the value unchanged. It does not
	// take all values if the class is Preserved or Unmapped; via is the rule that pairs the two
	// then.
	counterpart string
	via         *syntax.Rule
	parts       []syntax.Segment // which lead from the counterpart to places that rules name
	// partly is true of a list whose counterpart does not have all of it: a map has no order, and
	// only the key and the value of an element; and rules may pick elements of either.
	partly bool
}

// rules returns the rules that the outcome is by.
func (o *outcome) rules() []*syntax.Rule {
	if o.rule == nil {
		return o.others
	}
	return append([]*syntax.Rule{o.rule}, o.others...)
}

func (w *walker) emit(v visit, kind AtomKind, o outcome) {
	if kind != Presence || len(v.path) > 0 || !v.binding.Covered {
		w.atom(v.binding.Text(w.src, v.path), kind, o)
	}
}

func (w *walker) atom(path string, kind AtomKind, o outcome) {
	if w.atoms == nil || w.muted > 0 || path == "." {
		return
	}
	rules := make([]string, 0, 1+len(o.others))
	for _, r := range o.rules() {
		rules = append(rules, r.String())
	}
	*w.atoms = append(*w.atoms, Atom{
		Path: path, Kind: kind, Class: o.class, To: o.to, Rule: strings.Join(rules, ", "), Reason: o.reason, made: o,
	})
}

// step returns the outcome of a part of the place.
func (o outcome) step(by string) outcome {
	if o.parts = nil; o.counterpart != "" {
		o.counterpart += by
	}
	return o
}

// all gives a place and everything below it one outcome.
func (w *walker) all(v visit, o outcome) {
	if w.atoms != nil && w.muted == 0 {
		w.below(v.binding.Text(w.src, v.path), v.src.Node, o)
	}
}

func (w *walker) below(path string, n *crdschema.Node, o outcome) {
	switch {
	case n.Kind() == crdschema.Array:
		w.atom(path, Presence, o)
		w.below(path+"[]", n.Items(), o.step("[]"))
	case n.Kind() == crdschema.Map:
		w.atom(path, Presence, o)
		w.below(path+"{}", n.Values(), o.step("{}"))
	case len(n.Properties()) == 0:
		w.atom(path, Value, o)
	default:
		w.atom(path, Presence, o)
		for _, name := range n.Properties() {
			by := syntax.Segment{Kind: syntax.Field, Name: name}.String()
			w.below(path+by, n.Property(name), o.step(by))
		}
		if n.PreservesUnknown() {
			w.atom(path, Unknown, o)
		}
	}
}

// Units are the places of a version and of the hub that belong together: an edit of one place of a
// unit is an edit of all.
type Units struct {
	CRD     string `json:"crd"`
	Version string `json:"version"`
	Hub     string `json:"hub"`
	Units   []Unit `json:"units"`
}

// A Unit has several places at the version or at the hub, or expressions that read places
// elsewhere.
type Unit struct {
	Places []UnitPlace `json:"places"`          // of the version, then of the hub
	Reads  []UnitPlace `json:"reads,omitempty"` // outside of the element, or of the place of the rule set
	Why    []string    `json:"why"`             // the places belong together
}

// A UnitPlace is a place of a version with everything below it, or only whether it has a value.
type UnitPlace struct {
	Version  string `json:"version"`
	Path     string `json:"path"`
	Presence bool   `json:"presence,omitempty"`
}

// FindUnits returns the units for each version of the file that the CRD has. If a rule set is
// applied to one type in several places, its units are there once.
func FindUnits(k *binding.Kind) []Units {
	found := make([]Units, 0, len(k.Spokes))
	for _, s := range spokesOf(k) {
		l := unitLister{versions: s.Names, visited: map[*binding.Binding]bool{}, units: []Unit{}}
		l.binding(s.Root, [2][]syntax.Segment{})
		found = append(found, Units{CRD: k.CRD.Name, Version: s.Names[binding.OfSpoke], Hub: s.Names[binding.OfHub], Units: l.units})
	}
	return found
}

type unitLister struct {
	versions [2]string
	visited  map[*binding.Binding]bool
	units    []Unit
}

func (l *unitLister) binding(b *binding.Binding, at [2][]syntax.Segment) {
	if l.visited[b] {
		return
	}
	l.visited[b] = true
	for _, u := range b.Units {
		if !u.Single() {
			l.units = append(l.units, l.unit(u, at))
		}
	}
	below := func(path func(binding.Side) []syntax.Segment) (of [2][]syntax.Segment) {
		for _, s := range sides() {
			of[s] = slices.Concat(at[s], path(s))
		}
		return of
	}
	for _, rule := range b.Rules {
		if rule.Below != nil {
			l.binding(rule.Below, below(func(s binding.Side) []syntax.Segment { return rule.Ends[s][0].Segments }))
		}
	}
	for _, e := range b.Elements {
		if e.Paired() {
			l.binding(e.Binding, below(e.Whole))
		}
	}
}

func (l *unitLister) unit(u *binding.Unit, at [2][]syntax.Segment) Unit {
	var unit Unit
	for _, s := range sides() {
		for _, p := range u.Places[s] {
			unit.Places = append(unit.Places, l.place(s, slices.Concat(at[s], p.Path), p.Presence))
		}
		for _, p := range u.Outside[s] {
			unit.Reads = append(unit.Reads, l.place(s, p.Path, p.Presence))
		}
	}
	for _, rule := range u.Rules {
		for _, s := range sides() {
			if n := len(rule.Ends[s]); n > 1 {
				number := cmp.Or(map[int]string{2: "two"}[n], fmt.Sprint(n))
				unit.Why = append(unit.Why, fmt.Sprintf("%s names %s places of %s", rule.Syntax, number, l.versions[s]))
			}
		}
	}
	for i, w := range u.Why {
		if w.Other != nil {
			place := l.place(w.At, slices.Concat(at[w.At], w.Place.Path), false)
			unit.Why = append(unit.Why, fmt.Sprintf("%s and %s share %s %s", w.Rule, w.Other, place.Version, place.Text()))
			continue
		}
		place := l.place(w.At, w.Place.Path, w.Place.Presence)
		if i > 0 && u.Why[i-1].Rule == w.Rule && u.Why[i-1].Key == w.Key {
			unit.Why[len(unit.Why)-1] += ", " + place.Text()
			continue
		}
		unit.Why = append(unit.Why, fmt.Sprintf("%s of %s reads %s %s", w.Key, w.Rule, place.Version, place.Text()))
	}
	return unit
}

func (l *unitLister) place(s binding.Side, path []syntax.Segment, presence bool) UnitPlace {
	text := cmp.Or(syntax.Path{Segments: path}.String(), ".")
	return UnitPlace{Version: l.versions[s], Path: text, Presence: presence}
}

// Text writes the place as `.spec.type`, or `has(.spec.type)`.
func (p UnitPlace) Text() string {
	if p.Presence {
		return "has(" + p.Path + ")"
	}
	return p.Path
}

// TextOf writes the places of a version.
func (u *Unit) TextOf(version string) string { return textOf(u.Places, version) }

// ReadsOf writes the places of a version that are read, but are not of the unit.
func (u *Unit) ReadsOf(version string) string { return textOf(u.Reads, version) }

func textOf(places []UnitPlace, version string) string {
	var texts []string
	for _, p := range places {
		if p.Version == version {
			texts = append(texts, p.Text())
		}
	}
	return strings.Join(texts, ", ")
}
