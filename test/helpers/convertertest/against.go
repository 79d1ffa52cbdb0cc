package convertertest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// IsAbout reports whether a finding of `check --against` is about a place of a version, about what
// contains it, or about a part of it.
func IsAbout(message, version, path string) bool {
	step := regexp.MustCompile(`\.[^.\[{]*|\[[^\]]*\]|\{[^}]*\}`)
	places, _, found := strings.Cut(message, " of "+version+": ")
	return found && slices.ContainsFunc(strings.Split(places, ", "), func(place string) bool {
		steps, said := step.FindAllString(path, -1), step.FindAllString(place, -1)
		for i := range min(len(steps), len(said)) {
			if steps[i] != said[i] && said[i][0] != '{' && (said[i][0] != '[' || steps[i][0] != '[') {
				return false
			}
		}
		return true
	})
}

// ChangedPaths returns the paths at which two decoded values differ, each after path.
func ChangedPaths(path string, a, b any) (paths []string) {
	x, isObject := a.(map[string]any)
	y, isToo := b.(map[string]any)
	if isObject && isToo {
		all := maps.Clone(x)
		maps.Copy(all, y)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			member := path + "." + strings.NewReplacer(".", "_", "[", "_", "{", "_").Replace(name)
			paths = append(paths, ChangedPaths(member, x[name], y[name])...)
		}
		return paths
	}
	list, isList := a.([]any)
	other, isToo := b.([]any)
	if isList && isToo && len(list) == len(other) {
		for i := range list {
			paths = append(paths, ChangedPaths(fmt.Sprintf("%s[%d]", path, i), list[i], other[i])...)
		}
		return paths
	}
	if cmp.Equal(a, b) {
		return nil
	}
	return []string{path}
}
