package roundtrip

import (
	"context"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Generation is what a kind and its CRD grow to: with more rules, with new fields in a
// version, with another hub. What was valid before is valid there.
type Generation struct {
	Kind *converters.Kind
	CRD  *crdschema.CRD
}

// grown is L11 for an object that is stored at a version: what was kept comes back under the rules
// of the next generation.
func (s *suite) grown(ctx context.Context, object []byte, storage string) *ViolationError {
	if s.next == nil {
		return nil
	}
	return s.replay(ctx, &Walk{object, storage, []Step{{Grow: true}}})
}

// A Gain is a field of a version that the API server knows, and that the converter's copy of the
// CRD has in no version. The path is made of names: .spec.owner.
type Gain struct{ Version, Path string }

// isGain reports whether a path of a version is that of a gain, or below it.
func (s *suite) isGain(version, path string) bool {
	for _, g := range s.Gained {
		if rest, ok := strings.CutPrefix(path, g.Path); ok && g.Version == version && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			return true
		}
	}
	return false
}

// of returns the value of a gain, and whether an object has a place for it.
func (g Gain) of(object map[string]any) (value any, placed bool) {
	path, err := parsePath(g.Path)
	if err != nil {
		return nil, false
	}
	home := any(object)
	for _, s := range path[:len(path)-1] {
		home = at(home, s.Name)
	}
	return at(home, path[len(path)-1].Name), isMap(home)
}
