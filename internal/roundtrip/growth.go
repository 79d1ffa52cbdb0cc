package roundtrip

import (
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/crdschema"
	"github.com/crdconvert/webhookd/internal/jsondoc"
)

// A Generation is what a kind and its CRD grow to: with more rules, with fields that a version has got since, with another hub.
// Nothing that was valid is not valid there.
type Generation struct {
	Kind *converters.Kind
	CRD  *crdschema.CRD
	// Beside says that replicas of the first generation are still there, beside those of the next one.
	Beside bool
}

// growth is L11: what was kept comes back under the rules of the next generation, and what a replica with old rules does to an
// object in between loses nothing.
func (t *subject) growth(to string) *ViolationError {
	next := t.next
	object := next.view(t.version, t.object)
	if t.keeps || len(next.schema(t.version).Validate(object)) > 0 {
		return nil
	}
	if t.class == whole {
		if v := t.byGenerations(object, to, "first", "next"); v != nil {
			return v
		}
	}
	if !t.Next.Beside {
		return nil
	}
	return t.byGenerations(object, to, "next", "first", "next", "next")
}

// byGenerations converts an object there and back, by each generation in turn. The API server has the CRD of the newest one
// that was there.
func (t *subject) byGenerations(object map[string]any, to string, generations ...string) *ViolationError {
	from, other := t.version, to
	state, server := copied(object), t.suite
	steps := make([]string, 0, len(generations))
	for _, generation := range generations {
		by := t.suite
		if generation == "next" {
			by, server = t.next, t.next
		}
		server.admit(from, state)
		text, err := by.convert(t.ctx, encode(state), from, other)
		if err != nil {
			return t.violation(lawGrowth, to, "%v, %s", err, strings.Join(steps, ", "))
		}
		steps = append(steps, "by the "+generation+" "+string(text))
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

// lost returns the first place of an object that is not what it was.
func lost(was, is any, path string) gap {
	x, okX := was.(map[string]any)
	y, okY := is.(map[string]any)
	if !okX || !okY {
		if equal(was, is) {
			return gap{}
		}
		return newGap(path, was, is)
	}
	for _, name := range names(x) {
		if diff := lost(x[name], member(y, name), path+jsondoc.FormatPath(name)); diff.path != "" {
			return diff
		}
	}
	return gap{}
}

// A Gain is a field of a version that the API server knows, and that the converter's copy of the CRD has in no version. The path
// is made of names.
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
	p, err := parsePlace(g.Path)
	if err != nil {
		return nil, false
	}
	at := any(object)
	for _, s := range p[:len(p)-1] {
		at = member(at, s.name)
	}
	return member(at, p[len(p)-1].name), isMap(at)
}
