package roundtrip

import (
	"context"
	"slices"
)

// A Default is a default of a version's schema that breaks a law: the API server fills it in when
// it stores an object at that version, and the way back takes it for a value of the user.
type Default struct {
	// Version has the default at Path, where the object has no value. Value is its JSON text.
	Version, Path, Value string
}

// added lists the paths of what an object has and another one has not, the outermost ones.
func added(was, is any, path []any, all [][]any) [][]any {
	switch is := is.(type) {
	case map[string]any:
		old, ok := was.(map[string]any)
		if !ok {
			return all
		}
		for _, name := range names(is) {
			below := append(slices.Clip(path), name)
			if _, found := old[name]; !found {
				all = append(all, below)
			} else {
				all = added(old[name], is[name], below, all)
			}
		}
	case []any:
		old, _ := was.([]any)
		for i := range min(len(old), len(is)) {
			all = added(old[i], is[i], append(slices.Clip(path), i), all)
		}
	}
	return all
}

// put sets a member of an object that is there.
func put(object any, path []any, value any) { Change{Path: path, Value: value}.apply(object) }

// sent returns what the API server converts if a client writes the object: with the defaults of
// its version.
func (t *subject) sent() []byte {
	object := t.Read(t.object)
	for _, path := range t.filled {
		put(object, path, at(t.state, path...))
	}
	return encode(object)
}

// returnsDefaulted is returns for an object that lacks some of its defaults: the API server fills
// them in before it converts the object.
func (t *subject) returnsDefaulted(to string) *ViolationError {
	full, v := t.subject(t.ctx, t.sent())
	if v != nil || len(full.filled) > 0 {
		return v
	}
	full.foreign = t.foreign
	there, err := full.convert(t.ctx, full.object, full.version, to)
	if err != nil {
		return full.fails(to, err, "%v", err)
	}
	return full.returns(to, there)
}

// refill gives an object the source's own value wherever a default filled in the source. What
// comes back there says nothing: the API server would not have sent the object without it.
func (t *subject) refill(back map[string]any) map[string]any {
	for _, path := range t.filled {
		put(back, path, at(t.state, path...))
	}
	return back
}

// blame finds the default that alone makes an object come back with a value that it did not have.
func (s *suite) blame(ctx context.Context, found *ViolationError) {
	if !s.Stored || found.Walk != nil || found.Path == "" || found.Was != "" || found.Law != lawRoundTrip && found.Law != lawEdit {
		return
	}
	t, v := s.subject(ctx, found.Object)
	if v != nil || len(t.filled) > 0 {
		return
	}
	text, err := t.convert(ctx, t.object, t.version, found.To)
	if err != nil || t.returnsFrom(found.To, text, "there", true) != nil {
		return
	}
	there, stored := t.Read(text), t.View(found.To, text)
	for _, path := range added(there, stored, nil, nil) {
		one := copied(there)
		put(one, path, at(stored, path...))
		if v := t.returnsFrom(found.To, encode(one), "there", true); v != nil {
			found.Default = &Default{found.To, formatPath(path), textOf(at(stored, path...))}
			return
		}
	}
}
