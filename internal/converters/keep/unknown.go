package keep

import (
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// HasUnknown reports whether an object of the layout's version has fields that neither version's schema knows. The schemas are
// older than those of the API server then, which would have removed them. Text is that of the object.
func HasUnknown(text []byte, l *Layout) bool {
	if l.Schema == nil || l.Other == nil {
		return false
	}
	scan, err := jsondoc.NewScanner(text, jsondoc.MaxDepth)
	if err != nil {
		return false
	}
	u := unknowns{scan: &scan}
	u.err = scan.Members(func(name []byte) error {
		if isHead(string(name)) || u.found {
			_, err := scan.Skip()
			return err
		}
		return u.member(name, l.Schema, l.Other, l.Root)
	})
	return u.found
}

type unknowns struct {
	scan  *jsondoc.Scanner
	found bool
	err   error
}

// member looks at a member of an object whose places are given.
func (u *unknowns) member(name []byte, s, other *crdschema.Node, p *Place) error {
	m, _ := p.member(string(name))
	next := memberOf(s, string(name))
	switch {
	case next == nil && s.PreservesUnknown():
		_, err := u.scan.Skip()
		return err
	case m.moved():
		other = m.Other
	default:
		if next == nil && memberOf(other, string(name)) == nil && !other.PreservesUnknown() && (m == nil || m.Unit == nil) {
			u.found = true
		}
		other = memberOf(other, string(name))
	}
	return u.value(next, other, m)
}

func (u *unknowns) value(s, other *crdschema.Node, p *Place) error {
	kind := u.scan.Kind()
	switch {
	case u.found || s == nil || kind != jsondoc.Map && kind != jsondoc.Array:
	case kind == jsondoc.Map && (len(s.Properties()) > 0 || s.Values() != nil || s.Kind() == crdschema.Object):
		return u.scan.Members(func(name []byte) error { return u.member(name, s, other, p) })
	case kind == jsondoc.Array && s.Items() != nil:
		return u.elements(s, other, p)
	}
	_, err := u.scan.Skip()
	return err
}

func (u *unknowns) elements(s, other *crdschema.Node, p *Place) error {
	each := p.each()
	if other = other.Items(); each.moved() {
		other = each.Other
	}
	return u.scan.Elements(func() error { return u.value(s.Items(), other, each) })
}
