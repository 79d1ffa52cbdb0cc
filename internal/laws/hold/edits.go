package hold

import (
	"context"
	"math/rand/v2"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// Check holds an object to all laws but those of walks, by random choices, and returns a
// *ViolationError on the smallest object that it finds.
func (s *Runner) Check(ctx context.Context, object []byte, r *rand.Rand) error {
	if v := s.Hold(ctx, object, r); v != nil {
		return s.smallest(ctx, v)
	}
	return nil
}

// Hold is [Runner.Check] for the object as it is.
func (s *Runner) Hold(ctx context.Context, object []byte, r *rand.Rand) *ViolationError {
	t, v := s.subject(ctx, object)
	if v != nil {
		return v
	}
	return t.all(r)
}

// edits is [Edit] for an edit of what the object is at a version: with what it keeps, and with what
// another object keeps or with annotations that keep nothing.
func (t *subject) edits(version string) *ViolationError {
	r := t.rand
	edited, _ := t.edited(r, version, t.View(version, t.results[version]), nil)
	if edited == nil {
		return nil
	}
	for _, foreign := range []bool{false, true} {
		state := tree.Copy(edited)
		if foreign && r.IntN(3) == 0 {
			generate.AddMalformed(r, state, version, t.version)
		} else if foreign {
			t.stale(t.ctx, r, state, version, t.version)
		}
		t.count(func(c *Stats) { c.Edits++ })
		e, v := t.subject(t.ctx, tree.Encode(state))
		if v != nil {
			return v
		}
		e.foreign = foreign
		if v := e.roundTrip(t.version); v != nil {
			return v
		}
	}
	return nil
}

// edited returns an object with parts of other valid objects of its version, or of what it was
// before, and the changes. It returns nil if none of its tries is valid.
func (s *Runner) edited(r *rand.Rand, version string, object, before map[string]any) (map[string]any, []generate.Change) {
	pool := s.pools[version]
	if len(pool) == 0 {
		return nil, nil
	}
	for range 4 {
		edited := tree.Copy(object)
		var changes []generate.Change
		for range 1 + r.IntN(3) {
			other := pool[r.IntN(len(pool))]
			if before != nil && r.IntN(4) == 0 {
				other = before
			}
			if c, ok := generate.CopyPart(r, edited, other); ok {
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
func (s *Runner) stale(ctx context.Context, r *rand.Rand, object map[string]any, version, to string) {
	if len(s.pools[to]) == 0 {
		return
	}
	if there, err := s.Convert(ctx, tree.Encode(generate.Pick(r, s.pools[to]...)), to, version); err == nil {
		tree.DropKept(object)
		tree.Annotate(object, tree.Kept(tree.Read(there), to))
	}
}
