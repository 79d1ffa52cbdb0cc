package exec

import (
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
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
	var found *jsondoc.Node
	r.note(n.Each(func(_ string, e *jsondoc.Node) bool {
		if r.picked(e, s) {
			found = e
		}
		return found == nil
	}))
	return found
}

// picked reports whether an element is the one that a step picks.
func (r *run) picked(e *jsondoc.Node, s *plan.Step) bool {
	text, ok := scalarText(r.member(e, s.Name))
	return ok && text == s.Value
}

// scalarText returns the text of a key field: a string without quotes, or a number or boolean.
func scalarText(n *jsondoc.Node) (string, bool) {
	switch n.Kind() {
	case jsondoc.String:
		return n.Str()
	case jsondoc.Number, jsondoc.Bool:
		return string(n.Text()), true
	case jsondoc.Invalid, jsondoc.Null, jsondoc.Array, jsondoc.Map:
	}
	return "", false
}

// member returns the member of an object, or nil.
func (r *run) member(n *jsondoc.Node, name string) *jsondoc.Node {
	m, err := n.Member(name)
	r.note(err)
	return m
}

func (r *run) isEmpty(n *jsondoc.Node) bool {
	nothing := n.Kind() == jsondoc.Map || n.Kind() == jsondoc.Array
	r.note(n.Each(func(string, *jsondoc.Node) bool {
		nothing = false
		return false
	}))
	return nothing
}
