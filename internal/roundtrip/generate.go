package roundtrip

import (
	"iter"
	"slices"
)

// Samples yields the objects as they are.
func Samples(objects ...[]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, object := range objects {
			if !yield(object) {
				return
			}
		}
	}
}

// Fragments yields each object without each of its parts, and with null in the place of each, at any depth; apiVersion and
// kind stay. Server-side apply sends such objects (kubernetes#117356).
func Fragments(objects ...[]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for _, object := range objects {
			for fragment := range without(object) {
				if !yield(fragment) {
					return
				}
			}
			for fragment := range edits(object, func(p part) { p.set(nil) }) {
				if !yield(fragment) {
					return
				}
			}
		}
	}
}

// without yields object without each of its parts.
func without(object []byte) iter.Seq[[]byte] { return edits(object, func(p part) { p.remove() }) }

// edits yields object once for each of its parts, with edit done to that.
func edits(object []byte, edit func(part)) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		count := len(parts(decode(object)))
		for i := range count {
			fresh := decode(object)
			edit(parts(fresh)[i])
			if !yield(encode(fresh)) {
				return
			}
		}
	}
}

// A part is a member of an object or an element of a list, which can be changed where it stands.
type part struct {
	value  any
	meta   bool // is metadata or in it
	set    func(v any)
	remove func()
}

// parts lists the parts of an object, outer ones first, in the order of their names. What identifies the object is none.
func parts(object any) []part {
	var all []part
	var walk func(v any, meta bool, store func(v any))
	walk = func(v any, meta bool, store func(v any)) {
		switch v := v.(type) {
		case map[string]any:
			for _, name := range names(v) {
				top := store == nil
				if top && (name == "apiVersion" || name == "kind") {
					continue
				}
				set := func(item any) { v[name] = item }
				all = append(all, part{v[name], meta || top && name == "metadata", set, func() { delete(v, name) }})
				walk(v[name], all[len(all)-1].meta, set)
			}
		case []any:
			for i := range v {
				set := func(item any) { v[i] = item }
				all = append(all, part{v[i], meta, set, func() { store(slices.Concat(v[:i], v[i+1:])) }})
				walk(v[i], meta, set)
			}
		}
	}
	walk(object, false, nil)
	return all
}
