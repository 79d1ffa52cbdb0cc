package rules

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// put writes a value to the rest of a path, from its step i on, below n, and makes what is absent on the way. It reports
// false, and changes nothing, where something else is in the way: that is data of the source, which no rule may overwrite.
func (r *run) put(n *jsondoc.Node, path *route, i int, v jsondoc.Value) bool {
	if i == len(path.steps) {
		n.Replace(v)
		return true
	}
	s := &path.steps[i]
	if s.kind != byName {
		return r.putElement(n, path, i, v)
	}
	if n.Kind() != jsondoc.Map {
		return false
	}
	if i == len(path.steps)-1 {
		return r.add(n, path, v)
	}
	m := r.member(n, s.name)
	if m == nil {
		m = r.makeMember(n, path, i)
	} else if m.Kind() == jsondoc.Null && i < 2 && path.steps[0].name == "metadata" {
		r.note(replace(m, "{}")) // the API server takes null for nothing there
	}
	return r.put(m, path, i+1, v)
}

// add is put for the last step of a path, to a member.
func (r *run) add(n *jsondoc.Node, path *route, v jsondoc.Value) bool {
	r.into = n
	added, err := n.AddMember(path.last, v)
	r.note(err)
	r.doubt = r.doubt || !added
	return added
}

// makeMember makes the object or list that step i of the path leads to.
func (r *run) makeMember(n *jsondoc.Node, path *route, i int) *jsondoc.Node {
	if len(path.private) <= i || !path.private[i] {
		r.doubt = true
	}
	text := "{}"
	if path.steps[i+1].kind != byName {
		text = "[]"
	}
	empty, err := jsondoc.RawValue([]byte(text))
	r.note(err)
	r.note(n.SetMember(path.steps[i].name, empty))
	return r.member(n, path.steps[i].name)
}

// putElement is put for a step to an element, which it makes.
func (r *run) putElement(n *jsondoc.Node, path *route, i int, v jsondoc.Value) bool {
	s := &path.steps[i]
	if n.Kind() != jsondoc.Array {
		return false
	}
	e := r.part(n, s)
	whole := i == len(path.steps)-1
	if e != nil && (!whole || s.kind != byFirst) {
		r.doubt = true
		return !whole && r.put(e, path, i+1, v)
	}
	list := r.entries(n)
	text := []byte("{}")
	switch {
	case whole && s.kind == byPick:
		if text = r.keyed(v, path, i); text == nil {
			return false
		}
	case whole:
		text = v.Text()
	case s.kind == byPick:
		text = append(append([]byte("{"), jsondoc.StringValue(s.name).Text()...), ':')
		text = append(append(text, r.keyText(path, i)...), '}')
	case path.steps[i+1].kind != byName:
		text = []byte("[]")
	}
	texts := make([][]byte, 0, len(list)+1)
	if s.kind == byFirst {
		texts = append(texts, text)
		r.doubt = r.doubt || len(list) > 0
	}
	for _, e := range list {
		texts = append(texts, e.value.Text())
	}
	if s.kind != byFirst {
		texts = append(texts, text)
	}
	r.note(replaceElements(n, texts))
	return whole || r.put(r.part(n, s), path, i+1, v)
}

// keyed returns a value as the element that step i of the path picks: with its key. It returns nil for a value that cannot be it.
func (r *run) keyed(v jsondoc.Value, path *route, i int) []byte {
	holder, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), v.Text(), []byte("}")))
	r.note(err)
	if err != nil {
		return nil
	}
	s := &path.steps[i]
	e := r.member(holder.Node, "")
	switch {
	case e.Kind() != jsondoc.Map:
		return nil
	case r.member(e, s.name) == nil:
		key, err := jsondoc.RawValue(r.keyText(path, i))
		r.note(err)
		r.note(e.SetMember(s.name, key))
	case !r.picked(e, s):
		return nil
	}
	return e.Text()
}

// keyText returns the key of a new element as the schema has it: a string, or a number.
func (r *run) keyText(path *route, i int) []byte {
	s := &path.steps[i]
	if path.numbers[i] {
		return []byte(s.value)
	}
	return jsondoc.StringValue(s.value).Text()
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
