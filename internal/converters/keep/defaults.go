package keep

import (
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Defaults are what the schema of a version fills in at places that the other version has not, which is why it is not kept: an
// object that is stored at the other version is shown without it otherwise, since the API server fills in defaults of the
// version that it stores or is sent, and none of one that it asks a webhook for. Nil has none. They are immutable.
type Defaults struct {
	text    string // what is added at the place
	has     bool
	null    bool // null is one of the values
	members []namedDefaults
	each    *Defaults // in the elements of a list, or the values of a map
}

type namedDefaults struct {
	name string
	*Defaults
}

// Defaults returns those of the layout's version, or nil if there are none.
func (l *Layout) Defaults() *Defaults {
	if l.Schema == nil {
		return nil
	}
	all := &Defaults{}
	root := l.root(nil)
	for _, name := range l.Schema.Properties() {
		if !isHead(name) {
			all.put(name, root.member(name, 1).defaults(1))
		}
	}
	return all.orNil()
}

// defaults returns those of a place and of what is in it.
func (w where) defaults(depth int) *Defaults {
	if w.schema == nil {
		return nil
	}
	d := &Defaults{null: w.schema.Nullable()}
	if w.oneSided() || w.place.dropped() {
		d.text, d.has = w.schema.Default()
	}
	switch w.schema.Kind() {
	case crdschema.Array:
		d.each = w.element(depth+1, -1).defaults(depth + 1)
	case crdschema.Map:
		d.each = w.member(anyName, depth+1).defaults(depth + 1)
	case crdschema.Object, crdschema.Any:
		for _, name := range w.schema.Properties() {
			d.put(name, w.member(name, depth+1).defaults(depth+1))
		}
	case crdschema.None, crdschema.String, crdschema.Integer, crdschema.Number, crdschema.Boolean, crdschema.IntOrString:
	}
	return d.orNil()
}

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
	return d.fillIn(obj.Node)
}

func (d *Defaults) fillIn(n *jsondoc.Node) error {
	switch n.Kind() {
	case jsondoc.Map:
		for _, m := range d.members {
			if err := m.member(n, m.name); err != nil {
				return err
			}
		}
	case jsondoc.Array:
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Bool, jsondoc.Number, jsondoc.String:
		return nil
	}
	if d.each == nil {
		return nil
	}
	var failed error
	err := n.Each(func(_ string, m *jsondoc.Node) bool {
		failed = d.each.fillIn(m)
		return failed == nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// member adds a member of an object, if it is not there, and what is in it.
func (d *Defaults) member(n *jsondoc.Node, name string) error {
	m, err := n.Member(name)
	if err != nil {
		return err
	}
	if d.has && (m == nil || m.Kind() == jsondoc.Null && !d.null) {
		v, err := jsondoc.RawValue([]byte(d.text))
		if err == nil {
			err = n.SetMember(name, v)
		}
		if err != nil {
			return err
		}
		if m, err = n.Member(name); err != nil {
			return err
		}
	}
	return d.fillIn(m)
}
