package generate

import (
	"math/rand/v2"
	"slices"

	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// A Change sets or removes a member of an object. The path consists of names of members and indexes
// of elements. If it leads nowhere, nothing changes.
type Change struct {
	Path   []any
	Value  any
	Remove bool
}

// String describes the change.
func (c Change) String() string {
	if c.Remove {
		return "no " + tree.FormatPath(c.Path)
	}
	return tree.FormatPath(c.Path) + " = " + string(tree.Encode(c.Value))
}

// Apply does the change where there is a place for it.
func (c Change) Apply(object any) {
	last := len(c.Path) - 1
	name, _ := c.Path[last].(string)
	if fields, ok := tree.At(object, c.Path[:last]...).(map[string]any); ok {
		if delete(fields, name); !c.Remove {
			fields[name] = tree.Copy(c.Value)
		}
	}
}

// Put sets a member of an object that is there.
func Put(object any, path []any, value any) { Change{Path: path, Value: value}.Apply(object) }

// CopyPart makes one change to an object: one of its places gets what another object has there.
func CopyPart(r *rand.Rand, into, from map[string]any) (Change, bool) {
	all := editablePaths(into, from, nil, nil)
	if len(all) == 0 {
		return Change{}, false
	}
	change := Change{Path: all[r.IntN(len(all))]}
	value, was := tree.At(from, change.Path...), tree.At(into, change.Path...)
	old, _ := was.([]any)
	if list, isList := value.([]any); isList && len(old) > 0 && r.IntN(2) == 0 {
		value = editedList(r, old, list)
	}
	if change.Remove = tree.IsAbsent(value); !change.Remove {
		change.Value = tree.Copy(value)
	}
	change.Apply(into)
	return change, true
}

// editedList edits a list as people do: an element of another list in place of one, one more, one
// less, two swapped.
func editedList(r *rand.Rand, old, other []any) []any {
	list := slices.Clone(old)
	i := r.IntN(len(list))
	switch n := r.IntN(4); {
	case n == 0:
		return slices.Delete(list, i, i+1)
	case n == 1 || len(other) == 0:
		j := r.IntN(len(list))
		list[i], list[j] = list[j], list[i]
	case n == 2:
		list = slices.Insert(list, i, other[r.IntN(len(other))])
	default:
		list[i] = other[r.IntN(len(other))]
	}
	return list
}

// editablePaths lists the paths of the members that one of two objects has, in the objects and
// elements that both have.
func editablePaths(a, b any, path []any, all [][]any) [][]any {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			for _, name := range tree.Names(a, b) {
				below := append(slices.Clip(path), name)
				if canEdit(below) {
					all = append(all, below)
				}
				all = editablePaths(a[name], b[name], below, all)
			}
		}
	case []any:
		b, _ := b.([]any)
		for i := range min(len(a), len(b)) {
			all = editablePaths(a[i], b[i], append(slices.Clip(path), i), all)
		}
	}
	return all
}

// canEdit reports whether a user may edit the member of an object that a path leads to. Of metadata
// these are labels and annotations that keep nothing.
func canEdit(path []any) bool {
	switch path[0] {
	case "apiVersion", "kind":
		return false
	case "metadata":
		name, _ := path[len(path)-1].(string)
		return len(path) == 3 && (path[1] == "labels" || path[1] == "annotations") && !tree.IsKept(name, "")
	}
	return true
}
