package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// Units are the places of a version and of the hub that belong together: an edit of one place of a unit is one of all.
type Units struct {
	Version, Hub string
	Units        []Unit
}

// A Unit has more than one place at the version or at the hub, or expressions that read a place elsewhere.
type Unit struct {
	Places []UnitPlace // of the version, then of the hub
	Reads  []UnitPlace // beside them, outside of the element or of the rule set's place
	Why    []string    // what holds it together
}

// A UnitPlace is a place of a version with all that is below it, or just whether there is a value.
type UnitPlace struct {
	Version, Path string
	Presence      bool
}

// FindUnits returns what belongs together, for each version of the file that the CRD has. A rule set that is applied to one type
// in several places is told of once.
func FindUnits(k *binding.Kind) []Units {
	found := make([]Units, 0, len(k.Spokes))
	for _, s := range told(k) {
		l := unitLister{versions: s.Names, visited: map[*binding.Binding]bool{}}
		l.binding(s.Root, [2][]syntax.Segment{})
		found = append(found, Units{Version: s.Names[binding.OfSpoke], Hub: s.Names[binding.OfHub], Units: l.units})
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
	below := func(path func(binding.Side) []syntax.Segment) [2][]syntax.Segment {
		return [2][]syntax.Segment{
			slices.Concat(at[binding.OfSpoke], path(binding.OfSpoke)), slices.Concat(at[binding.OfHub], path(binding.OfHub)),
		}
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
	for end := range u.Places {
		for _, p := range u.Places[end] {
			unit.Places = append(unit.Places, l.place(end, slices.Concat(at[end], p.Path), p.Presence))
		}
		for _, p := range u.Outside[end] {
			unit.Reads = append(unit.Reads, l.place(end, p.Path, p.Presence))
		}
	}
	for _, rule := range u.Rules {
		for s, paths := range rule.Ends {
			if len(paths) > 1 {
				unit.Why = append(unit.Why, fmt.Sprintf("%s names %s places of %s", rule.Syntax, number(len(paths)), l.versions[s]))
			}
		}
	}
	for i, w := range u.Why {
		if w.Other != nil {
			place := l.place(int(w.At), slices.Concat(at[w.At], w.Place.Path), false)
			unit.Why = append(unit.Why, fmt.Sprintf("%s and %s share %s", w.Rule, w.Other, place))
			continue
		}
		place := l.place(int(w.At), w.Place.Path, w.Place.Presence)
		if i > 0 && u.Why[i-1].Rule == w.Rule && u.Why[i-1].Key == w.Key {
			unit.Why[len(unit.Why)-1] += ", " + place.Text()
			continue
		}
		unit.Why = append(unit.Why, fmt.Sprintf("%s of %s reads %s", w.Key, w.Rule, place))
	}
	return unit
}

func number(n int) string {
	if n == 2 {
		return "two"
	}
	return fmt.Sprint(n)
}

func (l *unitLister) place(end int, path []syntax.Segment, presence bool) UnitPlace {
	text := syntax.Path{Segments: path}.String()
	if text == "" {
		text = "."
	}
	return UnitPlace{Version: l.versions[end], Path: text, Presence: presence}
}

// String writes a place as `v1 .spec.type`, or `v1 has(.spec.type)`.
func (p UnitPlace) String() string { return p.Version + " " + p.Text() }

// Text is String without the version.
func (p UnitPlace) Text() string {
	if p.Presence {
		return "has(" + p.Path + ")"
	}
	return p.Path
}

// TextOf writes the places of a version.
func (u *Unit) TextOf(version string) string { return textOf(u.Places, version) }

// ReadsOf writes what is read of a version beside the places of the unit.
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
