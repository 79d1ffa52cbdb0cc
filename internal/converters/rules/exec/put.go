package exec

import (
	"bytes"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/rules/plan"
	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// put writes a value to the rest of a path, from its step i on, below n, and creates what is absent
// on the way. It changes nothing and returns false if something else is in the way: no rule may
// overwrite data of the source.
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
		r.replace(m, []byte("{}")) // the API server treats null there as absent
	}
	return r.put(m, path, i+1, v)
}

// add puts a value at the last step of a path, which is a member.
func (r *run) add(n *jsondoc.Node, path *plan.Route, v jsondoc.Value) bool {
	r.into = n
	added, err := n.AddMember(path.Last, v)
	r.note(err)
	r.mayLose = r.mayLose || !added
	return added
}

// makeMember creates the object or list at step i of the path.
func (r *run) makeMember(n *jsondoc.Node, path *plan.Route, i int) *jsondoc.Node {
	if len(path.Private) <= i || !path.Private[i] {
		r.mayLose = true
	}
	empty, err := jsondoc.RawValue(emptyFor(&path.Steps[i+1]))
	r.note(err)
	r.note(n.SetMember(path.Steps[i].Name, empty))
	return r.member(n, path.Steps[i].Name)
}

// emptyFor returns an empty value in which a step leads to a part.
func emptyFor(s *plan.Step) []byte {
	if s.Kind == plan.ByName {
		return []byte("{}")
	}
	return []byte("[]")
}

// putElement is put for a step to an element, which it creates.
func (r *run) putElement(n *jsondoc.Node, path *plan.Route, i int, v jsondoc.Value) bool {
	s := &path.Steps[i]
	if n.Kind() != jsondoc.Array {
		return false
	}
	e := r.part(n, s)
	whole, first := i == len(path.Steps)-1, s.Kind == plan.ByFirst
	if e != nil && (!whole || !first) {
		r.mayLose = true
		return !whole && r.put(e, path, i+1, v)
	}
	var text []byte
	switch {
	case whole && first:
		text = v.Text()
	case whole:
		if text = r.keyed(v, path, i); text == nil {
			return false
		}
	case first:
		text = emptyFor(&path.Steps[i+1])
	default:
		text = append(append(appendName([]byte{'{'}, s.Name), path.Keys[i]...), '}')
	}
	var texts [][]byte
	r.note(n.Each(func(_ string, e *jsondoc.Node) bool {
		texts = append(texts, e.Text())
		return true
	}))
	if first {
		r.mayLose = r.mayLose || len(texts) > 0
		texts = slices.Insert(texts, 0, text)
	} else {
		texts = append(texts, text)
	}
	r.replaceElements(n, texts)
	return whole || r.put(r.part(n, s), path, i+1, v)
}

// keyed returns a value as the element that step i of the path picks, with its key, or nil if the
// value cannot be that element.
func (r *run) keyed(v jsondoc.Value, path *plan.Route, i int) []byte {
	s := &path.Steps[i]
	e := r.alone(v)
	switch {
	case e.Kind() != jsondoc.Map:
		return nil
	case r.member(e, s.Name) == nil:
		key, err := jsondoc.RawValue(path.Keys[i])
		r.note(err)
		r.note(e.SetMember(s.Name, key))
	case !r.picked(e, s):
		return nil
	}
	return e.Text()
}

// alone returns a value as a node outside of the object, or nil.
func (r *run) alone(v jsondoc.Value) *jsondoc.Node {
	holder, err := jsondoc.ParseObject(slices.Concat([]byte(`{"":`), v.Text(), []byte("}")))
	if r.note(err); err != nil {
		return nil
	}
	return r.member(holder.Node, "")
}

func (r *run) replaceElements(n *jsondoc.Node, texts [][]byte) {
	r.replace(n, slices.Concat([]byte{'['}, bytes.Join(texts, []byte{','}), []byte{']'}))
}

func (r *run) replace(n *jsondoc.Node, text []byte) {
	v, err := jsondoc.RawValue(text)
	if r.note(err); err == nil {
		n.Replace(v)
	}
}
