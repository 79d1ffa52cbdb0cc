package roundtrip

import (
	"context"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
)

// A Generation is what a kind and its CRD grow to: with more rules, with fields that a version has got since, with another hub.
// What was valid before is valid there.
type Generation struct {
	Kind *converters.Kind
	CRD  *crdschema.CRD
	// Beside says that replicas of the first generation are still there, next to those of the next one.
	Beside bool
}

// grown holds an object of the next generation to L11.
func (s *suite) grown(ctx context.Context, version string, index uint64) *ViolationError {
	if s.next == nil {
		return nil
	}
	object := s.next.generators[version].Object(s.Seed, index)
	if object == nil {
		return nil
	}
	t, v := s.subject(ctx, object)
	for _, to := range s.others(version) {
		if v == nil {
			v = t.growth(to)
		}
	}
	return v
}

// growth is L11: what was kept comes back under the rules of the next generation, and a replica with old rules that writes the
// object in between loses nothing.
func (t *subject) growth(to string) *ViolationError {
	if t.next == nil || t.keeps {
		return nil
	}
	object := t.next.view(t.version, t.object)
	if len(t.next.schema(t.version).Validate(object)) > 0 {
		return nil
	}
	if t.class == whole {
		if v := t.byGenerations(object, to, t.suite, t.next); v != nil {
			return v
		}
	}
	if !t.Next.Beside {
		return nil
	}
	return t.byGenerations(object, to, t.next, t.suite, t.next, t.next)
}

// byGenerations converts an object there and back, by each generation in turn. The API server has the CRD of the newest one
// that was there.
func (t *subject) byGenerations(object map[string]any, to string, generations ...*suite) *ViolationError {
	from, other := t.version, to
	state, server := copied(object), t.suite
	steps := make([]string, 0, len(generations))
	for _, by := range generations {
		if by == t.next {
			server = t.next
		}
		server.admit(from, state)
		text, err := by.convert(t.ctx, encode(state), from, other)
		if err != nil {
			return t.violation(lawGrowth, to, "%v, %s", err, strings.Join(steps, ", "))
		}
		steps = append(steps, "by the "+map[bool]string{true: "next", false: "first"}[by == t.next]+" "+string(text))
		state = server.read(text)
		server.schema(other).Prune(state)
		from, other = other, from
	}
	t.next.admit(t.version, state)
	if diff := lost(t.undropped(visible(copied(object)), t.version, to), visible(state), ""); diff.path != "" {
		return t.violation(lawGrowth, to, "%s", strings.Join(steps, ", ")).differs(t.version, diff)
	}
	return nil
}

// A Gain is a field of a version that the API server knows, and that the converter's copy of the CRD has in no version. The path
// is made of names: .spec.owner.
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
