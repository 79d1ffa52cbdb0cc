package upstream_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
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

func TestUnlike(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		upstream, ours any
		want           []string
	}{
		"the same":              {map[string]any{"a": []any{int64(1)}}, map[string]any{"a": []any{int64(1)}}, nil},
		"another value":         {map[string]any{"a": "x", "b": "y"}, map[string]any{"a": "z", "b": "y"}, []string{".a"}},
		"another type":          {map[string]any{"a": "x"}, map[string]any{"a": map[string]any{"b": "x"}}, []string{".a"}},
		"only upstream":         {map[string]any{"a": map[string]any{"b": "x", "c/d": "x"}}, nil, []string{".a.b", `.a["c/d"]`}},
		"only ours":             {nil, map[string]any{"a": "x"}, []string{".a"}},
		"fewer elements":        {[]any{"x"}, []any{"x", "y", "z"}, []string{"[]"}},
		"an empty element more": {[]any{"x"}, []any{"x", nil}, []string{"[]"}},
		"a canonical quantity":  {"500m", "0.5", nil},
		"a number as quantity":  {"500m", 0.5, nil},
		"a quantity of zero":    {"0", nil, nil},
		"another version":       {"1.1", "1.10", []string{""}},
		"ours is canonical":     {"0.5", "500m", []string{""}},
		"a canonical time":      {"2026-01-01T00:00:00Z", "2026-01-01T01:00:00.000+01:00", nil},
		"another time":          {"2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, unlike("", tt.upstream, tt.ours)); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDropHollow(t *testing.T) {
	t.Parallel()
	got := map[string]any{
		"hollow": map[string]any{"deep": map[string]any{"text": ""}}, "text": "",
		"list": []any{map[string]any{"hollow": map[string]any{}, "flag": false}},
		"kept": map[string]any{"zero": int64(0), "one": int64(1), "hollow": map[string]any{}},
	}
	dropHollow(got, nil)
	want := map[string]any{
		"text": "", "list": []any{map[string]any{"flag": false}}, "kept": map[string]any{"zero": int64(0), "one": int64(1)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without hollow objects (-want +got):\n%s", diff)
	}
}

func TestByKey(t *testing.T) {
	t.Parallel()
	list := func() []any {
		return []any{map[string]any{"name": "b", "x": "1"}, map[string]any{"name": "a"}, map[string]any{"name": "a", "x": "2"}}
	}
	got := byKey("", map[string]any{"keyed": list(), "other": list()}, map[string]string{".keyed": "name"})
	want := map[string]any{"keyed": map[string]any{
		"[name=a]": map[string]any{"name": "a"}, "[name=a, 2]": map[string]any{"name": "a", "x": "2"}, "[name=b]": map[string]any{"name": "b", "x": "1"},
	}, "other": list()}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("by key (-want +got):\n%s", diff)
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	got := clean(map[string]any{
		"text": "", "version": "0.0.0", "number": int64(0), "float": float64(0), "flag": false, "null": nil, "list": []any{},
		"object": map[string]any{"deep": map[string]any{"text": ""}},
		"kept":   []any{"", map[string]any{"text": ""}, "x"}, "one": int64(1), "yes": true,
	}, []string{"0.0.0"})
	want := map[string]any{"kept": []any{nil, nil, "x"}, "one": int64(1), "yes": true}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Errorf("cleaned (-want +got):\n%s", diff)
	}
}
