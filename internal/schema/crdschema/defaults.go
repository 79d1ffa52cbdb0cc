package crdschema

import (
	"cmp"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// HasDefaults reports whether Fill may add something to a value of the place.
func (n *Node) HasDefaults() bool { return n != nil && n.defaults }

// Fill adds defaults to a value of the place, as the API server does to objects that it stores or
// receives: to each object that is there, what it lacks
// (k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting.Default). It reports whether it
// added something. It fails as [jsondoc.Node.Member] does.
func (n *Node) Fill(value *jsondoc.Node) (filled bool, err error) {
	f := &filler{}
	f.value(value, n)
	return f.filled, f.err
}

type filler struct {
	filled bool
	err    error
}

func (f *filler) note(err error) { f.err = cmp.Or(f.err, err) }

func (f *filler) value(value *jsondoc.Node, n *Node) {
	if !n.HasDefaults() || f.err != nil {
		return
	}
	parts := n.items
	if value.Kind() == jsondoc.Map {
		parts = n.values
		for i, p := range n.ordered {
			if _, has := p.Default(); has || p.defaults {
				f.member(value, n.names[i], p)
			}
		}
	}
	if parts.HasDefaults() {
		f.note(value.Each(func(_ string, part *jsondoc.Node) bool {
			f.value(part, parts)
			return f.err == nil
		}))
	}
}

// member adds a missing member of an object, and the defaults in it.
func (f *filler) member(object *jsondoc.Node, name string, n *Node) {
	m, err := object.Member(name)
	f.note(err)
	if text, has := n.Default(); has && (m == nil || m.Kind() == jsondoc.Null && !n.Nullable()) {
		f.filled = true
		v, err := jsondoc.RawValue([]byte(text))
		f.note(err)
		f.note(object.SetMember(name, v))
		m, err = object.Member(name)
		f.note(err)
	}
	if m != nil {
		f.value(m, n)
	}
}
