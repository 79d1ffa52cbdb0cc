package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A step goes from a value to a part of it.
type step struct {
	kind        stepKind
	name, value string // the member; the key field and its text
	index       int
}

type stepKind int

const (
	byName  stepKind = iota // a member of an object
	byPick                  // the element whose field name has a value
	byFirst                 // the first element
	byIndex                 // an element
)

func stepsOf(path []syntax.Segment) []step {
	steps := make([]step, 0, len(path))
	for _, s := range path {
		switch s.Kind {
		case syntax.Pick:
			steps = append(steps, step{kind: byPick, name: s.Name, value: s.Value})
		case syntax.First:
			steps = append(steps, step{kind: byFirst})
		case syntax.Field, syntax.Elements, syntax.Values, syntax.KeyedElements, syntax.KeyedValues:
			steps = append(steps, step{name: s.Name})
		}
	}
	return steps
}

// pathText returns the text of a path.
func pathText(path []step) string {
	var text strings.Builder
	for _, s := range path {
		switch s.kind {
		case byName:
			text.WriteString(jsondoc.FormatPath(s.name))
		case byPick:
			text.WriteString("[" + s.name + "=" + s.value + "]")
		case byFirst, byIndex:
			text.WriteString("[" + strconv.Itoa(s.index) + "]")
		}
	}
	return text.String()
}

func names(list ...string) []step {
	steps := make([]step, 0, len(list))
	for _, name := range list {
		steps = append(steps, step{name: name})
	}
	return steps
}

func join(base []step, more ...step) []step { return slices.Concat(base, more) }

// overlap reports whether one path is the other, or leads to a part of it.
func overlap(a, b []step) bool {
	n := min(len(a), len(b))
	return slices.Equal(a[:n], b[:n])
}

// find returns the value at a path, or nil if there is none.
func (r *run) find(n *jsondoc.Node, path []step) *jsondoc.Node {
	for i := range path {
		if n = r.part(n, &path[i]); n == nil {
			return nil
		}
	}
	return n
}

func (r *run) part(n *jsondoc.Node, s *step) *jsondoc.Node {
	if s.kind == byName {
		return r.member(n, s.name)
	}
	if n.Kind() != jsondoc.Array {
		return nil
	}
	if s.kind != byPick {
		e, err := n.Element(s.index) // 0 of the first
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

// picked reports whether an element is the one of a pick.
func (r *run) picked(e *jsondoc.Node, s *step) bool {
	text, ok := scalarText(r.member(e, s.name))
	return ok && text == s.value
}

// scalarText returns the text that a key field is known by: a string's own, else that of a number or a boolean.
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

// An entry is a member of an object, or an element of a list, which has no name.
type entry struct {
	name  string
	value *jsondoc.Node
}

// entries lists the members or elements of n.
func (r *run) entries(n *jsondoc.Node) []entry {
	var list []entry
	r.note(n.Each(func(name string, value *jsondoc.Node) bool {
		list = append(list, entry{name, value})
		return true
	}))
	return list
}

func (r *run) isEmpty(n *jsondoc.Node) bool {
	nothing := n.Kind() == jsondoc.Map || n.Kind() == jsondoc.Array
	r.note(n.Each(func(string, *jsondoc.Node) bool {
		nothing = false
		return false
	}))
	return nothing
}
