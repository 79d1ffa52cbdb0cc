package roundtrip

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters/keep"
)

// checkWithEdits holds an object to all laws, and edits of what it becomes at the other versions to
// L2.
func (s *suite) checkWithEdits(ctx context.Context, object []byte, r *rand.Rand) *ViolationError {
	t, v := s.subject(ctx, object)
	if v == nil {
		v = t.check()
	}
	if v != nil || t.class != whole {
		return v
	}
	for _, to := range s.Others(t.version) {
		there := t.there[to]
		s.outcome(t, to, there)
		if v := cmp.Or(s.edits(ctx, r, there, to, t.version), s.grown(ctx, object, to), s.forgeries(ctx, r, there, to, t.version)); v != nil {
			return v
		}
	}
	return nil
}

// edits holds an edit of an object at version, which came from another one, to L2: with what it
// keeps, and with what another object keeps or with annotations that keep nothing.
func (s *suite) edits(ctx context.Context, r *rand.Rand, object []byte, version, from string) *ViolationError {
	var edited map[string]any
	if s.CRD == nil {
		edited = s.Read(vary(r, object, 1+r.IntN(2), false))
	} else if edited, _ = s.edited(r, version, s.View(version, object), nil); edited == nil {
		return nil
	}
	for _, foreign := range []bool{false, true} {
		state := copied(edited)
		if foreign && r.IntN(3) == 0 {
			malformed(r, state, version, from)
		} else if foreign {
			s.stale(ctx, r, state, version, from)
		}
		s.count(func(c *Stats) { c.Edits++ })
		t, v := s.subject(ctx, encode(state))
		if v != nil {
			return v
		}
		t.foreign = foreign
		there, err := t.convert(ctx, t.object, version, from)
		if err != nil {
			return t.fails(from, err, "%v", err)
		}
		if v := t.returns(from, there); v != nil {
			return v
		}
	}
	return nil
}

// edited returns an object with parts of other valid objects of its version, or of what it was
// before, and the changes. It returns nil if none of its tries is valid.
func (s *suite) edited(r *rand.Rand, version string, object, before map[string]any) (map[string]any, []Change) {
	pool := s.pools[version]
	if len(pool) == 0 {
		return nil, nil
	}
	for range 4 {
		edited := copied(object)
		var changes []Change
		for range 1 + r.IntN(3) {
			other := pool[r.IntN(len(pool))]
			if before != nil && r.IntN(4) == 0 {
				other = before
			}
			if c, ok := transplant(r, edited, other); ok {
				changes = append(changes, c)
			}
		}
		if s.Admit(version, edited); len(s.Schema(version).Validate(edited)) == 0 {
			return edited, changes
		}
	}
	return nil, nil
}

// stale gives an object at a version what another object keeps of the version that it is to be
// converted to.
func (s *suite) stale(ctx context.Context, r *rand.Rand, object map[string]any, version, to string) {
	var other []byte
	if pool := s.pools[to]; len(pool) > 0 {
		other = encode(pool[r.IntN(len(pool))])
	} else if back, err := s.Convert(ctx, encode(object), version, to); err == nil {
		other = vary(r, back, 1+r.IntN(3), false)
	}
	if there, err := s.Convert(ctx, other, to, version); err == nil {
		dropKept(object)
		annotate(object, keptIn(s.Read(there), to))
	}
}

// malformed gives an object annotations that have webhookd's names and keep nothing.
func malformed(r *rand.Rand, object map[string]any, version, to string) {
	for range 1 + r.IntN(3) {
		name := pick(r, keep.Prefix, keep.Prefix, keep.StatusPrefix) + pick(r, version, to, to) + pick(r, "", ".spec", ".spec.a.b", ".metadata", ".spec--0")
		annotate(object, map[string]string{name: pick(r,
			"", "{", "null", "[]", "0", `"`, "{} {}", "{}", `{"a":1}`, `{"a":1,"a":2}`, `{"value":1,"value":2}`, `{"value":1,"more":2}`, `{"value":`,
			`{"value":1} `+"\x00", `{"absent":false}`, `{"value":1,"absent":true}`, `{"list":1}`, `{"order":{}}`, `{"value":1,"in":-1}`,
			`{"value":1,"base":1}`, `{"value":1,"path":"spec"}`, "[[[[[[[[", "\x00", "\xff",
		)})
	}
}

// transplant makes one change to an object: one of its places gets what another object has there.
func transplant(r *rand.Rand, into, from map[string]any) (Change, bool) {
	all := sharedPlaces(into, from, nil, nil)
	if len(all) == 0 {
		return Change{}, false
	}
	change := Change{Path: all[r.IntN(len(all))]}
	value, was := at(from, change.Path...), at(into, change.Path...)
	old, _ := was.([]any)
	if list, isList := value.([]any); isList && len(old) > 0 && r.IntN(2) == 0 {
		value = mixed(r, old, list)
	}
	if change.Remove = isAbsent(value); !change.Remove {
		change.Value = copied(value)
	}
	change.apply(into)
	return change, true
}

// mixed edits a list as people do: an element of another list in place of one, one more, one less,
// two swapped.
func mixed(r *rand.Rand, old, other []any) []any {
	list := slices.Clone(old)
	i := r.IntN(len(list))
	switch n := r.IntN(4); {
	case n == 0:
		return slices.Delete(list, i, i+1)
	case n == 1 || len(other) == 0:
		j := r.IntN(len(list))
		list[i], list[j] = list[j], list[i]
	case n == 2:
		list = slices.Insert(list, i, other[r.IntN(len(other))])
	default:
		list[i] = other[r.IntN(len(other))]
	}
	return list
}

// sharedPlaces lists the paths of the members that one of two objects has, in the objects and
// elements that both have.
func sharedPlaces(a, b any, path []any, all [][]any) [][]any {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			for _, name := range names(a, b) {
				below := append(slices.Clip(path), name)
				if canEdit(below) {
					all = append(all, below)
				}
				all = sharedPlaces(a[name], b[name], below, all)
			}
		}
	case []any:
		b, _ := b.([]any)
		for i := range min(len(a), len(b)) {
			all = sharedPlaces(a[i], b[i], append(slices.Clip(path), i), all)
		}
	}
	return all
}

// canEdit reports whether a user may edit the member of an object that a path leads to. Of metadata
// these are labels and annotations that keep nothing.
func canEdit(path []any) bool {
	switch path[0] {
	case "apiVersion", "kind":
		return false
	case "metadata":
		name, _ := path[len(path)-1].(string)
		return len(path) == 3 && (path[1] == "labels" || path[1] == "annotations") && !isKept(name, "")
	}
	return true
}
