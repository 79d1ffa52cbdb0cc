package offline

import (
	"encoding/json"
	"testing"

	"github.com/crdconvert/webhookd/internal/converters/rules/syntax"
)

func TestPlaces(t *testing.T) {
	t.Parallel()
	const object = `{"spec":{"note":null,"maps":{"a":{"x":1},"b":{"y":2}},"list":[{"name":"a","x":1},{"name":"b"},{"x":2}]}}`
	for path, want := range map[string]int{
		".spec":              1,
		".spec.note":         1,
		".spec.missing":      0,
		".spec.note.below":   0,
		".spec.maps{}":       2,
		".spec.maps{}.x":     1,
		".spec.maps{key}.y":  1,
		".spec.list[]":       3,
		".spec.list[].x":     2,
		".spec.list[name].x": 2,
		".spec.list[name=a]": 1,
		".spec.list[name=c]": 0,
		".spec.list[0].x":    1,
		".spec.maps[].x":     0,
		".spec.list{}":       0,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			var value any
			if err := json.Unmarshal([]byte(object), &value); err != nil {
				t.Fatal(err)
			}
			parsed, err := syntax.ParsePath(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := places(value, parsed.Segments); got != want {
				t.Errorf("places: %d, want %d", got, want)
			}
		})
	}
}
