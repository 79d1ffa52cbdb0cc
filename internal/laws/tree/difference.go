package tree

import (
	"fmt"
	"slices"

	"github.com/crdconvert/webhookd/internal/document/jsondoc"
)

// A Gap is the first place at which two values differ, with what was there and is. Its path is ""
// if there is none.
type Gap struct {
	Path    string
	Was, Is any
}

// NewGap returns the gap at a path, which is "." for the whole value.
func NewGap(path string, was, is any) Gap {
	if path == "" {
		path = "."
	}
	return Gap{path, was, is}
}

// Difference returns the first place at which two values differ.
func Difference(was, is any, path string) Gap {
	l, isList := was.([]any)
	m, areLists := is.([]any)
	if !isList || !areLists || len(l) != len(m) {
		return memberwise(was, is, path, Difference)
	}
	for i := range l {
		if diff := Difference(l[i], m[i], fmt.Sprintf("%s[%d]", path, i)); diff.Path != "" {
			return diff
		}
	}
	return Gap{}
}

// Lost returns the first place of an object that is not what it was. A new member is not a loss.
func Lost(was, is any, path string) Gap {
	return memberwise(was, is, path, func(was, is any, path string) Gap {
		if IsAbsent(was) {
			return Gap{}
		}
		return Lost(was, is, path)
	})
}

// memberwise compares the members of objects by a function, and other values as a whole.
func memberwise(was, is any, path string, by func(was, is any, path string) Gap) Gap {
	x, okX := was.(map[string]any)
	y, okY := is.(map[string]any)
	switch {
	case Equal(was, is):
		return Gap{}
	case !okX || !okY:
		return NewGap(path, was, is)
	}
	for _, name := range Names(x, y) {
		if diff := by(At(x, name), At(y, name), path+jsondoc.FormatPath(name)); diff.Path != "" {
			return diff
		}
	}
	return Gap{}
}

// Added lists the paths of what an object has and another one has not, the outermost ones.
func Added(was, is any, path []any, all [][]any) [][]any {
	switch is := is.(type) {
	case map[string]any:
		old, ok := was.(map[string]any)
		if !ok {
			return all
		}
		for _, name := range Names(is) {
			below := append(slices.Clip(path), name)
			if _, found := old[name]; !found {
				all = append(all, below)
			} else {
				all = Added(old[name], is[name], below, all)
			}
		}
	case []any:
		old, _ := was.([]any)
		for i := range min(len(old), len(is)) {
			all = Added(old[i], is[i], append(slices.Clip(path), i), all)
		}
	}
	return all
}
