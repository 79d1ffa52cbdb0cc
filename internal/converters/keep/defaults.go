package keep

import (
	"slices"

	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Defaults are the defaults of a version's schema. They are immutable. Nil has none.
type Defaults struct {
	text    string // the default of the place
	has     bool
	null    bool // null is a valid value
	matters bool // a rule reads the place, or it is in a list, whose elements are known by all that they show
	decides bool // an expression reads the place, or whether it has something
	members []namedDefaults
	each    *Defaults // in the elements of a list, or the values of a map
	in      jsondoc.Kind
}

type namedDefaults struct {
	name string
	*Defaults
}

// Missing returns the defaults of the layout's version at places that the other version lacks, or
// nil. They are not kept. An object that is stored at the other version would be shown without
// them: the API server fills in defaults of the version that it stores or receives, but not of one
// that it requests from a webhook.
func (l *Layout) Missing() *Defaults {
	return l.defaults(func(c cursor) bool { return c.oneSided() || c.place.dropped() })
}

// Defaults returns all that the API server fills in when it stores or receives the layout's
// version.
func (l *Layout) Defaults() *Defaults {
	return l.defaults(func(cursor) bool { return true })
}

func (l *Layout) defaults(counts func(cursor) bool) *Defaults {
	if l.Schema == nil {
		return nil
	}
	all := &Defaults{}
	root := l.root(nil)
	for _, name := range l.Schema.Properties() {
		if !isHead(name) {
			all.put(name, root.member(name, 1).defaults(1, counts, root.moves()))
		}
	}
	return all.orNil()
}

// defaults returns the defaults at a place and below it that count. Read says that a rule reads
// what is around it.
func (c cursor) defaults(depth int, counts func(cursor) bool, read bool) *Defaults {
	if c.schema == nil {
		return nil
	}
	d := &Defaults{null: c.schema.Nullable(), matters: read || c.moves() || c.place != nil && len(c.place.Members) > 0}
	if counts(c) {
		d.text, d.has = c.schema.Default()
		d.decides = d.has && (c.unit != nil || c.place != nil && c.place.Watch != nil)
	}
	switch read = read || c.moves(); c.schema.Kind() {
	case crdschema.Array: // elements are known by all that they show
		d.each, d.in = c.element(depth+1, nil, false).defaults(depth+1, counts, true), jsondoc.Array
	case crdschema.Map:
		d.each, d.in = c.member(anyName, depth+1).defaults(depth+1, counts, read), jsondoc.Map
	case crdschema.Object, crdschema.Any:
		for _, name := range c.schema.Properties() {
			d.put(name, c.member(name, depth+1).defaults(depth+1, counts, read))
		}
	case crdschema.None, crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString:
	}
	return d.orNil()
}

// moves reports whether a rule reads the place.
func (c cursor) moves() bool { return c.place.moved() || c.hasUnit() }

// anyName is the name of some value of a map.
const anyName = "\x00"

func (d *Defaults) put(name string, m *Defaults) {
	if m != nil {
		d.members = append(d.members, namedDefaults{name, m})
	}
}

func (d *Defaults) orNil() *Defaults {
	if d.has || len(d.members) > 0 || d.each != nil {
		return d
	}
	return nil
}

// Decide reports whether an expression reads the place of a default, or whether it has something.
func (d *Defaults) Decide() bool {
	return d != nil && (d.decides || d.each.Decide() || slices.ContainsFunc(d.members, func(m namedDefaults) bool { return m.Decide() }))
}

// FillIn adds the defaults to an object that the API server has stored. It leaves fragments alone:
// in server-side apply their manager would come to own the defaults.
func (d *Defaults) FillIn(obj *jsondoc.Object) error {
	if d == nil {
		return nil
	}
	uid, _, err := obj.NestedText("metadata", "uid")
	if err != nil || len(uid) <= len(`""`) || uid[0] != '"' {
		return err
	}
	_, err = d.Fill(obj)
	return err
}

// Fill adds the defaults to any object. It reports whether it has added one that matters: a rule
// reads it, or it is in a list, whose elements are known by all that they show.
func (d *Defaults) Fill(obj *jsondoc.Object) (matters bool, err error) {
	f := &filler{}
	f.fill(obj.Node, d)
	return f.matters, f.err
}

type filler struct {
	matters bool
	err     error
}

func (f *filler) note(err error) {
	if err != nil && f.err == nil {
		f.err = err
	}
}

func (f *filler) fill(n *jsondoc.Node, d *Defaults) {
	kind := n.Kind()
	if kind == jsondoc.Map {
		for _, m := range d.members {
			f.member(n, m.name, m.Defaults)
		}
	}
	if d.each != nil && kind == d.in {
		f.note(n.Each(func(_ string, m *jsondoc.Node) bool {
			f.fill(m, d.each)
			return f.err == nil
		}))
	}
}

// member adds a missing member of an object, and the defaults in it.
func (f *filler) member(n *jsondoc.Node, name string, d *Defaults) {
	m, err := n.Member(name)
	f.note(err)
	if d.has && (m == nil || m.Kind() == jsondoc.Null && !d.null) {
		v, err := jsondoc.RawValue([]byte(d.text))
		f.note(err)
		f.note(n.SetMember(name, v))
		f.matters = f.matters || d.matters
		m, err = n.Member(name)
		f.note(err)
	}
	if m != nil {
		f.fill(m, d)
	}
}
