package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

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
