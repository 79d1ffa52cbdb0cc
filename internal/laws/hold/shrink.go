package hold

import (
	"context"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/shrink"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// maxShrinks bounds the objects that shrinking tries, and maxWalks the walks.
const maxShrinks, maxWalks = 20_000, 3000

// smallest returns the violation on the smallest object that is found, and with the default to
// blame.
func (s *Runner) smallest(ctx context.Context, found *ViolationError) *ViolationError {
	found = s.shrink(ctx, found, func(t *subject) *ViolationError { return t.again(found) })
	s.blame(ctx, found)
	return found
}

// shrink makes the object of a violation smaller for as long as the same law does not hold between
// the same versions; without kept values, [Edit] is [RoundTrip]. A valid object stays valid. It
// makes a walk shorter and its changes simpler.
func (s *Runner) shrink(ctx context.Context, found *ViolationError, again func(*subject) *ViolationError) *ViolationError {
	objects, walks := maxShrinks, maxWalks
	if s.Remote != nil {
		objects, walks = shrink.MaxRemote, shrink.MaxRemote
	}
	if found.Walk != nil {
		later := func(w *generate.Walk) *generate.Walk { return s.later(ctx, w) }
		shrink.SmallestWalk(ctx, found.Walk, walks, later, func(w *generate.Walk) bool {
			v := s.replay(ctx, w)
			if v == nil || v.Law != found.Law {
				return false
			}
			found = v
			return true
		})
		return found
	}
	was, v := s.subject(ctx, found.Object)
	if v != nil {
		return found
	}
	shrink.Smallest(ctx, found.Object, objects, func(object []byte) bool {
		t, v := s.subject(ctx, object)
		if v != nil || t.class > was.class || t.version != found.From {
			return false
		}
		v = again(t)
		if v == nil || v.Law != found.Law && (found.Law != Edit || v.Law != RoundTrip) {
			return false
		}
		found = v
		return true
	})
	return found
}

// later returns a walk that begins with what the first step of a walk writes, nil if that has no
// changes.
func (s *Runner) later(ctx context.Context, walk *generate.Walk) *generate.Walk {
	if len(walk.Steps) == 0 || len(walk.Steps[0].Changes) == 0 {
		return nil
	}
	w := s.server(ctx, walk.Object, walk.Storage)
	if w.create() != nil || w.step(walk.Steps[0], func(map[string]any) []generate.Change { return walk.Steps[0].Changes }) != nil {
		return nil
	}
	if object := w.written[walk.Steps[0].Version]; object != nil {
		return &generate.Walk{Object: tree.Encode(object), Storage: walk.Storage, Steps: walk.Steps[1:]}
	}
	return nil
}

// again holds the object to the law that another one violated.
func (t *subject) again(found *ViolationError) *ViolationError {
	switch {
	case found.Law == WellFormed:
		return t.wellFormed(found.To)
	case found.Law == Identity || found.To == t.version:
		return t.check()
	}
	return t.hold(converted, found.To)
}
