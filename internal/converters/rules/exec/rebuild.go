package exec

import (
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// rebuild makes a list of a map, in the order of its keys, or a map of a list, in the order of its elements.
func (r *run) rebuild(e *plan.Elements, n *jsondoc.Node) {
	if e.From == plan.Dict {
		r.toList(e, n)
	} else {
		r.toMap(e, n)
	}
}

func (r *run) toList(e *plan.Elements, n *jsondoc.Node) {
	all := r.entries(n)
	slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	texts := make([][]byte, 0, len(all))
	for _, m := range all {
		if !r.program(e.Program, m.value) || m.value.Kind() != jsondoc.Map {
			r.mayLose = true
			continue
		}
		text := append([]byte{'{'}, jsondoc.StringValue(e.Name).Text()...)
		text = append(append(text, ':'), jsondoc.StringValue(m.name).Text()...)
		if !r.isEmpty(m.value) {
			text = append(text, ',')
		}
		texts = append(texts, append(text, m.value.Text()[1:]...))
	}
	r.note(replaceElements(n, texts))
}

func (r *run) toMap(e *plan.Elements, n *jsondoc.Node) {
	text := []byte{'{'}
	last, seen := "", map[string]bool{}
	for _, m := range r.entries(n) {
		key, ok := r.member(m.value, e.Bind).Str()
		if !ok || seen[key] || !r.program(e.Program, m.value) {
			r.mayLose = true
			continue
		}
		r.mayLose = r.mayLose || key < last // the order gets lost
		last, seen[key] = key, true
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(text, jsondoc.StringValue(key).Text()...), ':')
		text = append(text, m.value.Text()...)
	}
	r.note(replace(n, string(append(text, '}'))))
}
