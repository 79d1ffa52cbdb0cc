package roundtrip

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

const (
	// maxShrinks bounds the objects that shrinking tries.
	maxShrinks = 20_000
	// maxWalks bounds the walks that shrinking tries.
	maxWalks = 3000
	// maxRemote bounds both where each is several requests.
	maxRemote = 1000
)

// shrunk returns the violation, if any, as an error, on the smallest object that was found.
func (s *suite) shrunk(ctx context.Context, found *ViolationError) error {
	if found == nil {
		return nil
	}
	return s.shrink(ctx, found)
}

// shrink makes the object of a violation smaller for as long as the same law does not hold between
// the same versions; without kept values, L2 is L1. A valid object stays valid. It makes a walk
// shorter and its changes simpler.
func (s *suite) shrink(ctx context.Context, found *ViolationError) *ViolationError {
	if found.Walk != nil {
		most := maxWalks
		if s.Remote != nil {
			most = maxRemote
		}
		later := func(w *Walk) *Walk { return s.later(ctx, w) }
		reduceWalk(ctx, found.Walk, most, later, func(w *Walk) bool {
			v := s.replay(ctx, w)
			if v == nil || v.Law != found.Law {
				return false
			}
			found = v
			return true
		})
		return found
	}
	defer func() { s.blame(ctx, found) }()
	was, v := s.subject(ctx, found.Object)
	if v != nil {
		return found
	}
	reduce(ctx, found.Object, maxShrinks, smaller, func(object []byte) bool {
		t, v := s.subject(ctx, object)
		if v != nil || t.class > was.class || t.version != found.From {
			return false
		}
		if v = t.again(found); v == nil || v.Law != found.Law && (found.Law != lawEdit || v.Law != lawRoundTrip) {
			return false
		}
		found = v
		return true
	})
	return found
}

// reduce replaces x by a smaller one for as long as try accepts one. It tries at most some.
func reduce[T any](ctx context.Context, x T, most int, smaller func(context.Context, T) iter.Seq[func() T], try func(T) bool) {
	for progress := true; progress; {
		progress = false
		for i, more := 0, true; more; {
			more = false
			at := 0
			for candidate := range smaller(ctx, x) {
				if at++; at <= i {
					continue // tried before
				}
				if most--; most < 0 || ctx.Err() != nil {
					return
				}
				if y := candidate(); try(y) {
					x, progress, more = y, true, true
					break
				}
				i++
			}
		}
	}
}

// smaller yields smaller objects: without each of the parts, and with something smaller in the
// place of each.
func smaller(_ context.Context, object []byte) iter.Seq[func() []byte] {
	return func(yield func(func() []byte) bool) {
		for v := range smallerValues(literal(object)) {
			if !yield(func() []byte { return encode(v) }) {
				return
			}
		}
	}
}

// smallerValues yields smaller forms of a JSON value, which are good while they are yielded.
func smallerValues(root any) iter.Seq[any] {
	return func(yield func(any) bool) {
		for v := range eachPart(root, func(p part) { p.remove() }) {
			if !yield(v) {
				return
			}
		}
		for _, p := range parts(root) {
			for value := range reductions(p.value) {
				p.set(value)
				ok := yield(root)
				if p.undo(); !ok {
					return
				}
			}
		}
	}
}

// reductions yields simpler values, the simplest first. A kept value gets smaller as the object
// that it is. What it was kept against stays, or it would be kept against nothing.
func reductions(v any) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch v := v.(type) {
		case string:
			if kept, err := decode([]byte(v), true); err == nil && strings.HasPrefix(v, "{") {
				against := keptAgainst(kept)
				for less := range smallerValues(kept) {
					if !equal(keptAgainst(less), against) {
						continue
					}
					if text := string(encode(less)); len(text) < len(v) && !yield(text) {
						return
					}
				}
			}
			runes := []rune(v)
			for _, n := range []int{0, 1, len(runes) / 2, len(runes) - 1} {
				if n >= 0 && n < len(runes) && !yield(string(runes[:n])) {
					return
				}
			}
			if len(runes) > 1 {
				yield(string(runes[1:]))
			}
		case json.Number:
			for _, n := range []string{"0", "1", "10"} {
				if len(n) < len(v) && !yield(json.Number(n)) {
					return
				}
			}
		}
	}
}

// keptAgainst returns the members of a kept value that say when it is valid.
func keptAgainst(kept any) []any {
	return []any{at(kept, "inputs"), at(kept, "object"), at(kept, "in")}
}

// reduceWalk makes a walk smaller for as long as fails says so of it. It tries at most some. Later
// returns a walk that begins with what the first step writes, nil if there is none.
func reduceWalk(ctx context.Context, w *Walk, most int, later func(*Walk) *Walk, fails func(*Walk) bool) {
	reduce(ctx, w, most, func(ctx context.Context, w *Walk) iter.Seq[func() *Walk] { return smallerWalks(ctx, w, later) }, fails)
}

// smallerWalks yields smaller walks: from the object that the first step writes, without each of
// the steps and of the changes, and with something smaller as the value of a change and as the
// object.
func smallerWalks(ctx context.Context, w *Walk, later func(*Walk) *Walk) iter.Seq[func() *Walk] {
	return func(yield func(func() *Walk) bool) {
		if later := later(w); later != nil && !yield(func() *Walk { return later }) {
			return
		}
		for i := range slices.Backward(w.Steps) {
			if !yield(func() *Walk { return &Walk{w.Object, w.Storage, slices.Delete(slices.Clone(w.Steps), i, i+1)} }) {
				return
			}
		}
		for i, step := range w.Steps {
			with := func(changes []Change) func() *Walk {
				steps := slices.Clone(w.Steps)
				steps[i].Changes = changes
				return func() *Walk { return &Walk{w.Object, w.Storage, steps} }
			}
			for j, change := range step.Changes {
				if !yield(with(slices.Delete(slices.Clone(step.Changes), j, j+1))) {
					return
				}
				boxed := map[string]any{"value": literal(encode(change.Value))}
				for less := range smallerValues(boxed) {
					changes := slices.Clone(step.Changes)
					changes[j].Value = decoded(encode(less))["value"]
					if !isAbsent(at(less, "value")) && !yield(with(changes)) {
						return
					}
				}
			}
		}
		for object := range smaller(ctx, w.Object) {
			if !yield(func() *Walk { return &Walk{object(), w.Storage, w.Steps} }) {
				return
			}
		}
	}
}

// later returns a walk that begins with what the first step of a walk writes, nil if that has no
// changes.
func (s *suite) later(ctx context.Context, walk *Walk) *Walk {
	if len(walk.Steps) == 0 || len(walk.Steps[0].Changes) == 0 {
		return nil
	}
	w := s.server(ctx, walk.Object, walk.Storage)
	if w.create() != nil || w.step(walk.Steps[0], func(map[string]any) []Change { return walk.Steps[0].Changes }) != nil {
		return nil
	}
	if object := w.written[walk.Steps[0].Version]; object != nil {
		return &Walk{encode(object), walk.Storage, walk.Steps[1:]}
	}
	return nil
}

// again holds the object to the law that another one violated.
func (t *subject) again(found *ViolationError) *ViolationError {
	switch {
	case found.Law == lawWellFormed:
		return t.wellFormed(found.To)
	case found.Law == lawIdentity || found.To == t.version:
		return t.check()
	}
	return t.direction(found.To)
}
