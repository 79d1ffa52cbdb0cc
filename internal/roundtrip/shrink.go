package roundtrip

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// maxShrinks bounds the objects that shrinking tries.
const maxShrinks = 20_000

// shrink makes the object of a violation smaller for as long as the same law does not hold between the same versions;
// without kept values, L2 is L1. A valid object stays valid.
func (s *suite) shrink(ctx context.Context, found *ViolationError) *ViolationError {
	if found.Walk != nil {
		return s.shrinkWalk(ctx, found)
	}
	was, v := s.subject(ctx, found.Object)
	if v != nil {
		return found
	}
	tried := 0
	try := func(object []byte) bool {
		tried++
		t, v := s.subject(ctx, object)
		if v != nil || t.class > was.class || t.version != found.From {
			return false
		}
		if v = t.again(found); v == nil || v.Law != found.Law && (found.Law != lawEdit || v.Law != lawRoundTrip) {
			return false
		}
		found = v
		return true
	}
	for smaller := true; smaller && tried < maxShrinks && ctx.Err() == nil; {
		smaller = false
		for _, pass := range []func([]byte, int) []byte{withoutPart, withSmallerPart} {
			for i := 0; tried < maxShrinks; {
				object := pass(found.Object, i)
				if object == nil {
					break
				}
				if len(object) < len(found.Object) && try(object) {
					smaller = true
				} else {
					i++
				}
			}
		}
	}
	return found
}

// maxWalks bounds the walks that shrinking tries.
const maxWalks = 3000

// shrinkWalk makes the walk of a violation shorter, its changes simpler and its object smaller for as long as the same law does
// not hold.
func (s *suite) shrinkWalk(ctx context.Context, found *ViolationError) *ViolationError {
	tried := 0
	try := func(w *Walk) bool {
		tried++
		v := s.replay(ctx, w)
		if v == nil || v.Law != found.Law {
			return false
		}
		found = v
		return true
	}
	later := func(w *Walk, i int) *Walk { return s.later(ctx, w, i) }
	for smaller := true; smaller; {
		smaller = false
		for _, pass := range []func(*Walk, int) *Walk{later, withoutStep, withoutChange, withSmallerChange, walkOfLess, walkOfSmaller} {
			for i := 0; tried < maxWalks && ctx.Err() == nil; {
				w := pass(found.Walk, i)
				if w == nil {
					break
				}
				if try(w) {
					smaller = true
				} else {
					i++
				}
			}
		}
	}
	return found
}

// later returns a walk that begins with what its first step writes.
func (s *suite) later(ctx context.Context, walk *Walk, i int) *Walk {
	if i > 0 || len(walk.Steps) == 0 || len(walk.Steps[0].Changes) == 0 {
		return nil
	}
	w := s.server(ctx, walk.Object, walk.Storage)
	if w.create() != nil || w.step(walk.Steps[0], func(map[string]any) []Change { return walk.Steps[0].Changes }) != nil {
		return nil
	}
	object := w.written[walk.Steps[0].Version]
	if object == nil {
		return nil
	}
	return &Walk{encode(object), walk.Storage, walk.Steps[1:]}
}

// withoutStep returns a walk without its i-th step from the end, or nil if there are not as many.
func withoutStep(w *Walk, i int) *Walk {
	at := len(w.Steps) - 1 - i
	if at < 0 {
		return nil
	}
	return &Walk{w.Object, w.Storage, slices.Delete(slices.Clone(w.Steps), at, at+1)}
}

// withoutChange returns a walk without its i-th change.
func withoutChange(w *Walk, i int) *Walk {
	for at, step := range w.Steps {
		if i < len(step.Changes) {
			step.Changes = slices.Delete(slices.Clone(step.Changes), i, i+1)
			return w.with(at, step)
		}
		i -= len(step.Changes)
	}
	return nil
}

func (w *Walk) with(at int, step Step) *Walk {
	steps := slices.Clone(w.Steps)
	steps[at] = step
	return &Walk{w.Object, w.Storage, steps}
}

// withSmallerChange returns a walk with one value of a change made smaller.
func withSmallerChange(w *Walk, i int) *Walk {
	for at, step := range w.Steps {
		for j, change := range step.Changes {
			if change.Remove {
				continue
			}
			boxed := encode(map[string]any{"value": change.Value})
			for _, pass := range []func([]byte, int) []byte{withoutPart, withSmallerPart} {
				for k := 0; ; k++ {
					smaller := pass(boxed, k)
					if smaller == nil {
						break
					}
					if value, found := decoded(smaller)["value"]; !found || len(smaller) >= len(boxed) {
						continue
					} else if i == 0 {
						step.Changes = slices.Clone(step.Changes)
						step.Changes[j].Value = value
						return w.with(at, step)
					}
					i--
				}
			}
		}
	}
	return nil
}

func walkOfLess(w *Walk, i int) *Walk    { return w.of(withoutPart(w.Object, i)) }
func walkOfSmaller(w *Walk, i int) *Walk { return w.of(withSmallerPart(w.Object, i)) }

// of returns the walk of another object, or nil for none.
func (w *Walk) of(object []byte) *Walk {
	if object == nil {
		return nil
	}
	return &Walk{object, w.Storage, w.Steps}
}

// again holds the object to the law that another one violated.
func (t *subject) again(found *ViolationError) *ViolationError {
	switch {
	case found.Law == lawWellFormed:
		return t.wellFormed(found.To)
	case found.Law == lawGrowth:
		return t.growth(found.To)
	case found.Law == lawParts:
		return t.parts(found.To)
	case found.Law == lawIdentity || found.To == t.version:
		return t.check()
	}
	return t.direction(found.To)
}

// withoutPart returns an object without its i-th part, or nil if there are not as many.
func withoutPart(object []byte, i int) []byte {
	root := decode(object)
	all := parts(root)
	if i >= len(all) {
		return nil
	}
	all[i].remove()
	return encode(root)
}

// withSmallerPart returns an object with one thing made smaller, or nil if there are not as many things.
func withSmallerPart(object []byte, i int) []byte {
	root := decode(object)
	for _, p := range parts(root) {
		for smaller := range reductions(p.value) {
			if i == 0 {
				p.set(smaller)
				return encode(root)
			}
			i--
		}
	}
	return nil
}

// reductions yields simpler values, the simplest first. A kept value gets smaller as the object that it is.
func reductions(v any) iter.Seq[any] {
	return func(yield func(any) bool) {
		switch v := v.(type) {
		case string:
			if kept := []byte(v); strings.HasPrefix(v, "{") && json.Valid(kept) {
				for _, pass := range []func([]byte, int) []byte{withoutPart, withSmallerPart} {
					for i := 0; ; i++ {
						smaller := pass(kept, i)
						if smaller == nil {
							break
						}
						if !yield(string(smaller)) {
							return
						}
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
