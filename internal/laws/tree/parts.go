package tree

import (
	"iter"
	"slices"
)

// A Part is a member of an object or an element of a list, which can be changed in place. Undo
// takes back a change.
type Part struct {
	Path         []any
	Value        any
	Set          func(v any)
	Remove, Undo func()
}

// Parts lists the parts of an object except its apiVersion and kind: outer ones first, in the order
// of their names.
func Parts(object any) []Part {
	var all []Part
	var walk func(v any, path []any, store func(v any))
	add := func(p Part) {
		all = append(all, p)
		walk(p.Value, p.Path, p.Set)
	}
	walk = func(v any, path []any, store func(v any)) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range Names(v) {
				if store != nil || name != "apiVersion" && name != "kind" {
					value := v[name]
					set := func(item any) { v[name] = item }
					add(Part{append(slices.Clip(path), name), value, set, func() { delete(v, name) }, func() { v[name] = value }})
				}
			}
		case []any:
			for i, value := range v {
				set := func(item any) { v[i] = item }
				remove := func() { store(slices.Delete(slices.Clone(v), i, i+1)) } // never nil, as Concat may be
				add(Part{append(slices.Clip(path), i), value, set, remove, func() { v[i] = value; store(v) }})
			}
		}
	}
	walk(object, nil, nil)
	return all
}

// IsMeta reports whether a part is the metadata of the object or in it.
func (p Part) IsMeta() bool { return p.Path[0] == "metadata" }

// DropNulls removes the nulls of an object, which the API server does, too, unless the schema
// allows them.
func DropNulls(object any) {
	for _, p := range Parts(object) {
		if p.Value == nil {
			if _, inList := p.Path[len(p.Path)-1].(int); !inList {
				p.Remove()
			}
		}
	}
}

// EachPart yields a value with an edit of each of its parts. The value is changed while it is
// yielded, and only then.
func EachPart(root any, edit func(Part)) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, p := range Parts(root) {
			edit(p)
			ok := yield(root)
			if p.Undo(); !ok {
				return
			}
		}
	}
}
