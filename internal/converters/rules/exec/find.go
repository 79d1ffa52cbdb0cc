package exec

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// find returns the value at a path, or nil if there is none.
func (r *run) find(n *jsondoc.Node, path []plan.Step) *jsondoc.Node {
	for i := range path {
		if n = r.part(n, &path[i]); n == nil {
			return nil
		}
	}
	return n
}

func (r *run) part(n *jsondoc.Node, s *plan.Step) *jsondoc.Node {
	if s.Kind == plan.ByName {
		return r.member(n, s.Name)
	}
	if n.Kind() != jsondoc.Array {
		return nil
	}
	if s.Kind != plan.ByPick {
		e, err := n.Element(0)
		r.note(err)
		return e
	}
	_, err := n.Element(0) // Len has no error
	r.note(err)
	for i := range n.Len() {
		if e, _ := n.Element(i); r.picked(e, s) {
			return e
		}
	}
	return nil
}

// picked reports whether an element is the one that a step picks.
func (r *run) picked(e *jsondoc.Node, s *plan.Step) bool {
	return isScalar(r.member(e, s.Name), s.Value)
}

// isScalar reports whether a key field has a text: a string without quotes, or a number or boolean.
func isScalar(n *jsondoc.Node, text string) bool {
	switch n.Kind() {
	case jsondoc.String:
		return n.IsStr(text)
	case jsondoc.Number, jsondoc.Bool:
		return string(n.Text()) == text
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Array, jsondoc.Map:
	}
	return false
}

// member returns the member of an object, or nil.
func (r *run) member(n *jsondoc.Node, name string) *jsondoc.Node {
	m, err := n.Member(name)
	r.note(err)
	return m
}

func (r *run) isEmpty(n *jsondoc.Node) bool {
	if kind := n.Kind(); kind != jsondoc.Map && kind != jsondoc.Array {
		return false
	}
	_, err := n.Member("") // Len has no error
	r.note(err)
	return n.Len() == 0
}
