package hold

import (
	"cmp"
	"context"
	"math/rand/v2"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// Hold holds an object to all laws, and edits of what it becomes.
func (s *Runner) Hold(ctx context.Context, object []byte) *ViolationError {
	version, _ := tree.VersionOf(object)
	return s.checkWithEdits(ctx, object, s.random(generate.Hash(string(object)), version))
}

// checkWithEdits holds an object to all laws, and edits of what it becomes at the other versions to
// L2.
func (s *Runner) checkWithEdits(ctx context.Context, object []byte, r *rand.Rand) *ViolationError {
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
func (s *Runner) edits(ctx context.Context, r *rand.Rand, object []byte, version, from string) *ViolationError {
	var edited map[string]any
	if s.CRD == nil {
		edited = s.Read(generate.Vary(r, object, 1+r.IntN(2), false))
	} else if edited, _ = s.edited(r, version, s.View(version, object), nil); edited == nil {
		return nil
	}
	for _, foreign := range []bool{false, true} {
		state := tree.Copy(edited)
		if foreign && r.IntN(3) == 0 {
			generate.Malformed(r, state, version, from)
		} else if foreign {
			s.stale(ctx, r, state, version, from)
		}
		s.count(func(c *Stats) { c.Edits++ })
		t, v := s.subject(ctx, tree.Encode(state))
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
			if c, ok := generate.Transplant(r, edited, other); ok {
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
	var other []byte
	if pool := s.pools[to]; len(pool) > 0 {
		other = tree.Encode(pool[r.IntN(len(pool))])
	} else if back, err := s.Convert(ctx, tree.Encode(object), version, to); err == nil {
		other = generate.Vary(r, back, 1+r.IntN(3), false)
	}
	if there, err := s.Convert(ctx, other, to, version); err == nil {
		tree.DropKept(object)
		tree.Annotate(object, tree.Kept(s.Read(there), to))
	}
}
