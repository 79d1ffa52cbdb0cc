package roundtrip

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/crdconvert/webhookd/internal/converters"
)

// checkWithEdits holds an object to all laws, and edits of what it becomes at the other versions to L2.
func (b *bench) checkWithEdits(ctx context.Context, object []byte, index uint64) *ViolationError {
	t, v := b.trial(ctx, object)
	if v != nil {
		return v
	}
	if v := t.check(); v != nil || t.class != whole {
		return v
	}
	r := b.random(index, t.from)
	for _, to := range b.versions() {
		if to == t.from {
			continue
		}
		for range max(1, b.Edits) {
			if v := b.edits(ctx, r, t.there[to], to, t.from); v != nil {
				return v
			}
		}
	}
	return nil
}

// edits holds edits of an object at version, which came from another one, to L2: with the stash that it has, and with
// another.
func (b *bench) edits(ctx context.Context, r *rand.Rand, object []byte, version, from string) *ViolationError {
	edited := b.graft(r, object, version)
	if edited == nil {
		return nil
	}
	for i, state := range []map[string]any{edited, b.restash(r, copied(edited), version, from)} {
		b.stats.edits.Add(1)
		y := encode(state)
		t := b.validTrial(ctx, y, version, state)
		t.foreign = i > 0
		there, err := t.convert(y, version, from)
		if err != nil {
			return t.violation(lawTotal, from, "%v", err)
		}
		if v := t.returns(from, there); v != nil {
			return v
		}
	}
	return nil
}

// graft puts parts of a valid object of the version into another one. It returns nil if the result is invalid, whatever it
// tries.
func (b *bench) graft(r *rand.Rand, object []byte, version string) map[string]any {
	pool := b.pools[version]
	if len(pool) == 0 {
		return nil
	}
	for range 4 {
		edited := b.view(version, object)
		for range 1 + r.IntN(3) {
			transplant(r, edited, copied(pool[r.IntN(len(pool))]))
		}
		b.schemaOf(version).Prune(edited)
		b.schemaOf(version).Default(edited)
		if len(b.schemaOf(version).Validate(edited)) == 0 {
			return edited
		}
	}
	return nil
}

// A site is a place that two objects share, where one can get what the other has.
type site struct {
	into, from map[string]any
	name       string
}

// transplant makes one change to an object: one of its places gets what is there in the other one.
func transplant(r *rand.Rand, into, from map[string]any) {
	sites := sitesOf(into, from, nil, 0)
	if len(sites) == 0 {
		return
	}
	s := sites[r.IntN(len(sites))]
	value, found := s.from[s.name]
	old, _ := s.into[s.name].([]any)
	list, isList := value.([]any)
	switch {
	case !found:
		delete(s.into, s.name)
	case isList && len(old) > 0 && r.IntN(2) == 0:
		s.into[s.name] = mix(r, old, list)
	default:
		s.into[s.name] = value
	}
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
func sitesOf(into, from map[string]any, sites []site, depth int) []site {
	for _, name := range names(into, from) {
		if depth == 0 && (name == "apiVersion" || name == "kind") {
			continue
		}
		a, b := into[name], from[name]
		if depth == 0 && name == "metadata" {
			sites = metadataSites(a, b, sites)
			continue
		}
		sites = append(sites, site{into, from, name})
		sites = sitesBelow(a, b, sites, depth+1)
	}
	return sites
}

func sitesBelow(a, b any, sites []site, depth int) []site {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			return sitesOf(a, b, sites, depth)
		}
	case []any:
		if b, ok := b.([]any); ok {
			for i := range min(len(a), len(b)) {
				sites = sitesBelow(a[i], b[i], sites, depth)
			}
		}
	}
	return sites
}

// metadataSites are labels and annotations: nothing else of metadata can be edited, and stashes are no edits.
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
			for _, key := range names(x, y) {
				if !isStash(key) {
					sites = append(sites, site{x, y, key})
				}
			}
		}
	}
	return sites
}

// restash gives an object another stash of the version that it is to be converted to, or a stash of its own version:
// that of another object, one that was tampered with, a malformed one.
func (b *bench) restash(r *rand.Rand, object map[string]any, version, from string) map[string]any {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		return object
	}
	annotations, ok := meta["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		meta["annotations"] = annotations
	}
	key := converters.StashAnnotation(from)
	fresh, _ := annotations[key].(string)
	switch pool := b.pools[from]; {
	case r.IntN(6) == 0:
		annotations[converters.StashAnnotation(version)] = string(encode(b.foreign(r, version)))
	case r.IntN(4) == 0 || len(pool) == 0:
		annotations[key] = pick(r, "", "{", "null", "[]", "0", `"`, "{} {}", `{"a":1,"a":2}`,
			`{"spec":1}`, `{"spec":null}`, `{"spec":[]}`, `{"spec":{"":null}}`, `{"":null}`, `{"":{"":1}}`,
			`{"metadata":{"name":"x"}}`, fresh+"x")
	case fresh != "" && r.IntN(2) == 0:
		if stash, ok := mutable(fresh); ok {
			annotations[key] = string(vary(r, stash, 1+r.IntN(3), false))
		}
	case r.IntN(2) == 0:
		// What another object keeps.
		other := pool[r.IntN(len(pool))]
		if kept, err := b.stashOf(other, from, version); err == nil && kept != "" {
			annotations[key] = kept
			break
		}
		fallthrough
	default:
		annotations[key] = string(encode(b.foreign(r, from)))
	}
	return object
}

// foreign returns what a stash of a version looks like that somebody else wrote: some of an object of the version.
func (b *bench) foreign(r *rand.Rand, version string) map[string]any {
	pool := b.pools[version]
	if len(pool) == 0 {
		return map[string]any{}
	}
	stash := copied(pool[r.IntN(len(pool))])
	for _, name := range []string{"metadata", "apiVersion", "kind"} {
		delete(stash, name)
	}
	for range r.IntN(6) {
		all := parts(stash)
		if len(all) == 0 {
			break
		}
		if p := all[r.IntN(len(all))]; r.IntN(4) == 0 {
			p.set(nil)
		} else {
			p.remove()
		}
	}
	return stash
}

// stashOf returns what the conversion of an object keeps of its version.
func (b *bench) stashOf(object map[string]any, from, to string) (string, error) {
	c := checker{ctx: context.Background(), kind: b.Kind, group: b.CRD.Group, documents: &b.documents} // no deadline: one object
	result, err := c.convert(encode(object), from, to)
	if err != nil {
		return "", err
	}
	return stashes(decoded(result))[converters.StashAnnotation(from)], nil
}
