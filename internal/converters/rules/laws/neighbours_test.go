package laws_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// An edit of one element of a list at the other version changes at most one element of each list:
// what was kept of its neighbours stays. That is L16.
func TestExamplesKeepNeighbours(t *testing.T) {
	t.Parallel()
	editExamples(t, holdNeighbours)
}

func holdNeighbours(t *testing.T, e *example) (edits int) {
	t.Helper()
	s := e.suite(t)
	for _, version := range s.Kind.Versions {
		generator, err := generate.NewGenerator(e.crd.Version(version), s.Hints[version])
		if err != nil {
			t.Fatal(err)
		}
		for index := range *exampleObjects/2 + 1 {
			object := generator.Object(*lawsSeed, index)
			for _, to := range s.Kind.Versions {
				if object == nil || to == version {
					continue
				}
				var x map[string]any
				if err := utiljson.Unmarshal(object, &x); err != nil {
					t.Fatal(err)
				}
				y := convert(t, s.Kind, object, version, to)
				for _, l := range inElements(e.crd.Version(to), y) {
					value, edited := l.another(t), runtime.DeepCopyJSON(y)
					if put(edited, l.path, value); value == nil || len(e.crd.Version(to).Validate(edited)) > 0 {
						continue
					}
					back := convert(t, s.Kind, encode(t, edited), to, version)
					edits++
					if path, lost := changedElements(x, back, ""); lost > 1 {
						t.Fatalf("%s -> %s: %v = %v changes %d elements of %s: %s\nback %s", version, to, l.path, value, lost, path, object, encode(t, back))
					}
				}
			}
		}
	}
	return edits
}

// inElements returns some leaves that are in an element with neighbours.
func inElements(schema *crdschema.Version, object map[string]any) []leaf {
	var all []leaf
	for _, l := range leavesOf(schema.Root, object) {
		list, ok := l.value.([]any)
		if !ok && slices.ContainsFunc(l.path, func(step any) bool { _, is := step.(int); return is }) {
			all = append(all, l)
		}
		for i := range list {
			e, _ := list[i].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(e)) {
				all = append(all, leaf{slices.Concat(l.path, []any{i, name}), "", e[name], l.node.Items().Property(name)})
			}
		}
	}
	return all[:min(len(all), maxHiddenEdits)]
}

// changedElements returns the first list of which more than one element has gone, and how many.
func changedElements(was, is any, path string) (string, int) {
	switch was := was.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(was)) {
			if path, n := changedElements(was[name], is[name], path+"."+name); n > 1 {
				return path, n
			}
		}
	case []any:
		is, _ := is.([]any)
		left, gone := slices.Clone(is), 0
		for _, e := range was {
			same := func(other any) bool { return fmt.Sprint(e) == fmt.Sprint(other) }
			if i := slices.IndexFunc(left, same); i >= 0 {
				left = slices.Delete(left, i, i+1)
			} else {
				gone++
			}
		}
		return path, gone
	}
	return path, 0
}
