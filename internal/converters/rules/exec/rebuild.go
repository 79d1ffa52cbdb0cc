package exec

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/keep"
	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// toList turns a map into a list, in the order of its keys.
func (r *run) toList(e *plan.Elements, n *jsondoc.Node) {
	all := r.entries(n)
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	list := r.trace.Add(e.Of, len(all))
	text := append(make([]byte, 0, 2*len(n.Text())), '[')
	for _, m := range all {
		if r.stopped() {
			return
		}
		switch is := r.traced(list, keep.Source{Name: m.name}, e.Program, m.value, false); {
		case is && m.value.Kind() != jsondoc.Map:
			list.Drop()
			fallthrough
		case !is:
			r.mayLose = true
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = jsondoc.AppendString(appendName(append(text, '{'), e.Key), m.name)
		if !r.isEmpty(m.value) {
			text = append(text, ',')
		}
		text = append(text, m.value.Text()[1:]...)
	}
	r.replace(n, append(text, ']'))
}

// toMap turns a list into a map.
func (r *run) toMap(e *plan.Elements, n *jsondoc.Node) {
	all := r.entries(n)
	text := append(make([]byte, 0, len(n.Text())), '{')
	last, seen, list := "", make(map[string]bool, len(all)), r.trace.Add(e.Of, len(all))
	for i, m := range all {
		if r.stopped() {
			return
		}
		key, ok := r.member(m.value, e.Key).Str()
		if !ok || seen[key] || !r.traced(list, keep.Source{Index: i, Name: key}, e.Program, m.value, false) {
			r.mayLose = true
			continue
		}
		r.mayLose = r.mayLose || key < last // the map does not keep the order
		last, seen[key] = key, true
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(appendName(text, key), m.value.Text()...)
	}
	r.replace(n, append(text, '}'))
}

// appendName appends the name of a member with its colon.
func appendName(dst []byte, name string) []byte {
	return append(jsondoc.AppendString(dst, name), ':')
}

// An entry is a member of an object, or an element of a list without a name.
type entry struct {
	name  string
	value *jsondoc.Node
}

func (r *run) entries(n *jsondoc.Node) []entry {
	all := make([]entry, 0, n.Len())
	r.note(n.Each(func(name string, value *jsondoc.Node) bool {
		all = append(all, entry{name, value})
		return true
	}))
	return all
}
