package check

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

// A Change is a field that old and new rules convert differently, or a conversion that only one of
// them has, whose Path is empty.
type Change struct {
	CRD, From, To string
	Path          string
	Before, Now   string // what becomes of it; empty if there is none
	Effect        string // what that means for users
}

// The effects of changes.
const (
	newField      = "new field"
	fieldGone     = "field is gone"
	lostNow       = "lost from now on"
	noLongerLost  = "no longer lost"
	otherPlace    = "converted to another place"
	otherValue    = "converted by a rule that has changed"
	keptNow       = "kept in an annotation from now on"
	noLongerKept  = "no longer kept in an annotation"
	newConversion = "new conversion"
	noConversion  = "no longer converted"
)

// Changes returns what old and new rules convert differently, in the order of the old file, then of
// what is new. It compares fields, not whether lists and objects are there.
func Changes(old, now *binding.Set) []Change {
	var changes []Change
	for _, k := range old.Kinds {
		var after []Direction
		if n := now.Kind(k.CRD.Name); n != nil {
			after = Explain(n)
		}
		before := Explain(k)
		for _, d := range before {
			if a := find(after, &d); a != nil {
				changes = append(changes, changesOf(k.CRD.Name, &d, a)...)
			} else {
				changes = append(changes, Change{CRD: k.CRD.Name, From: d.From, To: d.To, Effect: noConversion})
			}
		}
		for _, d := range after {
			if find(before, &d) == nil {
				changes = append(changes, Change{CRD: k.CRD.Name, From: d.From, To: d.To, Effect: newConversion})
			}
		}
	}
	for _, k := range now.Kinds {
		if old.Kind(k.CRD.Name) != nil {
			continue
		}
		for _, d := range Explain(k) {
			changes = append(changes, Change{CRD: k.CRD.Name, From: d.From, To: d.To, Effect: newConversion})
		}
	}
	return changes
}

func find(directions []Direction, like *Direction) *Direction {
	for i := range directions {
		if directions[i].From == like.From && directions[i].To == like.To {
			return &directions[i]
		}
	}
	return nil
}

// changesOf compares two directions of the same versions.
func changesOf(crd string, before, now *Direction) []Change {
	var changes []Change
	add := func(path string, b, n *Atom) {
		c := Change{CRD: crd, From: before.From, To: before.To, Path: path, Before: b.becomes(path), Now: n.becomes(path)}
		if c.Effect = effect(b, n); c.Effect != "" {
			changes = append(changes, c)
		}
	}
	was, is := values(before), values(now)
	for i := range before.Atoms {
		if a := &before.Atoms[i]; was[a.Path] == a {
			add(a.Path, a, is[a.Path])
		}
	}
	for i := range now.Atoms {
		if a := &now.Atoms[i]; is[a.Path] == a && was[a.Path] == nil {
			add(a.Path, nil, a)
		}
	}
	return changes
}

// values returns the atoms that are values, by path.
func values(d *Direction) map[string]*Atom {
	all := make(map[string]*Atom, len(d.Atoms))
	for i := range d.Atoms {
		if d.Atoms[i].Kind == Value {
			all[d.Atoms[i].Path] = &d.Atoms[i]
		}
	}
	return all
}

// becomes says what becomes of a field, which may be nil.
func (a *Atom) becomes(path string) string {
	switch {
	case a == nil:
		return ""
	case a.Class == Mapped && a.To != "" && a.To != path:
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
		return newField
	case now == nil:
		return fieldGone
	case lost(before) && lost(now):
		return ""
	case lost(now):
		return lostNow
	case lost(before):
		return noLongerLost
	case before.Class != Preserved && now.Class == Preserved:
		return keptNow
	case before.Class == Preserved && now.Class != Preserved:
		return noLongerKept
	case before.To != now.To:
		return otherPlace
	case now.Class == Mapped && before.rules() != now.rules():
		return otherValue
	}
	return ""
}

// rules returns what the rules of an atom say, wherever they are in their file.
func (a *Atom) rules() string {
	var b strings.Builder
	for _, r := range append([]*syntax.Rule{a.made.rule}, a.made.others...) {
		if r != nil {
			write(&b, reflect.ValueOf(*r))
		}
	}
	return b.String()
}

// write writes a part of a rule without positions, numbers and the rule set, whose name counts.
func write(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			write(b, v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			write(b, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			switch f := v.Type().Field(i); {
			case !f.IsExported(), f.Type == reflect.TypeFor[syntax.Position](), f.Name == "Index", f.Type == reflect.TypeFor[*syntax.RuleSet]():
			default:
				b.WriteString(f.Name + ":")
				write(b, v.Field(i))
			}
		}
	default:
		fmt.Fprintf(b, "%v;", v)
	}
}
