package upstream_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
)

// unlike returns the paths of the leaves where two clean values differ, each once. An element of a
// list is [].
func unlike(path string, upstream, ours any) []string {
	found := map[string]bool{}
	collect(path, upstream, ours, found)
	return slices.Sorted(maps.Keys(found))
}

func collect(path string, upstream, ours any, found map[string]bool) {
	theirMembers, object := upstream.(map[string]any)
	ourMembers, ourObject := ours.(map[string]any)
	theirElements, list := upstream.([]any)
	ourElements, ourList := ours.([]any)
	switch {
	case (object || upstream == nil) && (ourObject || ours == nil) && (object || ourObject):
		names := maps.Clone(theirMembers)
		if names == nil {
			names = map[string]any{}
		}
		maps.Copy(names, ourMembers)
		for name := range names {
			collect(path+segment(name), theirMembers[name], ourMembers[name], found)
		}
	case (list || upstream == nil) && (ourList || ours == nil) && (list || ourList):
		for i := range max(len(theirElements), len(ourElements)) {
			collect(path+"[]", element(theirElements, i), element(ourElements, i), found)
		}
		if len(theirElements) != len(ourElements) {
			found[path+"[]"] = true
		}
	case !cmp.Equal(upstream, ours) && !respelt(upstream, ours):
		found[path] = true
	}
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func segment(name string) string {
	switch {
	case plainName.MatchString(name):
		return "." + name
	case strings.HasPrefix(name, "["): // from byKey
		return name
	}
	return fmt.Sprintf("[%q]", name)
}

// respelt reports whether upstream's value is ours as Go's types for quantities and times write it.
func respelt(upstream, ours any) bool {
	canonical, ok := upstream.(string)
	if !ok {
		return false
	}
	if ours == nil { // the zero that clean has removed
		return canonical == "0"
	}
	text := fmt.Sprint(ours)
	if number, ok := ours.(float64); ok {
		text = strconv.FormatFloat(number, 'f', -1, 64)
	}
	if quantity, err := resource.ParseQuantity(text); err == nil && quantity.String() == canonical {
		return true
	}
	at, err := time.Parse(time.RFC3339, text)
	return err == nil && at.UTC().Format(time.RFC3339) == canonical
}

// covers reports whether the difference is about a path, or one above it.
func (d *difference) covers(p pair, path string) bool {
	rest, ok := strings.CutPrefix(path, d.Path)
	return ok && d.From == p.From && d.To == p.To && (rest == "" || rest[0] == '.' || rest[0] == '[')
}
