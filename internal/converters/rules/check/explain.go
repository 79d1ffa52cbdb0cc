package check

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/binding"
	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// Class says what becomes of an atom in the other version.
type Class string

// The classes of atoms.
const (
	Copied    Class = "copied"    // it is the same there, without a rule
	Mapped    Class = "mapped"    // a rule converts it
	Preserved Class = "preserved" // it is kept in an annotation
	Dropped   Class = "dropped"   // it is lost on purpose
	Unmapped  Class = "unmapped"  // nothing says what becomes of it: a finding of Check
)

// AtomKind says what an atom is.
type AtomKind string

// The kinds of atoms.
const (
	Value    AtomKind = "value"    // the value of a field, of the elements of a list, of the entries of a map
	Presence AtomKind = "presence" // whether an object, list or map is there at all
	Unknown  AtomKind = "unknown"  // fields that the schema does not name
)

// An Atom is the smallest thing that can be lost.
type Atom struct {
	Path   string
	Kind   AtomKind
	Class  Class
	To     string // where it goes; empty: to the same path, or nowhere
	Rule   string // such as "rule 2", or several with guards; empty: none has to do with it
	Reason string // why it is preserved or dropped
	made   outcome
}

// A Direction is what becomes of every atom of a version in another one, in the order of their paths.
type Direction struct {
	From, To string
	Atoms    []Atom
}

// Explain tells what becomes of every atom, for each version of the file to the hub and back. Versions that the CRD does not have
// are left out; what else is wrong is for Check to say.
func Explain(k *binding.Kind) []Direction {
	directions := make([]Direction, 0, 2*len(k.Spokes))
	for _, s := range told(k) {
		p := &pair{checker: newChecker(), Spoke: s}
		for _, src := range []binding.Side{binding.OfSpoke, binding.OfHub} {
			atoms := []Atom{}
			p.walk(src, &atoms)
			slices.SortStableFunc(atoms, func(a, b Atom) int { return strings.Compare(a.Path, b.Path) })
			directions = append(directions, Direction{From: p.Names[src], To: p.Names[src.Other()], Atoms: atoms})
		}
	}
	return directions
}

// told returns the versions that the file speaks of, in its order.
func told(k *binding.Kind) []*binding.Spoke {
	var spokes []*binding.Spoke
	for _, v := range k.Conversion.Versions {
		for _, s := range k.Spokes {
			if s.Version == v {
				spokes = append(spokes, s)
			}
		}
	}
	return spokes
}

// An outcome is what becomes of an atom.
type outcome struct {
	class  Class
	rule   *syntax.Rule
	others []*syntax.Rule // which have guards, as the first one has
	to     string
	reason string
	// by are the rules that compute it, or the version's place from the other one, of the binding in.
	by    []*binding.Rule
	in    *binding.Binding
	alone bool // the other version has no place for it
	// there is the counterpart that takes the value as it is. At is the text of one that does not take all values, and via the rule
	// that pairs the two, if any.
	there []syntax.Segment
	at    string
	via   *syntax.Rule
	// partly says of a list that not all of it is in its counterpart: that is a map, which has no order, and nothing of an element
	// but its key and its value, or rules pick elements there.
	partly bool
}

func (w *walker) emit(v visit, kind AtomKind, o outcome) {
	if kind == Presence && len(v.path) == 0 && v.binding.Covered {
		return
	}
	w.atom(v.binding.Text(w.src, v.path), kind, o)
}

func (w *walker) atom(path string, kind AtomKind, o outcome) {
	if w.atoms == nil || w.muted > 0 || path == "." {
		return
	}
	a := Atom{Path: path, Kind: kind, Class: o.class, To: o.to, Reason: o.reason, made: o}
	if o.rule != nil {
		a.Rule = o.rule.String()
	}
	for _, rule := range o.others {
		a.Rule += ", " + rule.String()
	}
	*w.atoms = append(*w.atoms, a)
}

// all tells the same of a place and everything below it.
func (w *walker) all(v visit, o outcome) {
	if w.atoms != nil && w.muted == 0 {
		w.below(v.binding.Text(w.src, v.path), v.src.Node, o)
	}
}

func (w *walker) below(path string, n *crdschema.Node, o outcome) {
	switch n.Kind() {
	case crdschema.Array:
		w.atom(path, Presence, o)
		w.below(path+"[]", n.Items(), o)
	case crdschema.Map:
		w.atom(path, Presence, o)
		w.below(path+"{}", n.Values(), o)
	case crdschema.Object, crdschema.Any:
		if len(n.Properties()) == 0 {
			w.atom(path, Value, o)
			return
		}
		w.atom(path, Presence, o)
		for _, name := range n.Properties() {
			w.below(path+syntax.Segment{Kind: syntax.Field, Name: name}.String(), n.Property(name), o)
		}
		if n.PreservesUnknown() {
			w.atom(path, Unknown, o)
		}
	case crdschema.None, crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString:
		w.atom(path, Value, o)
	}
}
