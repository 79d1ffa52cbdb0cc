package keep

import (
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// Defaults are the defaults of a version's schema. They are immutable. Nil has none.
type Defaults struct {
	text    string // the default of the place
	has     bool
	null    bool // null is a valid value
	read    bool // conversions to the other version read the place
	members []namedDefaults
	each    *Defaults // in the elements of a list, or the values of a map
	in      jsondoc.Kind
}

type namedDefaults struct {
	name string
	*Defaults
}

// Defaults returns all that the API server fills in when it stores or receives the layout's
// version.
func (l *Layout) Defaults() *Defaults {
	if l.Schema == nil {
		return nil
	}
	all := &Defaults{}
	root := l.root(nil, nil, nil)
	for _, name := range l.Schema.Properties() {
		if !isHead(name) {
			all.put(name, root.member(name, 1, nil, nil).defaults())
		}
	}
	return all.orNil()
}

// defaults returns the defaults at a place and below it.
func (c cursor) defaults() *Defaults {
	if c.schema == nil {
		return nil
	}
	d := &Defaults{null: c.schema.Nullable(), read: c.tracked || c.unit != nil || c.opaque || c.place != nil && (c.place.Watch != nil || c.place.Holds != nil)}
	d.text, d.has = c.schema.Default()
	switch c.schema.Kind() {
	case crdschema.Array:
		d.each, d.in = c.anyElement().defaults(), jsondoc.Array
	case crdschema.Map:
		d.each, d.in = c.member(anyName, 0, nil, nil).defaults(), jsondoc.Map
	case crdschema.Object, crdschema.Any:
		for _, name := range c.schema.Properties() {
			d.put(name, c.member(name, 0, nil, nil).defaults())
		}
	case crdschema.None, crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString:
	}
	return d.orNil()
}

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

// IsStored reports whether an object may be one that the API server has stored, and which so has
// all defaults. Fragments are not: in server-side apply their manager would come to own the
// defaults.
func IsStored(obj *jsondoc.Object) bool {
	uid, _, err := obj.NestedText("metadata", "uid")
	return err == nil && len(uid) > len(`""`) && uid[0] == '"'
}

// A Filling says what Fill did.
type Filling struct {
	Filled bool // something was missing
	Read   bool // something that conversions to the other version read
}

// Fill adds missing defaults to an object.
func (d *Defaults) Fill(obj *jsondoc.Object) (Filling, error) {
	return d.fill(obj, false)
}

// Lacks reports whether Fill would add something.
func (d *Defaults) Lacks(obj *jsondoc.Object) (bool, error) {
	done, err := d.fill(obj, true)
	return done.Filled, err
}

func (d *Defaults) fill(obj *jsondoc.Object, look bool) (Filling, error) {
	if d == nil {
		return Filling{}, nil
	}
	f := &filler{look: look}
	f.fill(obj.Node, d)
	return f.Filling, f.err
}

type filler struct {
	Filling

	look bool // it fills nothing in
	err  error
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
		f.Filled, f.Read = true, f.Read || d.read
		if f.look {
			return
		}
		v, err := jsondoc.RawValue([]byte(d.text))
		f.note(err)
		f.note(n.SetMember(name, v))
		m, err = n.Member(name)
		f.note(err)
	}
	if m != nil {
		f.fill(m, d)
	}
}
