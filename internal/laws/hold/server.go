package hold

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/crdconvert/webhookd/internal/converters"
	"github.com/crdconvert/webhookd/internal/laws/generate"
	"github.com/crdconvert/webhookd/internal/laws/tree"
	"github.com/crdconvert/webhookd/internal/schema/crdschema"
)

// A Generation is what a kind and its CRD grow to: with more rules, with new fields in a
// version, with another hub. What was valid before is valid there.
type Generation struct {
	Kind *converters.Kind
	CRD  *crdschema.CRD
}

// grown is [Growth] for the object stored at a version: what was kept comes back under the rules of
// the next generation.
func (t *subject) grown(storage string) *ViolationError {
	return t.replay(t.ctx, &generate.Walk{Object: t.object, Storage: storage, Steps: []generate.Step{{Grow: true}}})
}

// A NewField is a field of a version that the API server knows, and that the converter's copy of
// the CRD has in no version. The path is made of names: .spec.owner.
type NewField struct{ Version, Path string }

// isNewField reports whether a path of a version is that of a new field, or below it.
func (s *Runner) isNewField(version, path string) bool {
	for _, g := range s.NewFields {
		if rest, ok := strings.CutPrefix(path, g.Path); ok && g.Version == version && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			return true
		}
	}
	return false
}

// of returns the value of the field, and whether an object has a place for it.
func (g NewField) of(object map[string]any) (value any, placed bool) {
	path, err := tree.ParsePath(g.Path)
	if err != nil {
		return nil, false
	}
	home := any(object)
	for _, s := range path[:len(path)-1] {
		home = tree.At(home, s.Name)
	}
	return tree.At(home, path[len(path)-1].Name), tree.IsMap(home)
}

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
	// grown says that the next generation converts.
	grown bool
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
		} else if n == 2 && w.next != nil {
			step = generate.Step{Grow: true}
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
	switch {
	case step.Storage != "":
		w.storage = step.Storage
		return nil
	case step.Grow:
		return w.grow()
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

// grow lets the next generation convert from now on. It shows what was written, and perhaps more.
func (w *apiServer) grow() *ViolationError {
	if w.next == nil {
		return nil
	}
	w.Runner, w.grown = w.next, true
	for of, b := range w.snapshots {
		b.state = tree.Copy(b.state)
		w.Admit(b.version, b.state)
		w.snapshots[of] = b
	}
	v := w.reads("", nil, nil, false)
	w.written = map[string]map[string]any{}
	return v
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
	fields, v := w.newFields(version)
	if v != nil {
		return v
	}
	if w.object, w.snapshots, v = w.converted(state, bases, version, w.storage); v != nil {
		return v
	}
	w.version = w.storage
	return w.reads(version, state, fields, edited)
}

// reads checks what clients read at all versions once an object was written at one: what was
// written there, and the new fields that the write did not remove together with the object that
// they are in.
func (w *apiServer) reads(at string, state map[string]any, fields map[NewField]any, edited bool) *ViolationError {
	for _, version := range w.Versions {
		got, _, v := w.get(version)
		if v != nil {
			return v
		}
		for g, was := range fields {
			_, had := g.of(w.before[at])
			_, has := g.of(state)
			if is, placed := g.of(got); g.Version == version && placed && !tree.Equal(was, is) && (has || !had) {
				return w.violation(Skew, version, w.version, "stored %s", tree.Encode(w.object)).differs(version, tree.NewGap(g.Path, was, is))
			}
		}
		if want := w.written[version]; want != nil {
			w.Admit(version, got)
			if v := w.returned(version, want, w.Visible(got), edited); v != nil {
				return v
			}
		}
	}
	return nil
}

// says reports whether the object has something at a path of a version without kept values. A value
// that was kept there before rules bound the path to a place with a value of its own is another
// one.
func (w *apiServer) says(version, path string) bool {
	text, err := w.ConvertStored(w.ctx, tree.Encode(tree.Visible(tree.Copy(w.object))), w.version, version)
	if err != nil {
		return false
	}
	value, placed := NewField{version, path}.of(tree.Read(text))
	return placed && !tree.IsAbsent(value)
}

// newFields returns the values of new fields in other versions, which a write at a version cannot
// mean to change.
func (w *apiServer) newFields(version string) (map[NewField]any, *ViolationError) {
	values := map[NewField]any{}
	for _, g := range w.NewFields {
		if g.Version == version || w.object == nil {
			continue
		}
		state, _, v := w.get(g.Version)
		if v != nil {
			return nil, v
		}
		if value, _ := g.of(state); !tree.IsAbsent(value) {
			values[g] = value
		}
	}
	return values, nil
}

// returned is L1, L2 and L11: what was written is read, except what any version drops. Once the
// kind has grown, what was kept before may appear where the user wrote nothing.
func (w *apiServer) returned(version string, want, got map[string]any, edited bool) *ViolationError {
	diff := w.compare(want, got, version, w.Versions...)
	if w.grown {
		diff = tree.Lost(w.WithoutDropped(want, version, w.Versions...), got, "")
	}
	edits := len(w.walk.Steps) > 1 // before or after the growth
	if diff.Path == "" || w.grown && edits && w.says(version, diff.Path) {
		return nil
	}
	law := RoundTrip
	switch {
	case w.isNewField(version, diff.Path):
		law = Skew
	case w.grown:
		law = Growth
	case edited && len(w.walk.Steps) > 0:
		law = Edit
	}
	return w.violation(law, version, w.version, "stored %s", tree.Encode(w.object)).differs(version, diff)
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
