package keep

import (
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// Fill gives an object of the layout's version the defaults that the API server adds when it stores it or is sent it. It reports
// whether there are any at places that a rule reads, or in lists, whose elements are known by all that they show.
func Fill(obj *jsondoc.Object, l *Layout) (matters bool, err error) {
	f := &filler{}
	f.fill(obj.Node, l.Schema, l.Root, false)
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

// fill goes through a value; read says that it matters what is in it.
func (f *filler) fill(n *jsondoc.Node, s *crdschema.Node, p *Place, read bool) {
	read = read || p != nil && (p.Moved || p.Unit != nil)
	switch kind := n.Kind(); {
	case kind == jsondoc.Map && s.Values() != nil && !s.Values().Scalar():
		f.note(n.Each(func(name string, m *jsondoc.Node) bool {
			f.fill(m, s.Values(), p.each(), read)
			return true
		}))
	case kind == jsondoc.Map:
		for _, name := range s.Properties() {
			place, _ := p.member(name)
			f.member(n, name, s.Property(name), place, read)
		}
	case kind == jsondoc.Array && !s.Items().Scalar():
		f.note(n.Each(func(_ string, e *jsondoc.Node) bool {
			f.fill(e, s.Items(), p.each(), true)
			return true
		}))
	}
}

func (f *filler) member(n *jsondoc.Node, name string, s *crdschema.Node, p *Place, read bool) {
	m, err := n.Member(name)
	f.note(err)
	if text, has := s.Default(); has && (m == nil || m.Kind() == jsondoc.Null && !s.Nullable()) {
		v, err := jsondoc.RawValue([]byte(text))
		f.note(err)
		f.note(n.SetMember(name, v))
		f.matters = f.matters || read || p != nil && (p.Moved || p.Unit != nil || len(p.Members) > 0)
		m, err = n.Member(name)
		f.note(err)
	}
	if m != nil {
		f.fill(m, s, p, read)
	}
}
