package exec

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// put writes a value to the rest of a path, from its step i on, below n, and makes what is absent on the way. It reports
// false, and changes nothing, where something else is in the way: that is data of the source, which no rule may overwrite.
func (r *run) put(n *jsondoc.Node, path *plan.Route, i int, v jsondoc.Value) bool {
	if i == len(path.Steps) {
		n.Replace(v)
		return true
	}
	s := &path.Steps[i]
	if s.Kind != plan.ByName {
		return r.putElement(n, path, i, v)
	}
	if n.Kind() != jsondoc.Map {
		return false
	}
	if i == len(path.Steps)-1 {
		return r.add(n, path, v)
	}
	m := r.member(n, s.Name)
	if m == nil {
		m = r.makeMember(n, path, i)
	} else if m.Kind() == jsondoc.Null && i < 2 && path.Steps[0].Name == "metadata" {
		r.note(replace(m, "{}")) // the API server takes null for nothing there
	}
	return r.put(m, path, i+1, v)
}

// add is put for the last step of a path, to a member.
func (r *run) add(n *jsondoc.Node, path *plan.Route, v jsondoc.Value) bool {
	r.into = n
	added, err := n.AddMember(path.Last, v)
	r.note(err)
	r.mayLose = r.mayLose || !added
	return added
}

// makeMember makes the object or list that step i of the path leads to.
func (r *run) makeMember(n *jsondoc.Node, path *plan.Route, i int) *jsondoc.Node {
	if len(path.Private) <= i || !path.Private[i] {
		r.mayLose = true
	}
	text := "{}"
	if path.Steps[i+1].Kind != plan.ByName {
		text = "[]"
	}
	empty, err := jsondoc.RawValue([]byte(text))
	r.note(err)
	r.note(n.SetMember(path.Steps[i].Name, empty))
	return r.member(n, path.Steps[i].Name)
}

// putElement is put for a step to an element, which it makes.
func (r *run) putElement(n *jsondoc.Node, path *plan.Route, i int, v jsondoc.Value) bool {
	s := &path.Steps[i]
	if n.Kind() != jsondoc.Array {
		return false
	}
	e := r.part(n, s)
	whole := i == len(path.Steps)-1
	if e != nil && (!whole || s.Kind != plan.ByFirst) {
		r.mayLose = true
		return !whole && r.put(e, path, i+1, v)
	}
	list := r.entries(n)
	text := []byte("{}")
	switch {
	case whole && s.Kind == plan.ByPick:
		if text = r.keyed(v, path, i); text == nil {
			return false
		}
	case whole:
		text = v.Text()
	case s.Kind == plan.ByPick:
		text = append(append([]byte("{"), jsondoc.StringValue(s.Name).Text()...), ':')
		text = append(append(text, r.keyText(path, i)...), '}')
	case path.Steps[i+1].Kind != plan.ByName:
		text = []byte("[]")
	}
	texts := make([][]byte, 0, len(list)+1)
	if s.Kind == plan.ByFirst {
		texts = append(texts, text)
		r.mayLose = r.mayLose || len(list) > 0
	}
	for _, e := range list {
		texts = append(texts, e.value.Text())
	}
	if s.Kind != plan.ByFirst {
		texts = append(texts, text)
	}
	r.note(replaceElements(n, texts))
	return whole || r.put(r.part(n, s), path, i+1, v)
}

// keyed returns a value as the element that step i of the path picks: with its key. It returns nil for a value that cannot be it.
func (r *run) keyed(v jsondoc.Value, path *plan.Route, i int) []byte {
	holder, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), v.Text(), []byte("}")))
	r.note(err)
	if err != nil {
		return nil
	}
	s := &path.Steps[i]
	e := r.member(holder.Node, "")
	switch {
	case e.Kind() != jsondoc.Map:
		return nil
	case r.member(e, s.Name) == nil:
		key, err := jsondoc.RawValue(r.keyText(path, i))
		r.note(err)
		r.note(e.SetMember(s.Name, key))
	case !r.picked(e, s):
		return nil
	}
	return e.Text()
}

// keyText returns the key of a new element as the schema has it: a string, or a number.
func (r *run) keyText(path *plan.Route, i int) []byte {
	s := &path.Steps[i]
	if path.Numbers[i] {
		return []byte(s.Value)
	}
	return jsondoc.StringValue(s.Value).Text()
}

// replaceElements makes n the list of the texts.
func replaceElements(n *jsondoc.Node, texts [][]byte) error {
	return replace(n, string(arrayOf(texts)))
}

// arrayOf returns the text of a list.
func arrayOf(texts [][]byte) []byte {
	array := append(make([]byte, 0, 2+len(texts)), '[')
	array = append(array, bytes.Join(texts, []byte{','})...)
	return append(array, ']')
}
