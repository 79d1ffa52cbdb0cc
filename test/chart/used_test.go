package chart_test

import (
	"strings"
	"testing"

	"github.com/crdconvert/webhookd/test/chart"
)

// For each value a ci file sets it, and the rendering changes without it: every value has an effect
// and is tested.
func TestEveryValueHasAnEffect(t *testing.T) {
	t.Parallel()
	documented, err := chart.Documented()
	if err != nil {
		t.Fatal(err)
	}
	files := ciFiles(t)
	for _, v := range documented {
		t.Run(v.Name(), func(t *testing.T) {
			t.Parallel()
			for _, file := range files {
				if _, set := chart.Get(file, v.Path); set && matters(t, file, v.Path) {
					return
				}
			}
			t.Error("no ci file where it has an effect")
		})
	}
}

// matters reports whether the rendering differs without a value.
func matters(t *testing.T, file map[string]any, path []string) bool {
	t.Helper()
	without, err := chart.Render(remove(file, path), nil)
	if err != nil {
		return strings.Contains(err.Error(), "these values cannot work")
	}
	with := render(t, file, nil)
	if path[0] == "tls" && path[1] == "helm" {
		return lifetimes(t, with) != lifetimes(t, without)
	}
	return steady(with.String()) != steady(without.String())
}

// remove returns a copy without the value at the path.
func remove(mapping map[string]any, path []string) map[string]any {
	out := make(map[string]any, len(mapping))
	for key, value := range mapping {
		if key != path[0] {
			out[key] = value
			continue
		}
		if below, is := value.(map[string]any); is && len(path) > 1 {
			out[key] = remove(below, path[1:])
		}
	}
	return out
}
