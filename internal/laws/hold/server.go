package hold

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
)

// An apiServer is an API server with one object. It does with it what a real one does, except for
// the fields of metadata.
type apiServer struct {
	*Runner
	ctx     context.Context //nolint:containedctx // lives as long as one walk
	walk    *generate.Walk
	storage string
	// object is what is stored, at a version.
	object  map[string]any
	version string
	// snapshots are what kept values of a version were kept against.
	snapshots map[string]snapshot
	// written is what has to be read, by version: what was edited last, and what was written since
	// without a change.
	written map[string]map[string]any
	// before is what a version showed before its last edit.
	before map[string]map[string]any
}

// A snapshot is what a version showed when values of another one were kept in it, and of what
// object these were.
type snapshot struct {
	version string
	state   map[string]any
	source  map[string]any
}

func (s *Runner) server(ctx context.Context, object []byte, storage string) *apiServer {
	return &apiServer{Runner: s, ctx: ctx, walk: &generate.Walk{Object: object, Storage: storage}, storage: storage, before: map[string]map[string]any{}}
}

// walk holds a walk with the object to the laws, of random choices.
func (t *subject) walk(string) *ViolationError {
	return t.randomWalk(t.ctx, t.rand, t.object, 1+t.rand.IntN(5))
}

// randomWalk makes a walk of count steps from an object, of random choices.
func (s *Runner) randomWalk(ctx context.Context, r *rand.Rand, object []byte, count int) *ViolationError {
	s.count(func(c *Stats) { c.Walks++ })
	w := s.server(ctx, object, generate.Pick(r, s.Versions...))
	v := w.create()
	for ; count > 0 && v == nil; count-- {
		version, n := generate.Pick(r, s.Versions...), r.IntN(8)
		step := generate.Step{Version: version}
		if n == 0 {
			step = generate.Step{Storage: version}
		}
		v = w.step(step, func(state map[string]any) []generate.Change {
			if n == 1 {
				return nil
			}
			return w.changes(r, version, state)
		})
	}
	return v
}

// replay repeats a walk.
func (s *Runner) replay(ctx context.Context, walk *generate.Walk) *ViolationError {
	w := s.server(ctx, walk.Object, walk.Storage)
	v := w.create()
	for _, step := range walk.Steps {
		if v == nil {
			v = w.step(step, func(map[string]any) []generate.Change { return step.Changes })
		}
	}
	return v
}

func (w *apiServer) create() *ViolationError {
	t, v := w.subject(w.ctx, w.walk.Object)
	if v != nil || t.class != classValid || t.keeps {
		return v
	}
	return w.put(t.version, w.View(t.version, t.object), nil, true)
}

// step makes a step, whose changes are chosen when it is known what the version shows.
func (w *apiServer) step(step generate.Step, choose func(state map[string]any) []generate.Change) *ViolationError {
	if w.object == nil {
		return nil
	}
	w.walk.Steps = append(w.walk.Steps, step)
	if step.Storage != "" {
		w.storage = step.Storage
		return nil
	}
	state, bases, v := w.get(step.Version)
	if v != nil {
		return v
	}
	w.Admit(step.Version, state)
	changes := choose(state)
	w.walk.Steps[len(w.walk.Steps)-1].Changes = changes
	for _, c := range changes {
		c.Apply(state)
	}
	return w.put(step.Version, state, bases, len(changes) > 0)
}

// changes makes random edits of what a version shows: parts of other objects, and some of what it
// has shown before.
func (w *apiServer) changes(r *rand.Rand, version string, state map[string]any) []generate.Change {
	edited, changes := w.edited(r, version, state, w.before[version])
	if edited != nil {
		w.before[version] = tree.Copy(state)
	}
	return changes
}

// get returns what a client reads at a version. It has no defaults except those of the version that
// is stored.
func (w *apiServer) get(version string) (map[string]any, map[string]snapshot, *ViolationError) {
	state := tree.Copy(w.object)
	w.Admit(w.version, state)
	return w.converted(state, w.snapshots, w.version, version)
}

// put writes an object at a version, as a client does. The API server refuses one that is not
// valid.
func (w *apiServer) put(version string, state map[string]any, bases map[string]snapshot, edited bool) (v *ViolationError) {
	w.Admit(version, state)
	if len(w.Schema(version).Validate(state)) > 0 {
		return nil
	}
	if edited {
		w.written = map[string]map[string]any{}
	}
	w.written[version] = w.Visible(tree.Copy(state))
	if w.object, w.snapshots, v = w.converted(state, bases, version, w.storage); v != nil {
		return v
	}
	w.version = w.storage
	return w.reads(edited)
}

// reads checks that clients read at each version what was written there last.
func (w *apiServer) reads(edited bool) *ViolationError {
	for _, version := range w.Versions {
		got, _, v := w.get(version)
		if v != nil {
			return v
		}
		want := w.written[version]
		if want == nil {
			continue
		}
		w.Admit(version, got)
		if diff := w.compare(want, w.Visible(got), version, w.Versions...); diff.Path != "" {
			law := RoundTrip
			if edited && len(w.walk.Steps) > 0 {
				law = Edit
			}
			return w.violation(law, version, w.version, "stored %s", tree.Encode(w.object)).differs(version, diff)
		}
	}
	return nil
}

// converted converts an object and prunes the result, as the API server does. It also returns the
// snapshots of the kept values of the result.
func (w *apiServer) converted(object map[string]any, bases map[string]snapshot, from, to string) (map[string]any, map[string]snapshot, *ViolationError) {
	if from == to {
		return object, bases, nil
	}
	text, err := w.ConvertStored(w.ctx, tree.Encode(object), from, to)
	if err != nil {
		return nil, nil, w.violation(Total, from, to, "%v: %s", err, tree.Encode(object))
	}
	result := tree.Read(text)
	w.Schema(to).Prune(result)
	hub := w.Kind.Hub
	if b, found := bases[to]; found && w.Remote == nil && b.version == from && (from == hub || to == hub) {
		if diff, at := w.hides(w.ctx, from, to, object, b, result); diff.Path != "" {
			return nil, nil, w.violation(Hidden, from, to, "of %s came %s", tree.Encode(object), text).differs(at, diff)
		}
	}
	seen := tree.Copy(result)
	w.Schema(to).Default(seen)
	bases = maps.Clone(bases)
	if bases == nil {
		bases = map[string]snapshot{}
	}
	delete(bases, to)
	delete(bases, from)
	if from == hub || to == hub { // else values are kept against what the hub shows in between
		bases[from] = snapshot{to, tree.Visible(seen), tree.Visible(tree.Copy(object))}
	} else {
		delete(bases, hub)
	}
	return result, bases, nil
}

func (w *apiServer) violation(law Law, from, to, format string, args ...any) *ViolationError {
	walk := &generate.Walk{Object: w.walk.Object, Storage: w.walk.Storage, Steps: slices.Clone(w.walk.Steps)}
	return &ViolationError{
		Law: law, From: from, To: to, Problem: fmt.Sprintf(format, args...), Object: walk.Object, Seed: w.Seed, Walk: walk,
	}
}
