package check

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
)

// A Change is a field that old and new rules convert differently, or a conversion that only one of
// them has, whose Path is empty.
type Change struct {
	CRD, From, To string
	Path          string
	Before, Now   string // what becomes of it; empty if there is none
	Effect        string // what that means for users
}

// Changes returns what old and new rules convert differently, in the order of the old file, then of
// what is new. It compares fields, not whether lists and objects are there.
func Changes(old, now *binding.Set) []Change {
	var changes []Change
	before, after := directionsOf(old), directionsOf(now)
	for _, d := range before {
		if i := slices.IndexFunc(after, d.isLike); i >= 0 {
			changes = append(changes, changesOf(&d, &after[i])...)
		} else {
			changes = append(changes, Change{CRD: d.CRD, From: d.From, To: d.To, Effect: "no longer converted"})
		}
	}
	for _, d := range after {
		if !slices.ContainsFunc(before, d.isLike) {
			changes = append(changes, Change{CRD: d.CRD, From: d.From, To: d.To, Effect: "new conversion"})
		}
	}
	return changes
}

func directionsOf(set *binding.Set) []Direction {
	all := make([]Direction, 0, len(set.Kinds))
	for _, k := range set.Kinds {
		all = append(all, Explain(k)...)
	}
	return all
}

func (d *Direction) isLike(o Direction) bool {
	return d.CRD == o.CRD && d.From == o.From && d.To == o.To
}

// changesOf compares the values of two directions of the same versions.
func changesOf(before, now *Direction) []Change {
	was, is := before.values(), now.values()
	var changes []Change
	done := map[string]bool{}
	for _, a := range slices.Concat(before.Atoms, now.Atoms) {
		b, n := was[a.Path], is[a.Path]
		if a.Kind != Value || done[a.Path] {
			continue
		}
		done[a.Path] = true
		if e := effect(b, n); e != "" {
			changes = append(changes, Change{before.CRD, before.From, before.To, a.Path, b.becomes(), n.becomes(), e})
		}
	}
	return changes
}

// values returns the atoms that are values, by path.
func (d *Direction) values() map[string]*Atom {
	all := make(map[string]*Atom, len(d.Atoms))
	for i := range d.Atoms {
		if d.Atoms[i].Kind == Value {
			all[d.Atoms[i].Path] = &d.Atoms[i]
		}
	}
	return all
}

// becomes says what becomes of a field, which may be nil.
func (a *Atom) becomes() string {
	switch {
	case a == nil:
		return ""
	case a.Class == Mapped && a.To != "" && a.To != a.Path:
		return "to " + a.To
	case a.Class == Dropped && a.Reason != "":
		return "dropped: " + a.Reason
	}
	return string(a.Class)
}

// effect returns what the change of a field means for users, or "" if there is none. Either may be
// nil.
func effect(before, now *Atom) string {
	lost := func(a *Atom) bool { return a.Class == Dropped || a.Class == Unmapped }
	switch {
	case before == nil:
		return "new field"
	case now == nil:
		return "field is gone"
	case lost(before) && lost(now):
		return ""
	case lost(now):
		return "lost from now on"
	case lost(before):
		return "no longer lost"
	case before.Class != Preserved && now.Class == Preserved:
		return "kept in an annotation from now on"
	case before.Class == Preserved && now.Class != Preserved:
		return "no longer kept in an annotation"
	case before.To != now.To:
		return "converted to another place"
	case now.Class == Mapped && before.rules() != now.rules():
		return "converted by a rule that has changed"
	}
	return ""
}

// rules returns what the rules of an atom say, wherever they are in their file.
func (a *Atom) rules() string {
	var b strings.Builder
	for _, r := range a.made.rules() {
		b.WriteString(r.Says())
	}
	return b.String()
}
