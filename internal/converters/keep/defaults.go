package keep

import (
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Defaults are what the schema of a version fills in. Nil has none. They are immutable.
type Defaults struct {
	text    string // what is added at the place
	has     bool
	null    bool // null is one of the values
	matters bool // a rule reads what is added, or what an element of a list shows
	members []namedDefaults
	each    *Defaults // in the elements of a list, or the values of a map
	in      jsondoc.Kind
}

type namedDefaults struct {
	name string
	*Defaults
}

// Missing returns what the schema of the layout's version fills in at places that the other version has not, which is why it is not
// kept: an object that is stored at the other version is shown without it otherwise, since the API server fills in defaults of the
// version that it stores or is sent, and none of one that it asks a webhook for. It is nil if there is nothing.
func (l *Layout) Missing() *Defaults {
	return l.defaults(func(c cursor) bool { return c.oneSided() || c.place.dropped() })
}

// Defaults returns all that the API server adds to an object of the layout's version when it stores it or is sent it.
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

// defaults returns those of a place and of what is in it, as far as they count; read says that it matters what is around it.
func (c cursor) defaults(depth int, counts func(cursor) bool, read bool) *Defaults {
	if c.schema == nil {
		return nil
	}
	d := &Defaults{null: c.schema.Nullable(), matters: read || c.moves() || c.place != nil && len(c.place.Members) > 0}
	if counts(c) {
		d.text, d.has = c.schema.Default()
	}
	switch read = read || c.moves(); c.schema.Kind() {
	case crdschema.Array: // elements are known by all that they show
		d.each, d.in = c.element(depth+1, -1).defaults(depth+1, counts, true), jsondoc.Array
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

// moves says that a rule reads what is here.
func (c cursor) moves() bool { return c.place.moved() || c.hasUnit() }

// anyName stands for the name of a value of a map.
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

// FillIn adds the defaults to an object that is whole: one that the API server has stored. Of a fragment, as server-side apply has
// them, its owner would come to own what is added.
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

// Fill adds the defaults to any object. It reports whether something was added at a place that a rule reads, or in a list, whose elements
// are known by all that they show.
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

// member adds a member of an object, if it is not there, and what is in it.
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
