package roundtrip

import (
	"context"
	"math/rand/v2"
	"slices"
)

// checkWithEdits holds an object to all laws, and edits of what it becomes at the other versions to L2.
func (s *suite) checkWithEdits(ctx context.Context, object []byte, r *rand.Rand) *ViolationError {
	t, v := s.subject(ctx, object)
	if v != nil {
		return v
	}
	if v := t.check(); v != nil || t.class != whole {
		return v
	}
	for _, to := range s.versions() {
		if to == t.version {
			continue
		}
		for range max(1, s.Edits) {
			if v := s.edits(ctx, r, t.there[to], to, t.version); v != nil {
				return v
			}
		}
		if s.next != nil {
			if v := t.growth(to); v != nil {
				return v
			}
		}
		if s.Parts {
			if v := t.parts(to); v != nil {
				return v
			}
		}
		if s.Forgeries {
			if v := s.forgeries(ctx, r, t.there[to], to, t.version); v != nil {
				return v
			}
		}
	}
	return nil
}

// edits holds edits of an object at version, which came from another one, to L2: with what it keeps, and with what another
// object keeps or with annotations that keep nothing.
func (s *suite) edits(ctx context.Context, r *rand.Rand, object []byte, version, from string) *ViolationError {
	edited := s.edited(r, object, version)
	if edited == nil {
		return nil
	}
	for _, foreign := range []bool{false, true} {
		state := copied(edited)
		if foreign && r.IntN(3) == 0 {
			malformed(r, state, version, from)
		} else if foreign {
			s.stale(ctx, r, state, version, from)
		}
		s.stats.edits.Add(1)
		t := s.wholeSubject(ctx, version, state)
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

// edited returns an object with parts of valid objects of its version, or without schemas with any other values in it. It
// returns nil if the result is invalid, whatever it tries.
func (s *suite) edited(r *rand.Rand, object []byte, version string) map[string]any {
	if s.CRD == nil {
		return s.read(vary(r, object, 1+r.IntN(2), false))
	}
	pool := s.pools[version]
	if len(pool) == 0 {
		return nil
	}
	for range 4 {
		edited := s.view(version, object)
		for range 1 + r.IntN(3) {
			transplant(r, edited, copied(pool[r.IntN(len(pool))]))
		}
		s.admit(version, edited)
		if len(s.schema(version).Validate(edited)) == 0 {
			return edited
		}
	}
	return nil
}

// stale gives an object at a version what another object keeps of the version that it is to be converted to.
func (s *suite) stale(ctx context.Context, r *rand.Rand, object map[string]any, version, to string) {
	var other []byte
	if pool := s.pools[to]; len(pool) > 0 {
		other = encode(pool[r.IntN(len(pool))])
	} else if back, err := s.convert(ctx, encode(object), version, to); err == nil {
		other = vary(r, back, 1+r.IntN(3), false)
	}
	if there, err := s.convert(ctx, other, to, version); err == nil {
		dropKept(object)
		annotate(object, keptIn(s.read(there), to))
	}
}

// malformed gives an object annotations with webhookd's names of which nobody can make anything.
func malformed(r *rand.Rand, object map[string]any, version, to string) {
	for range 1 + r.IntN(3) {
		name := pick(r, keptPrefix, keptPrefix, statusPrefix) + pick(r, version, to, to) + pick(r, "", ".spec", ".spec.a.b", ".metadata", ".spec--0")
		annotate(object, map[string]string{name: pick(r, noise()...)})
	}
}

// noise is texts that are no kept values.
func noise() []string {
	return []string{
		"", "{", "null", "[]", "0", `"`, "{} {}", "{}", `{"a":1}`, `{"a":1,"a":2}`, `{"value":1,"value":2}`, `{"value":1,"more":2}`, `{"value":`,
		`{"value":1} ` + "\x00", `{"absent":false}`, `{"value":1,"absent":true}`, `{"list":1}`, `{"order":{}}`, `{"value":1,"in":-1}`,
		`{"value":1,"base":1}`, `{"value":1,"path":"spec"}`, "[[[[[[[[", "\x00", "\xff",
	}
}

// A site is a place that two objects share, where one can get what the other has.
type site struct {
	into, from map[string]any
	name       string
	in         *crumb
}

// A crumb is the last step of a path; nil is the root.
type crumb struct {
	above *crumb
	step  any
}

func (c *crumb) path(last ...any) []any {
	if c == nil {
		return last
	}
	return append(c.above.path(c.step), last...)
}

// transplant makes one change to an object: one of its places gets what is there in the other one.
func transplant(r *rand.Rand, into, from map[string]any) (Change, bool) {
	sites := sitesOf(into, from, nil, nil)
	if len(sites) == 0 {
		return Change{}, false
	}
	s := sites[r.IntN(len(sites))]
	value, found := s.from[s.name]
	old, _ := s.into[s.name].([]any)
	if list, isList := value.([]any); isList && len(old) > 0 && r.IntN(2) == 0 {
		value = mix(r, old, list)
	}
	change := Change{Path: s.in.path(s.name), Value: copied(value), Remove: !found}
	change.apply(into)
	return change, true
}

// mix edits a list as people do: an element of another one in place of one, one more, one less, two swapped.
func mix(r *rand.Rand, old, other []any) []any {
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

// sitesOf lists the places of two objects, with those in elements of lists that both have.
func sitesOf(into, from map[string]any, sites []site, in *crumb) []site {
	for _, name := range names(into, from) {
		if in == nil && (name == "apiVersion" || name == "kind") {
			continue
		}
		a, b := into[name], from[name]
		if in == nil && name == "metadata" {
			sites = metadataSites(a, b, sites)
			continue
		}
		sites = append(sites, site{into, from, name, in})
		sites = sitesBelow(a, b, sites, &crumb{in, name})
	}
	return sites
}

func sitesBelow(a, b any, sites []site, in *crumb) []site {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return sitesOf(a, b, sites, in)
		}
	case []any:
		if b, ok := b.([]any); ok {
			for i := range min(len(a), len(b)) {
				sites = sitesBelow(a[i], b[i], sites, &crumb{in, i})
			}
		}
	}
	return sites
}

// metadataSites are labels and annotations: nothing else of metadata can be edited, and what is kept is no edit.
func metadataSites(a, b any, sites []site) []site {
	into, okA := a.(map[string]any)
	from, okB := b.(map[string]any)
	if !okA || !okB {
		return sites
	}
	for _, name := range []string{"labels", "annotations"} {
		x, okX := into[name].(map[string]any)
		y, okY := from[name].(map[string]any)
		if okX && okY {
			in := &crumb{&crumb{nil, "metadata"}, name}
			for _, key := range names(x, y) {
				if !isKept(key, "") {
					sites = append(sites, site{x, y, key, in})
				}
			}
		}
	}
	return sites
}
